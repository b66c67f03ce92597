package cgroup

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

const (
	v2Mounts = `22 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw
29 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot
`
	hybridMounts = `30 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:10 - cgroup cgroup rw,cpu,cpuacct
31 23 0:28 / /sys/fs/cgroup/cpuset rw,nosuid shared:11 - cgroup cgroup rw,cpuset
29 23 0:26 / /sys/fs/cgroup/unified rw,nosuid shared:4 - cgroup2 cgroup2 rw
`
	dockerV1Mounts = `700 690 0:27 /docker/4f /sys/fs/cgroup/cpu,cpuacct ro,nosuid master:10 - cgroup cgroup rw,cpu,cpuacct
701 690 0:26 /docker/4f /sys/fs/cgroup/systemd ro,nosuid master:11 - cgroup cgroup rw,xattr,name=systemd
`
	oddMounts = `29 23 0:26 / /mnt/my\040groups rw - cgroup2 none rw
this is no mount
1 2 3
`
)

// mode names the host's arrangement: v1, v2, hybrid (both mounted) or none.
func mode(mounts []mount) string {
	versions := [3]bool{}
	for _, m := range mounts {
		versions[m.version] = true
	}
	switch {
	case versions[1] && versions[2]:
		return "hybrid"
	case versions[2]:
		return "v2"
	case versions[1]:
		return "v1"
	}
	return "none"
}

func TestLocate(t *testing.T) {
	for _, test := range []struct {
		name, mounts, self string
		version            int
		own                string
		ro                 bool
		mode               string
		err                string
	}{
		{"v2", v2Mounts, "0::/user.slice/user-1000.slice/run-r5.scope\n", 2, "/sys/fs/cgroup/user.slice/user-1000.slice/run-r5.scope", false, "v2", ""},
		{"hybrid, cpu on v1", hybridMounts, "4:cpuset:/\n3:cpu,cpuacct:/job\n0::/init.scope\n", 1, "/sys/fs/cgroup/cpu,cpuacct/job", false, "hybrid", ""},
		{"hybrid, the unified line first", hybridMounts, "0::/init.scope\n3:cpu,cpuacct:/job\n", 1, "/sys/fs/cgroup/cpu,cpuacct/job", false, "hybrid", ""},
		{"hybrid, cpu on v2", hybridMounts, "4:cpuset:/\n0::/init.scope\n", 2, "/sys/fs/cgroup/unified/init.scope", false, "hybrid", ""},
		{"v1 container with the host's paths", dockerV1Mounts, "3:cpu,cpuacct:/docker/4f/sub\n", 1, "/sys/fs/cgroup/cpu,cpuacct/sub", true, "v1", ""},
		{"a name that only begins like the mount's root", dockerV1Mounts, "3:cpu,cpuacct:/docker/4fa\n", 1, "/sys/fs/cgroup/cpu,cpuacct", true, "v1", ""},
		{"outside of the cgroup namespace", v2Mounts, "0::/../../init.scope\n", 2, "/sys/fs/cgroup", false, "v2", ""},
		{"escapes and lines of no mount", oddMounts, "0::/a b\n", 2, "/mnt/my groups/a b", false, "v2", ""},
		{"a second, writable mount", dockerV1Mounts + hybridMounts, "3:cpu,cpuacct:/x\n", 1, "/sys/fs/cgroup/cpu,cpuacct/x", false, "hybrid", ""},
		{"a path with colons", v2Mounts, "0::/a:b:c\n", 2, "/sys/fs/cgroup/a:b:c", false, "v2", ""},
		{"not mounted", "", "3:cpu:/\n", 0, "", false, "none", "not mounted"},
		{"no cpu controller", hybridMounts, "4:cpuset:/\n", 0, "", false, "hybrid", "no cpu cgroups"},
	} {
		t.Run(test.name, func(t *testing.T) {
			mounts := parseMounts([]byte(test.mounts))
			groups := must.Get(parseMemberships([]byte(test.self)))(t)
			if got := mode(mounts); got != test.mode {
				t.Errorf("mode %q, want %q", got, test.mode)
			}
			in, dir, err := locate(mounts, groups)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("error %v, want one with %q", err, test.err)
				}
				return
			}
			must.OK(t, err)
			if in.version != test.version || dir != test.own || in.ro != test.ro {
				t.Errorf("got v%d %s read-only %v, want v%d %s %v", in.version, dir, in.ro, test.version, test.own, test.ro)
			}
		})
	}
}

