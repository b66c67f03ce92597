//go:build !portable

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	plain, script, broken := filepath.Join(dir, "plain"), filepath.Join(dir, "script"), filepath.Join(dir, "broken")
	for file, mode := range map[string]os.FileMode{plain: 0o644, script: 0o755, broken: 0o755} {
		text := map[string]string{plain: "x", script: "#!/no/such/interpreter\n", broken: "\x7fELF garbage"}[file]
		must.OK(t, os.WriteFile(file, []byte(text), mode))
	}
	for _, test := range []struct {
		name string
		spec Spec
		want []string
	}{
		{"no command", Spec{}, []string{"no command"}},
		{"not on PATH", Spec{Command: []string{"procfit-no-such-command"}}, []string{"procfit-no-such-command", "not found", "PATH"}},
		{"no such file", Spec{Command: []string{"./no-such-server"}}, []string{"./no-such-server", "no such file", "built"}},
		{"not executable", Spec{Command: []string{plain}}, []string{plain, "permission denied", "executable"}},
		{"a directory", Spec{Command: []string{dir}}, []string{dir, "is a directory"}},
		{"no interpreter", Spec{Command: []string{script}}, []string{script, "no such file"}},
		{"another machine's", Spec{Command: []string{broken}}, []string{broken, "exec format error"}},
		{"no directory", Spec{Command: []string{"true"}, Dir: dir + "/none"}, []string{"chdir", dir + "/none", "no such file"}},
		{"no such CPU", Spec{Command: []string{"true"}, CPUs: []int{0, 1000}}, []string{"[0 1000]", "may use [0]"}},
		{"no such CPU at all", Spec{Command: []string{"true"}, CPUs: []int{100000}}, []string{"[100000]"}},
		{"no group", Spec{Command: []string{"true"}, ProcsFiles: []string{dir + "/none/cgroup.procs"}}, []string{"cgroup", dir + "/none", "no such file"}},
		{"no place for a folder", Spec{Command: []string{"true"}, Folders: []string{dir + "/none/folder"}}, []string{dir + "/none/folder", "no such file"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := Start(t.Context(), test.spec)
			if err == nil {
				p.Stop(0)
				t.Fatal("started")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestAffinityHoldsAtMain(t *testing.T) {
	_, out := finish(t, Spec{Command: self("facts"), CPUs: []int{0}})
	if !strings.HasPrefix(out, "numcpu 1 procs 1\n") {
		t.Errorf("with one CPU a Go program sees %q", out)
	}
	threads := 0
	for line := range strings.Lines(out) {
		if _, list, ok := strings.Cut(line, "Cpus_allowed_list:"); ok {
			threads++
			if strings.TrimSpace(list) != "0" {
				t.Errorf("a thread runs on CPUs %s, want 0", list)
			}
		}
	}
	if threads < 5 {
		t.Errorf("saw only %d threads: %s", threads, out)
	}
}

func TestParallelStarts(t *testing.T) {
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			text := "number " + strconv.Itoa(i)
			p, err := Start(t.Context(), Spec{Command: self("print", text)})
			if err != nil {
				t.Error(err)
				return
			}
			exit, err := p.Wait()
			if err != nil || exit.Code != 0 || p.LastWords(1).Text != text {
				t.Errorf("target %d: %+v, %v, output %q", i, exit, err, p.LastWords(1).Text)
			}
		})
	}
	group.Wait()
}

// group makes a cgroup by hand, with a name that no run takes for its own: of v2
// below PROCFIT_TEST_PARENT, or in the cpu hierarchy of v1. mark is in the lines
// of /proc/PID/cgroup that tell of that hierarchy.
func group(t *testing.T) (dir, mark string) {
	t.Helper()
	parent, mark := os.Getenv("PROCFIT_TEST_PARENT"), "0::"
	if parent == "" {
		need.Root(t)
		parent, mark = "/sys/fs/cgroup/cpu", ":cpu:"
		if _, err := os.Stat(parent + "/cpu.cfs_quota_us"); err != nil {
			need.Skip(t, "no cpu hierarchy of cgroup v1 at "+parent)
		}
	}
	dir = filepath.Join(parent, fmt.Sprintf("procfit-supervisor-test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-")))
	must.OK(t, os.Mkdir(dir, 0o755))
	t.Cleanup(func() { os.Remove(dir) })
	return dir, mark
}

