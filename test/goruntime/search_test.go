package goruntime

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

const (
	machinesInRun  = 300    // of this toolchain's code
	machinesOfAll  = 3000   // with PROCFIT_REQUIRE=1, of every release's code
	machinesInFull = 40_000 // with PROCFIT_FULL=1, as in .ci/full
	oracleCPUs     = 1000
)

// TestSearch asks the runtimes' code and the policy about every recorded world and
// about random ones: what is mounted where, what it shows, what the lines look
// like, and what the limit's file holds.
func TestSearch(t *testing.T) {
	n := machinesInRun
	if need.Required() {
		n = machinesOfAll
	}
	if need.Whole() {
		n = machinesInFull
	}
	machines := worlds(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range n {
		machines = append(machines, randomMachine(random))
	}
	asked := map[string]string{}
	for _, release := range releases() {
		if !taken(t, release) {
			continue
		}
		code := source(t, release)
		if same := asked[code.key()]; same != "" {
			t.Logf("Go %s has the code of Go %s", release, same)
			continue
		}
		asked[code.key()] = release
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			limited, dead, wrong := 0, 0, 0
			for i, procs := range ask(t, code.build(t), machines) {
				want := fmt.Sprint(procs)
				switch {
				case procs < 1:
					want = string(facts.Dies)
					dead++
				case procs < oracleCPUs:
					limited++
				}
				d := decide(t, machines[i], release)
				got := fmt.Sprint(d.Procs)
				if d.Outcome != facts.Runs {
					got = string(d.Outcome)
				}
				if got != want && wrong < 5 {
					wrong++
					t.Errorf("the runtime: %s, the policy: %s of %q", want, d, machines[i])
				}
			}
			if t.Logf("%d machines: %d limited, %d dead", len(machines), limited, dead); limited < n/10 || dead < n/100 {
				t.Error("the machines tell too little apart")
			}
		})
	}
}

// decide is the policy's answer on a machine of so many CPUs.
func decide(t *testing.T, files map[string]string, release string) facts.Decision {
	t.Helper()
	f := must.Get(facts.ReadFS(memory(files), 0))(t)
	f.Affinity = facts.Fact{State: facts.Known, CPUs: oracleCPUs}
	f.Env, f.GODEBUG = facts.Fact{State: facts.Absent}, facts.Fact{State: facts.Absent}
	return facts.Decide(f, facts.Go{Version: release})
}

// memory is a tree of absolute names, quicker than fstest.MapFS, which looks at
// all of them for one that is missing.
type memory map[string]string

func (m memory) Stat(name string) (fs.FileInfo, error) {
	if name == "proc/self" {
		return fstest.MapFS{}.Stat(".")
	}
	f, err := m.Open(name)
	if err != nil {
		return nil, err
	}
	return f.Stat()
}

func (m memory) Open(name string) (fs.File, error) {
	text, ok := m["/"+name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return fstest.MapFS{"f": {Data: []byte(text)}}.Open("f")
}

// worlds are those of the library's tests, without what is not a regular file.
func worlds(t *testing.T) []map[string]string {
	t.Helper()
	var machines []map[string]string
	roots, err := filepath.Glob("../../maxprocs/facts/testdata/worlds/*/proc")
	if err != nil || len(roots) < 60 {
		t.Fatalf("%d worlds, %v", len(roots), err)
	}
	for _, root := range roots {
		root = filepath.Dir(root)
		files := map[string]string{}
		err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.HasPrefix(name, "sys/devices/") {
				files["/"+name] = must.Read(t, filepath.Join(root, name))
			}
			return err
		})
		must.OK(t, err)
		machines = append(machines, files)
	}
	return machines
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

