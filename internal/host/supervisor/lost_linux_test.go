//go:build !portable

package supervisor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// A supervisor that is killed takes all with it that it looked after, daemons of
// a session of their own too, and the loss has a reason.
func TestSupervisorKilled(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	p := begin(t, Spec{Command: self("orphan"), Folders: []string{folder}})
	awaitOutput(t, p, "ready", 3)
	pids, err := p.Descendants()
	if err != nil || len(pids) < 3 {
		t.Fatalf("descendants %v, %v", pids, err)
	}
	other := begin(t, Spec{Command: self("orphan")}) // is not to be mistaken for one that is lost
	awaitOutput(t, other, "ready", 3)
	unix.Kill(p.line.pid, unix.SIGKILL)
	<-p.Done()
	var lost *LostError
	if _, err := p.Wait(); !errors.As(err, &lost) || lost.PID != p.line.pid || lost.Fate != "signal: killed" || len(lost.Left) > 0 {
		t.Errorf("got %+v, %v", lost, err)
	}
	assertGone(t, pids)
	assertRemoved(t, folder)
	if left, err := other.Descendants(); err != nil || len(left) < 3 {
		t.Errorf("of the other command's processes only %v are left, %v", left, err)
	}
	if exit, err := other.Stop(0); err != nil || !exit.Killed {
		t.Errorf("the other command: %+v, %v", exit, err)
	}
}

func TestGroupGoesWithSupervisor(t *testing.T) {
	dir, _ := group(t)
	p := begin(t, Spec{Command: self("orphan"), ProcsFiles: []string{dir + "/cgroup.procs"}})
	awaitOutput(t, p, "ready", 3)
	unix.Kill(p.line.pid, unix.SIGKILL)
	<-p.Done()
	assertRemoved(t, dir)
}

// One that is killed before it has answered is lost as well.
func TestSupervisorKilledAtStart(t *testing.T) {
	l := must.Get(spawn(nil))(t)
	unix.Kill(l.pid, unix.SIGSTOP) // or it might answer first
	p := &Process{line: l}
	time.AfterFunc(20*time.Millisecond, func() { unix.Kill(l.pid, unix.SIGKILL) })
	if err := p.begin(t.Context(), request{Path: "/bin/true", Args: []string{"true"}}); err == nil {
		t.Error("it began")
	}
	l.hangUp()
	if lost := l.wait(); lost == nil || lost.Fate == "" {
		t.Errorf("lost: %v", lost)
	}
}

// keeping starts another procfit that keeps a folder and a group, and returns
// it with the folder and its keeper's PID.
func keeping(t *testing.T, group string) (cmd *exec.Cmd, folder string, keeper int) {
	t.Helper()
	cmd, line := startPlay(t, "A=", "keep", group)
	if _, err := fmt.Sscan(line, &folder, &keeper); err != nil {
		t.Fatalf("it says %q, %v", line, err)
	}
	must.Get(os.Stat(filepath.Join(folder, "file")))(t)
	return cmd, folder, keeper
}

// playKeeper keeps a folder and a group, prints them and waits for SIGKILL.
func playKeeper(group string) int {
	k, err := NewKeeper()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	folder, err := k.Folder("procfit-test-")
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "file"), nil, 0o600)
	}
	if err == nil && group != "" {
		if err = k.Group(group); err == nil {
			err = os.Mkdir(group, 0o755)
		}
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(folder, k.line.pid)
	time.Sleep(time.Hour)
	return 1
}

func TestKeeper(t *testing.T) {
	dir, _ := group(t)
	below := filepath.Join(dir, "replica")
	t.Cleanup(func() { os.Remove(below) })
	cmd, folder, keeper := keeping(t, below)
	cmd.Process.Kill()
	cmd.Wait()
	assertGoneSoon(t, []int{keeper})
	assertRemoved(t, folder, below)
}

// A keeper that somebody kills is replaced, and knows what the former knew.
func TestKeeperKilled(t *testing.T) {
	k := must.Get(NewKeeper())(t)
	first := must.Get(k.Folder("procfit-test-"))(t)
	former := k.line.pid
	unix.Kill(former, unix.SIGKILL)
	assertGoneSoon(t, []int{former})
	second := must.Get(k.Folder("procfit-test-"))(t)
	if k.line.pid == former {
		t.Error("it was not replaced")
	}
	k.line.hangUp() // as when procfit dies
	k.line.wait()
	assertRemoved(t, first, second)
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}

