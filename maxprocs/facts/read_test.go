package facts

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/procfit/procfit/maxprocs/internal/must"
)

func TestReadThisProcess(t *testing.T) {
	t.Setenv("GOMAXPROCS", "as written ")
	f := Read()
	if f.PID != os.Getpid() || f.GoVersion != runtime.Version() {
		t.Errorf("pid %d, version %s; want %d, %s", f.PID, f.GoVersion, os.Getpid(), runtime.Version())
	}
	if f.Affinity.State != Known || int(f.Affinity.CPUs) != runtime.NumCPU() {
		t.Errorf("affinity %+v, runtime.NumCPU is %d", f.Affinity, runtime.NumCPU())
	}
	if f.Env.State != Known || f.Env.Raw != "as written " {
		t.Errorf("env %+v", f.Env)
	}
	if got := f.EffectiveCPUs(); !(got > 0) || got > float64(runtime.NumCPU()) {
		t.Errorf("effective CPUs %v", got)
	}
}

// sys is a minimal tree on cgroup v2.
func sys(files map[string]string) fstest.MapFS {
	tree := fstest.MapFS{
		"proc/self/status":              {Data: []byte("Cpus_allowed_list:\t0-7\n")},
		"proc/self/environ":             {},
		"proc/self/mountinfo":           {Data: []byte("30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n")},
		"proc/self/cgroup":              {Data: []byte("0::/app\n")},
		"sys/devices/system/cpu/online": {Data: []byte("0-7\n")},
		"cg/cgroup.procs":               {},
		"cg/app/cgroup.procs":           {},
		"cg/app/cpu.max":                {Data: []byte("200000 100000\n")},
	}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

// What no directory of testdata can hold: names that a module's archive does
// not allow, very long lines, other processes.
func TestReadFS(t *testing.T) {
	overlay := "50 22 0:50 / /o rw - overlay overlay rw,lowerdir=" + strings.Repeat("/l:", 30_000) + "\n"
	for name, tc := range map[string]struct {
		files map[string]string
		pid   int
		want  float64
	}{
		"plain": {nil, 0, 2},
		"colons": {map[string]string{
			"proc/self/cgroup":                           "0::/kubepods:cri-containerd:ab\n",
			"cg/kubepods:cri-containerd:ab/cpu.max":      "300000 100000\n",
			"cg/kubepods:cri-containerd:ab/cgroup.procs": "",
		}, 0, 3},
		"a line of 90 KB": {map[string]string{"proc/self/mountinfo": overlay + "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n"}, 0, 2},
		"a pinned main thread": {map[string]string{
			"proc/self/status":        "Cpus_allowed_list:\t3\n",
			"proc/self/task/1/status": "Cpus_allowed_list:\t3\n",
			"proc/self/task/2/status": "Cpus_allowed_list:\t0-3,64\n",
			"cg/app/cpu.max":          "max 100000\n",
		}, 0, 4},
		"not UTF-8": {map[string]string{"proc/self/cgroup": "0::/\xff\n"}, 0, 8},
		"another process": {map[string]string{
			"proc/42/status":      "Cpus_allowed_list:\t3\n",
			"proc/42/cgroup":      "0::/\n",
			"proc/42/environ":     "GOMAXPROCS=4\x00",
			"proc/self/mountinfo": "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n",
		}, 42, 1},
	} {
		f, err := ReadFS(sys(tc.files), tc.pid)
		if err != nil || f.EffectiveCPUs() != tc.want || f.PID != tc.pid {
			t.Errorf("%s: %v CPUs, %v; want %v; %+v", name, f.EffectiveCPUs(), err, tc.want, f)
		}
	}
	if _, err := ReadFS(sys(nil), 42); err == nil || !strings.Contains(err.Error(), "/proc/42 is missing") {
		t.Errorf("a process that is not there: %v", err)
	}
}

// deny answers "permission denied" for the files that end so.
type deny struct {
	fs.FS
	suffix string
}

func (d deny) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, d.suffix) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return d.FS.Open(name)
}

// Stat does too: a directory that cannot be searched tells nothing of its files.
func (d deny) Stat(name string) (fs.FileInfo, error) {
	if strings.HasSuffix(name, d.suffix) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrPermission}
	}
	return fs.Stat(d.FS, name)
}

func TestUnreadableIsNotUnlimited(t *testing.T) {
	for _, tc := range []struct {
		suffix  string
		of      func(Facts) Fact
		unknown bool // it may change the number that fits
	}{
		{"self/status", func(f Facts) Fact { return f.Affinity }, true},
		{"self/cgroup", func(f Facts) Fact { return f.Cgroup.Fact }, true},
		{"self/mountinfo", func(f Facts) Fact { return f.Cgroup.Fact }, true},
		{"app/cpu.max", func(f Facts) Fact { return f.Limits[0].Fact }, true},
		{"app/cgroup.procs", func(f Facts) Fact { return f.Cgroup.Fact }, true},
		{"self/environ", func(f Facts) Fact { return f.Env }, false},
		{"cpu/online", func(f Facts) Fact { return f.Online }, false},
	} {
		f := must.Get(ReadFS(deny{sys(nil), tc.suffix}, 0))(t)
		fact := tc.of(f)
		if fact.State != Unreadable || !strings.Contains(fact.Error, "permission denied") || !strings.Contains(fact.Error, tc.suffix) {
			t.Errorf("%s: %+v", tc.suffix, fact)
		}
		if got := len(Decide(f, Fit{}).Unknown) > 0; got != tc.unknown {
			t.Errorf("%s: the decision's unknowns are %q", tc.suffix, f.Unknown())
		}
	}
}