// A process that has left its cgroup is found wherever it went, on both versions.
func TestOutside(t *testing.T) {
	const v1Group, v2Group = "/sys/fs/cgroup/cpu,cpuacct/job/procfit-1", "/sys/fs/cgroup/procfit-1"
	for _, test := range []struct{ name, mounts, dir, process, want string }{
		{"v1, in it", hybridMounts, v1Group, "4:cpuset:/\n3:cpu,cpuacct:/job/procfit-1\n0::/\n", ""},
		{"v1, below it", hybridMounts, v1Group, "3:cpu,cpuacct:/job/procfit-1/made\n0::/\n", ""},
		{"v1, in the root", hybridMounts, v1Group, "3:cpu,cpuacct:/\n0::/\n", "/sys/fs/cgroup/cpu,cpuacct"},
		{"v1, in the parent", hybridMounts, v1Group, "3:cpu,cpuacct:/job\n", "/sys/fs/cgroup/cpu,cpuacct/job"},
		{"v1, of a name that begins like it", hybridMounts, v1Group, "3:cpu,cpuacct:/job/procfit-11\n", "/sys/fs/cgroup/cpu,cpuacct/job/procfit-11"},
		{"v1, of a session, which is no cpu group", hybridMounts, v1Group, "3:cpu,cpuacct:/job/procfit-1\n0::/user.slice/session-2.scope\n", ""},
		{"v1, outside of a container", dockerV1Mounts, "/sys/fs/cgroup/cpu,cpuacct/procfit-1", "3:cpu,cpuacct:/docker/other\n", "/docker/other"},
		{"v2, in it", v2Mounts, v2Group, "0::/procfit-1\n", ""},
		{"v2, below it", v2Mounts, v2Group, "0::/procfit-1/a/b\n", ""},
		{"v2, of a session", v2Mounts, v2Group, "0::/user.slice/user-0.slice/session-2.scope\n", "/sys/fs/cgroup/user.slice/user-0.slice/session-2.scope"},
		{"v2, outside of the namespace", v2Mounts, v2Group, "0::/../other\n", "/../other"},
		{"not mentioned", hybridMounts, v1Group, "4:cpuset:/\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			memberships := must.Get(parseMemberships([]byte(test.process)))(t)
			var m mount
			for _, one := range parseMounts([]byte(test.mounts)) {
				if strings.HasPrefix(test.dir, one.point) {
					m = one
				}
			}
			if got := outside(m, test.dir, memberships); got != test.want {
				t.Errorf("outside in %q, want %q", got, test.want)
			}
		})
	}
}

func TestMembershipsMalformed(t *testing.T) {
	for _, data := range []string{"x\n", "1:cpu\n", "1:cpu:relative\n", "\n"} {
		if _, err := parseMemberships([]byte(data)); err == nil {
			t.Errorf("%q was accepted", data)
		}
	}
}

func TestNames(t *testing.T) {
	o := owner{namespace: 4026531836, pid: 12, start: 345}
	if got, leaf, ok := parseName(o.group(6)); got != o || leaf || !ok {
		t.Errorf("%s: got %+v, leaf %v, ok %v", o.group(6), got, leaf, ok)
	}
	if got, leaf, ok := parseName(o.leaf()); got != o || !leaf || !ok {
		t.Errorf("%s: got %+v, leaf %v, ok %v", o.leaf(), got, leaf, ok)
	}
	for _, name := range []string{
		"", "procfit", "procfit-", "procfit-mine", "procfit-1-2-3", "procfit-1-2-3-4x", "procfit-1-2-3-4-5", "procfit-01-2-3-4",
		"procfit-self-1-2", "procfit-self-1-2-3-4", "procfit-self", "Procfit-1-2-3-4", "procfit--1-2-3-4", "procfit-1-2-3- 4",
	} {
		if o, _, ok := parseName(name); ok {
			t.Errorf("%q is taken for one of ours: %+v", name, o)
		}
	}
}

func TestQuota(t *testing.T) {
	for cpus, want := range map[float64]int64{0.01: 1000, 0.5: 50_000, 1: 100_000, 2.5: 250_000, 0.333: 33_300, 64: 6_400_000} {
		if got, err := quotaMicros(cpus); err != nil || got != want {
			t.Errorf("%v CPUs: got %d, %v, want %d µs", cpus, got, err, want)
		}
	}
	for _, cpus := range []float64{0.0001, 0.00999, 0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e9} {
		if _, err := quotaMicros(cpus); err == nil {
			t.Errorf("%v CPUs were accepted", cpus)
		}
	}
	if _, err := quotaMicros(0.0001); err == nil || !strings.Contains(err.Error(), "0.01") {
		t.Errorf("error %v does not name the minimum", err)
	}
}

func FuzzLocate(f *testing.F) {
	f.Add([]byte(v2Mounts), []byte("0::/a\n"))
	f.Add([]byte(dockerV1Mounts), []byte("3:cpu,cpuacct:/docker/4f/sub\n"))
	f.Add([]byte(oddMounts), []byte("0::/../x\n"))
	f.Fuzz(func(t *testing.T, mountinfo, self []byte) {
		mounts := parseMounts(mountinfo)
		groups, err := parseMemberships(self)
		if err != nil {
			return
		}
		in, dir, err := locate(mounts, groups)
		if err != nil {
			return
		}
		if in.version != 1 && in.version != 2 || !slices.ContainsFunc(mounts, func(m mount) bool { return m.point == in.point }) {
			t.Fatalf("%s in %+v is at none of the mounts %+v", dir, in, mounts)
		}
	})
}

func FuzzParseName(f *testing.F) {
	f.Add("procfit-4026531836-12-345-6")
	f.Add("procfit-self-4026531836-12-345")
	f.Fuzz(func(t *testing.T, name string) {
		o, leaf, ok := parseName(name)
		if ok && !strings.HasPrefix(name, groupPrefix+map[bool]string{true: "self-"}[leaf]+o.String()) {
			t.Fatalf("%q is taken for a group of %v", name, o)
		}
	})
}