func TestKeeperClose(t *testing.T) {
	k := must.Get(NewKeeper())(t)
	folder := must.Get(k.Folder("procfit-test-"))(t)
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	assertRemoved(t, folder)
	assertGone(t, []int{k.line.pid})
}

func TestRun(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	out, err := Run(t.Context(), Spec{
		Command: []string{"sh", "-c", "(sleep 600 &); echo out; echo err >&2; echo x >" + folder + "/x; exit 3"},
		Env:     os.Environ(), Folders: []string{folder},
	})
	if err != nil || string(out.Stdout) != "out\n" || string(out.Stderr) != "err\n" || out.Exit.Code != 3 || out.Cut {
		t.Errorf("got %+v, %v", out, err)
	}
	assertRemoved(t, folder)
	log := must.Get(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	defer log.Close()
	if out, err := Run(t.Context(), Spec{Command: self("flood", "1"), Log: log, LogLimit: 4 << 10}); err != nil || !out.Cut || out.Exit.Failed() {
		t.Errorf("with a log: %+v, %v", out, err)
	}
	if data, err := os.ReadFile(log.Name()); err != nil || !strings.HasPrefix(string(data), "the first line\n") || !strings.HasSuffix(string(data), "\nthe last line\n") {
		t.Errorf("the log has %q, %v", data, err)
	}
	if out, err := Run(t.Context(), Spec{Command: self("flood", "1"), LogLimit: 4 << 10}); err != nil || !out.Cut || len(out.Stdout) > 5<<10 {
		t.Errorf("a captured flood: %d bytes, cut %v, %v", len(out.Stdout), out.Cut, err)
	}
}

func TestRunLarge(t *testing.T) {
	out, err := Run(t.Context(), Spec{Command: self("flood", "3")})
	if err != nil || out.Cut || int64(len(out.Stdout)) != 3<<20+int64(len("the first line\nthe last line\n")) {
		t.Errorf("%d bytes, cut %v, %v", len(out.Stdout), out.Cut, err)
	}
}

// A crash whose stacks are longer than what is kept for a quote.
func TestLastWords(t *testing.T) {
	p := begin(t, Spec{Command: self("crash", "3000")})
	if exit := wait(t, p); exit.Code != 2 || exit.OutputBytes < 10*tailBytes {
		t.Fatalf("%+v: %s", exit, p.LastWords(20).Text)
	}
	if q := p.LastWords(3); !q.Crash || !strings.HasPrefix(q.Text, "panic: no money") {
		t.Errorf("got %+v", q)
	}
	p = begin(t, Spec{Command: []string{"sh", "-c", "echo panic: survived; echo all is well"}})
	wait(t, p)
	if q := p.LastWords(1); q.Crash || q.Text != "all is well" {
		t.Errorf("one that succeeded: %+v", q)
	}
}

// crashing is a Go program that panics with many goroutines.
func crashing(goroutines string) {
	n, _ := strconv.Atoi(goroutines)
	fmt.Println("the first line")
	var running sync.WaitGroup
	running.Add(n)
	for range n {
		go func() { running.Done(); select {} }()
	}
	running.Wait()
	debug.SetTraceback("all")
	panic("no money")
}

// A procfit that is killed while it compiles.
func TestKilledWhileCompiling(t *testing.T) {
	gocmd := need.Command(t, "go")
	dir, temp := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("go.mod", "module example.com/m\n\ngo 1.24\n")
	write("main.go", "package main\n\nimport _ \"net/http\"\n\nfunc main() {}\n")
	cmd := exec.Command("/proc/self/exe", playArg, "compile", gocmd, filepath.Join(temp, "build"))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(dir, "cache"), "GOWORK=off", "GOFLAGS=-p=2", "TMPDIR="+temp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must.OK(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	var below []procstat.Stat
	compiling := func() bool {
		below, _ = descendants(cmd.Process.Pid)
		return slices.ContainsFunc(below, func(p procstat.Stat) bool { return p.Name == "compile" })
	}
	if !happens(compiling) {
		t.Fatalf("nothing compiles: %v", below)
	}
	cmd.Process.Kill()
	cmd.Wait()
	var pids []int
	for _, p := range below {
		pids = append(pids, p.PID)
	}
	assertGoneSoon(t, pids)
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
}