// TestPartlyRecorded: a tree without cgroup.procs has its cgroups all the same where it has
// their limits, so that all policies see one limit; and one without cgroup.events does not
// prove that the topmost cgroup is the root.
func TestPartlyRecorded(t *testing.T) {
	read := func(files map[string]string, without ...string) Facts {
		tree := sys(files)
		for _, name := range without {
			delete(tree, name)
		}
		return must.Get(ReadFS(tree, 0))(t)
	}
	f := read(nil, "cg/cgroup.procs", "cg/app/cgroup.procs")
	for _, p := range []Policy{Go{Version: "1.26"}, Fit{}, JVM{}} {
		if d := Decide(f, p); d.Procs != 2 || len(d.Unknown) > 0 {
			t.Errorf("%s, unknown %q; want 2", d, d.Unknown)
		}
	}
	f = read(nil, "cg/app/cgroup.procs", "cg/app/cpu.max")
	if d := Decide(f, Fit{}); len(d.Unknown) != 1 || !strings.HasSuffix(d.Unknown[0], "there is no cgroup at /cg/app: /cg/app/cgroup.procs is missing") {
		t.Errorf("neither a cgroup nor a limit: unknown %q", d.Unknown)
	}
	for name, tc := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"all":                      {map[string]string{"cg/app/cgroup.events": ""}, true},
		"nowhere":                  {nil, false},
		"everywhere, a namespace":  {map[string]string{"cg/app/cgroup.events": "", "cg/cgroup.events": ""}, false},
		"not in the topmost":       {map[string]string{"cg/app/cgroup.events": "", "cg/cpu.max": "max 100000\n"}, false},
		"a bind mount of a cgroup": {map[string]string{"proc/self/mountinfo": "30 23 0:26 /app /cg/app rw - cgroup2 cgroup2 rw\n"}, false},
		"the root itself":          {map[string]string{"proc/self/cgroup": "0::/\n"}, true},
	} {
		if f := read(tc.files); f.Cgroup.State != Known || f.Cgroup.RootSeen != tc.want {
			t.Errorf("%s: %+v; want that the root is seen: %v", name, f.Cgroup, tc.want)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		Read()
	}
}

func ExampleDecide() {
	f, err := ReadFS(os.DirFS("testdata/worlds/v2-tighter-parent"), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(Decide(f, Go{Version: "1.26"}))
	fmt.Println(Decide(f, Fit{}))
	// Output:
	// go: GOMAXPROCS=20
	//   it may run on 64 CPUs (affinity, /proc/self/status)
	//   /sys/fs/cgroup/pod/app/cpu.max: "2000000 100000" limits its own cgroup to 20 CPUs; rounded up, and at least 2: 20
	//   the runtime does not read the tighter limit of 1.5 CPUs of a parent cgroup (/sys/fs/cgroup/pod/cpu.max: "150000 100000")
	// fit: GOMAXPROCS=2
	//   it may run on 64 CPUs (affinity, /proc/self/status)
	//   /sys/fs/cgroup/pod/app/cpu.max: "2000000 100000" limits it to 20 CPUs
	//   /sys/fs/cgroup/pod/cpu.max: "150000 100000" limits it to 1.5 CPUs
	//   the limit of /sys/fs/cgroup/pod is the tightest
	//   1.5 is rounded up to 2
}

// TestMain answers a probe instead of running tests when it is asked to: a
// fresh process whose GOMAXPROCS is the runtime's own default, or one that reads
// another process from main's goroutine.
func TestMain(m *testing.M) {
	if pid := os.Getenv("MAXPROCS_TEST_READ"); pid != "" {
		os.Exit(readFromMain(pid))
	}
	if os.Getenv("MAXPROCS_TEST_PROBE") != "" {
		d := Decide(Read(), Go{})
		fmt.Printf("%d %d\n%s\n", runtime.GOMAXPROCS(0), d.Procs, d)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// agree compares the runtime's and our answer in a probe's output.
func agree(t *testing.T, out string) {
	t.Helper()
	first, _, _ := strings.Cut(out, "\n")
	theirs, ours, ok := strings.Cut(first, " ")
	if _, err := strconv.Atoi(theirs); !ok || err != nil {
		t.Fatalf("no answer from the probe: %q", out)
	}
	if theirs != ours {
		t.Errorf("the runtime of %s runs with %s, Go{} decides:\n%s", runtime.Version(), theirs, out)
	}
}