func TestGroupHoldsAtMain(t *testing.T) {
	dir, mark := group(t)
	// The quota, too, is in effect when a Go program reads it.
	file, text := dir+"/cpu.cfs_quota_us", "250000"
	if os.Getenv("PROCFIT_TEST_PARENT") != "" {
		file, text = dir+"/cpu.max", "250000 100000"
	}
	must.OK(t, os.WriteFile(file, []byte(text), 0))
	exit, out := finish(t, Spec{Command: self("facts"), ProcsFiles: []string{dir + "/cgroup.procs"}})
	if exit.Code != 0 {
		t.Fatalf("%v: %s", exit, out)
	}
	threads := 0
	for line := range strings.Lines(out) {
		if strings.Contains(line, mark) {
			threads++
			if !strings.HasSuffix(strings.TrimSpace(line), "/"+filepath.Base(dir)) {
				t.Errorf("a thread is in another group: %s", line)
			}
		}
	}
	if threads < 5 {
		t.Errorf("saw only %d threads: %s", threads, out)
	}
	var cpus, procs int
	fmt.Sscanf(out, "numcpu %d procs %d", &cpus, &procs)
	if want := min(cpus, 3); procs != want { // Go 1.25 and later: the quota of 2.5, rounded up
		t.Errorf("GOMAXPROCS %d on %d CPUs under a quota of 2.5, want %d", procs, cpus, want)
	}
	if self, err := os.ReadFile("/proc/self/cgroup"); err != nil || strings.Contains(string(self), filepath.Base(dir)) {
		t.Errorf("the test itself is in the group: %s, %v", self, err)
	}
}

// A start that hangs, as one does whose file is on a network that does not answer, ends with procfit, and at Ctrl-C. Here
// the stage waits for a reader of what it takes for the list of a cgroup.
func TestHangingStartEnds(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	must.OK(t, unix.Mkfifo(fifo, 0o600))
	hanging := func(root int) (pids []int) {
		t.Helper()
		if !happens(func() bool {
			all, _ := descendants(root)
			pids = nil
			stages := 0
			for _, p := range all {
				words, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
				if pids = append(pids, p.PID); string(words) == "procfit\x00"+partStage+"\x00" {
					stages++
				}
			}
			return stages > 0
		}) {
			t.Fatal("no stage was started")
		}
		return pids
	}
	owner := exec.Command("/proc/self/exe", append([]string{playArg, "own"}, self("sleep")...)...)
	owner.Env = append(os.Environ(), "PROCFIT_TEST_PROCS="+fifo)
	must.OK(t, owner.Start())
	pids := hanging(owner.Process.Pid)
	owner.Process.Kill()
	owner.Wait()
	assertGoneSoon(t, pids)

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Start(ctx, Spec{Command: self("sleep"), ProcsFiles: []string{fifo}})
		ended <- err
	}()
	pids = hanging(os.Getpid())
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("it does not end at Ctrl-C")
	}
	assertGone(t, pids)
}

func TestGroupGoesWithProcfit(t *testing.T) {
	dir, _ := group(t)
	cmd, pids := owner(t, dir+"/cgroup.procs", self("orphan"))
	data, err := os.ReadFile(dir + "/cgroup.procs")
	if n := len(strings.Fields(string(data))); err != nil || n != len(pids)-1 {
		t.Errorf("%d processes in the group, %v; want all but the supervisor of %v", n, err, pids)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if !happens(func() bool { _, err := os.Stat(dir); return os.IsNotExist(err) }) {
		t.Errorf("%s is still there", dir)
	}
	assertGoneSoon(t, pids)
}