// randomMachine has up to five mounts and a limit in every group that any of them
// could show.
func randomMachine(r *rand.Rand) map[string]string {
	groups := []string{"/", "/a", "/a/b", "/a/b/c", "/..", "/../x", "/../../x", "/ab"}
	points := []string{"/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/mnt", `/tab\011tab`, `/b\134s`, "/host/sys/fs/cgroup"}
	files := map[string]string{}
	var cgroup, mounts strings.Builder
	for range 1 + r.IntN(3) {
		group := groups[r.IntN(len(groups))]
		switch r.IntN(12) {
		case 0:
			cgroup.WriteString(pick(r, "\n", "nonsense\n", "0:\n", "0::\n", "0::relative\n", "3:cpu:\n", ":::\n"))
		case 1, 2:
			fmt.Fprintf(&cgroup, "%d:%s:%s\n", 1+r.IntN(9), pick(r, "cpu", "cpu,cpuacct", "cpuacct,cpu"), group)
		case 3:
			fmt.Fprintf(&cgroup, "%d:%s:%s\n", 1+r.IntN(9), pick(r, "cpuset", "cpuacct", "", "name=systemd"), group)
		default:
			fmt.Fprintf(&cgroup, "0::%s\n", group)
		}
	}
	mounts.WriteString("22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n")
	for range 1 + r.IntN(5) {
		mounts.WriteString(randomMount(r, groups, points))
	}
	files["/proc/self/cgroup"], files["/proc/self/mountinfo"] = end(r, cgroup.String()), end(r, mounts.String())
	for i, point := range points {
		point = strings.NewReplacer(`\011`, "\t", `\134`, `\`).Replace(point)
		for j, group := range groups {
			if r.IntN(8) == 0 {
				continue
			}
			dir := path.Clean(point + group)
			files[dir+"/cgroup.procs"] = ""
			files[dir+"/cpu.max"] = randomLimit(r, 2+10*i+j, " ")
			quota, period, _ := strings.Cut(randomLimit(r, 102+10*i+j, "|"), "|")
			files[dir+"/cpu.cfs_quota_us"], files[dir+"/cpu.cfs_period_us"] = quota+pick(r, "\n", "\n", "\n", "\n", ""), period
		}
	}
	return files
}

func randomMount(r *rand.Rand, groups, points []string) string {
	root, point := groups[r.IntN(len(groups))], points[r.IntN(len(points))]
	if r.IntN(3) > 0 {
		root = "/"
	}
	switch r.IntN(16) {
	case 0:
		return "29 22 0:4 net:[4026531840] /run/netns/a rw - nsfs nsfs rw\n"
	case 1:
		return pick(r, "\n", "30 22 0:26 / /x rw\n", "30 22 0:26 / /x rw -\n", "30 22 0:26 / /x rw - cgroup\n", "30 22 0:26 / /x rw - cgroup none\n",
			"30 22 0:26 relative /x rw - cgroup2 c rw\n", `30 22 0:26 /\1 /x rw - cgroup2 c rw`+"\n", `30 22 0:26 / /x\089 rw - cgroup2 c rw`+"\n", `30 22 0:26 / /x\777 rw - cgroup c rw,cpu`+"\n")
	case 2:
		if r.IntN(8) > 0 {
			break
		}
		return "50 22 0:50 / /o rw - overlay overlay rw,lowerdir=" + strings.Repeat("/layer:", 8000+r.IntN(4000)) + "\n"
	case 3, 4, 5:
		return fmt.Sprintf("33 31 0:30 %s %s rw,relatime %s- cgroup cgroup %s\n", root, point, pick(r, "", "shared:9 "), pick(r, "rw,cpu,cpuacct", "rw,cpu", "rw,cpuset", "rw,cpuacct"))
	}
	return fmt.Sprintf("30 23 0:26 %s %s rw,nosuid %s- cgroup2 %s rw\n", root, point, pick(r, "", "shared:9 master:1 "), pick(r, "cgroup2", "none", ""))
}

func randomLimit(r *rand.Rand, cpus int, sep string) string {
	switch r.IntN(20) {
	case 0:
		return "max" + sep + "100000\n"
	case 1:
		return pick(r, "-1", "-", "-5", "0", "+5", "1.5", "", "9223372036854775808") + sep + pick(r, "100000", "0", "-100000", "+7", "-", "") + "\n"
	case 2:
		return pick(r, "17592186044415", "2147483647000", "2147483648000", "9223372036854775807") + sep + pick(r, "1000", "1", "0") + "\n"
	case 3:
		return fmt.Sprintf("%d%s100000", cpus*100_000, sep) // no newline
	case 4:
		return fmt.Sprintf("%d%s100000\n%s", cpus*100_000, sep, strings.Repeat("x", 40+r.IntN(10)))
	case 5:
		return fmt.Sprintf("%d%s%s100000\n", cpus*100_000, sep, pick(r, " ", "\t", "1 "))
	}
	return fmt.Sprintf("%d%s100000\n", cpus*100_000-r.IntN(99_999), sep)
}

// end cuts off the last newline now and then.
func end(r *rand.Rand, text string) string {
	if r.IntN(20) == 0 {
		return strings.TrimSuffix(text, "\n")
	}
	return text
}
