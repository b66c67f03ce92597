package automaxprocs

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

const (
	otherVersion = "its group is in a version of cgroups of which nothing is mounted: automaxprocs takes that for no limit, here it is unknown"
	elsewhere    = "v2 is mounted, but not at /sys/fs/cgroup: automaxprocs does not look there"
	otherMount   = "the mount of another controller than cpu does not show the group: an error to automaxprocs, and nothing to a CPU limit"
)

// differences are the fixtures of automaxprocs in which the library answers
// otherwise, each with the reason.
var differences = map[string]string{
	"cgroups/mountinfo with v2/cgroup-root":               otherVersion,
	"cgroups/mountinfo with v2/cgroup-subdir":             otherVersion,
	"v2/mountinfo with v2/cgroup-root":                    otherVersion,
	"v2/mountinfo with v2/cgroup-subdir":                  otherVersion,
	"untranslatable/mountinfo with v2/cgroup-root":        otherVersion,
	"untranslatable/mountinfo with v2/cgroup-subdir":      otherVersion,
	"v2/mountinfo-v2 with cgroups/cgroup":                 otherVersion,
	"v2/mountinfo-v2 with untranslatable/cgroup":          otherVersion,
	"v2/mountinfo-v1-v2 with v2/cgroup-root":              elsewhere,
	"v2/mountinfo-v1-v2 with v2/cgroup-subdir":            elsewhere,
	"untranslatable/mountinfo with untranslatable/cgroup": otherMount,
	"untranslatable/mountinfo with cgroups/cgroup":        otherMount,
	"invalid-mountinfo/mountinfo with v2/cgroup-no-match": "it is in no cgroup of the cpu controller, so that where cgroups are mounted does not matter",
	"cgroups/zero-period":                                 "a quota without a period: automaxprocs takes that for no limit, here it is malformed",
}

// TestFixtures takes automaxprocs' own fixtures from the module cache: every
// mountinfo with every cgroup file, and every limit. The policy must foretell what
// automaxprocs does, and the library, rounding down as it does, must find the same
// number, or the difference is listed.
func TestFixtures(t *testing.T) {
	need.Root(t) // for chroot
	data := filepath.Join(moduleDir(t, "go.uber.org/automaxprocs"), "internal/cgroups/testdata")
	probe := buildProbe(t)
	machines := fixtures(t, data)
	if len(machines) < 50 {
		t.Fatalf("only %d fixtures in %s", len(machines), data)
	}
	left, others := map[string]bool{}, 0
	for name := range differences {
		left[name] = true
	}
	for i, name := range slices.Sorted(maps.Keys(machines)) {
		files := machines[name]
		if delete(left, name); !need.Required() && i%10 > 0 && differences[name] == "" {
			others++
			continue
		}
		t.Run(name, func(t *testing.T) {
			world := t.TempDir()
			for file, text := range files {
				must.Write(t, filepath.Join(world, file), text)
			}
			f, theirs := compare(t, world, probe)
			ours := "left"
			switch d := facts.Decide(f, facts.Fit{Rounding: facts.Floor}); {
			case len(d.Unknown) > 0:
				ours = "fails"
			case d.Procs < f.AffinityCPUs():
				ours = "set " + strconv.Itoa(d.Procs)
			}
			if why := differences[name]; (ours == theirs) != (why == "") {
				t.Errorf("automaxprocs: %s; the library: %s (%s)", theirs, ours, why)
			}
		})
	}
	if others > 0 {
		t.Run("all", func(t *testing.T) {
			t.Skipf("only with PROCFIT_REQUIRE=1: %d fixtures more, in which both are to agree", others)
		})
	}
	for name := range left {
		t.Errorf("%s is listed as a difference, and is no fixture", name)
	}
}

// fixtures are the trees, by name.
func fixtures(t *testing.T, data string) map[string]map[string]string {
	t.Helper()
	read := func(name string) string { return must.Read(t, filepath.Join(data, name)) }
	glob := func(patterns ...string) (names []string) {
		for _, p := range patterns {
			for _, f := range must.Get(filepath.Glob(filepath.Join(data, p)))(t) {
				names = append(names, strings.TrimPrefix(f, data+"/"))
			}
		}
		return names
	}
	base := func(files map[string]string) map[string]string {
		files["proc/self/status"] = "Cpus_allowed_list:\t0-999\n"
		files["sys/devices/system/cpu/online"] = "0-999\n"
		files["proc/self/environ"] = ""
		return files
	}
	machines := map[string]map[string]string{}
	for _, mounts := range glob("proc/*/mountinfo*") {
		for _, group := range glob("proc/*/cgroup*") {
			files := base(map[string]string{"proc/self/mountinfo": read(mounts), "proc/self/cgroup": read(group)})
			for _, point := range []string{"", "/cpu", "/cpu,cpuacct", "/cpuacct", "/unified", "/cpuset", "/memory", "/systemd"} {
				for _, below := range []string{"", "/docker", "/docker/large", "/Example", "/large"} {
					dir := "sys/fs/cgroup" + point + below + "/"
					files[dir+"cgroup.procs"], files[dir+"cpu.max"] = "", "300000 100000\n"
					files[dir+"cpu.cfs_quota_us"], files[dir+"cpu.cfs_period_us"] = "400000\n", "100000\n"
				}
			}
			machines[strings.TrimPrefix(mounts, "proc/")+" with "+strings.TrimPrefix(group, "proc/")] = files
		}
	}
	for _, v2 := range glob("cgroups/v2/*") {
		machines[v2] = base(map[string]string{"proc/self/mountinfo": "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cgroup.procs": "", "sys/fs/cgroup/cgroup.events": "", "sys/fs/cgroup/cpu.max": read(v2)})
	}
	for _, quota := range glob("cgroups/*/cpu.cfs_quota_us") {
		dir := filepath.Dir(quota)
		files := base(map[string]string{"proc/self/mountinfo": "30 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n",
			"proc/self/cgroup": "1:cpu:/\n", "sys/fs/cgroup/cpu/cgroup.procs": "", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": read(quota)})
		if period := glob(dir + "/cpu.cfs_period_us"); len(period) > 0 {
			files["sys/fs/cgroup/cpu/cpu.cfs_period_us"] = read(period[0])
		}
		machines[dir] = files
	}
	return machines
}
