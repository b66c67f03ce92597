//go:build !portable

package observe

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/program/expected"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

func TestSubject(t *testing.T) {
	var r Reader
	pid, _ := play(t, "leaf") // with GOMAXPROCS=3
	s := must.Get(r.Subject(pid))(t)
	if s.PID != pid || s.Name == "" || s.Facts.GoVersion != runtime.Version() || s.ProgramUnknown != "" || s.Automaxprocs != "" {
		t.Errorf("subject %+v", s)
	}
	if s.Live == nil || *s.Live != 3 || s.LiveSource == "" || s.LiveUnknown != "" || s.SetBy != rule.SetByEnv {
		t.Errorf("live %v from %q, set by %s, unknown %q; want 3, set by env", s.Live, s.LiveSource, s.SetBy, s.LiveUnknown)
	}
	if s.Go.Procs != 3 || s.Fit.Procs < 1 {
		t.Errorf("go %d, fit %d", s.Go.Procs, s.Fit.Procs)
	}
}

// TestSubjectOfShim: the value of a shim of containerd is containerd's, and no rule asks to change it.
func TestSubjectOfShim(t *testing.T) {
	for main, meant := range map[string]bool{"example.com/containerd/cmd/containerd-shim-runc-v2": true, "example.com/containerd/cmd/ctr": false} {
		pid, _ := run(t, called(t, main, "GOMAXPROCS=4096"))
		s := must.Get(new(Reader).Subject(pid))(t)
		if found := rule.IDs(rule.Judge(s)); s.Meant != meant || slices.Contains(found, "PF001") == meant {
			t.Errorf("%s: meant %v, found %q", main, s.Meant, found)
		}
	}
}

func TestSubjectOfNoGoProgram(t *testing.T) {
	cmd := exec.Command("cat")
	in := must.Get(cmd.StdinPipe())(t)
	must.OK(t, cmd.Start())
	var r Reader
	s, err := r.Subject(cmd.Process.Pid)
	if err != nil || !s.NotGo || s.ProgramUnknown == "" || s.Live != nil || s.Facts.AffinityCPUs() == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	in.Close()
	must.OK(t, cmd.Wait())
	for _, pid := range []int{cmd.Process.Pid, 0, -1, 1 << 30} {
		if _, err := r.Subject(pid); !errors.Is(err, ErrNoProcess) {
			t.Errorf("process %d: %v, want ErrNoProcess", pid, err)
		}
	}
}

func TestSubjectOfZombie(t *testing.T) {
	cmd := exec.Command("true")
	out, err := cmd.StdoutPipe()
	must.OK(t, err)
	must.OK(t, cmd.Start())
	defer cmd.Wait()
	out.Read(make([]byte, 1)) // ends when the process does
	var r Reader
	for err == nil {
		// It is a zombie a moment later; until then it may still be read.
		_, err = r.Subject(cmd.Process.Pid)
	}
	if !errors.Is(err, ErrNoProcess) {
		t.Errorf("%v, want ErrNoProcess", err)
	}
}

// TestSubjectOfOldModule builds a program with automaxprocs and an old go line,
// as its file alone tells.
func TestSubjectOfOldModule(t *testing.T) {
	need.Command(t, "go")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":           "module example.com/old\n\ngo 1.21\n\nrequire go.uber.org/automaxprocs v1.6.0\n\nreplace go.uber.org/automaxprocs => ./auto\n",
		"main.go":          "package main\n\nimport (\n\t\"io\"\n\t\"os\"\n\n\t_ \"go.uber.org/automaxprocs\"\n)\n\nfunc main() {\n\tos.Stdout.WriteString(\"up\\n\")\n\tio.Copy(io.Discard, os.Stdin)\n}\n",
		"auto/go.mod":      "module go.uber.org/automaxprocs\n\ngo 1.21\n",
		"auto/standing.go": "// Package automaxprocs stands in for the module of that name.\npackage automaxprocs\n",
	} {
		must.Write(t, filepath.Join(dir, name), text)
	}
	// Outside the workspace: inside one the program's own go line does not count.
	build := exec.Command("go", "build", "-buildvcs=false", "-mod=mod", "-o", "old", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOFLAGS=", "CGO_ENABLED=0")
	must.Output(t, build)
	pid, _ := run(t, exec.Command(filepath.Join(dir, "old")))
	var r Reader
	s, err := r.Subject(pid)
	if err != nil || s.Automaxprocs != "v1.6.0" || !strings.Contains(s.Facts.DefaultGODEBUG, "containermaxprocs=0") || s.Name != "old" {
		t.Errorf("%q: automaxprocs %q, DefaultGODEBUG %q, %v", s.Name, s.Automaxprocs, s.Facts.DefaultGODEBUG, err)
	}
}

// A Go program hands its environment down; the expected value in it is about the program alone.
// A shell that only starts the program has it too.
func TestExpectedInherited(t *testing.T) {
	var r Reader
	of := func(pid int) rule.Subject {
		t.Helper()
		return must.Get(r.Subject(pid))(t)
	}
	with := func(program string) func(*exec.Cmd) {
		return func(cmd *exec.Cmd) {
			cmd.Env = append(cmd.Env, expected.Variable+`={"schema":"procfit.expected/v1","program":"`+program+`","procs":2,"limit_cpus":null,"cpus":8,"measured":"2026-01-31"}`)
		}
	}
	name := ""
	for _, program := range []string{"", "another", "itself"} {
		if program == "itself" {
			program = name
		}
		parent, says := play(t, "tree 0", with(program))
		_, id, _ := strings.Cut(says, " ")
		child := must.Get(strconv.Atoi(id))(t)
		name = of(child).Name
		if of(parent).Expected == nil || (of(child).Expected != nil) != (program == name) {
			t.Errorf("program %q: the parent's value %v, that of its child (%s) %v", program, of(parent).Expected, name, of(child).Expected)
		}
	}
	shell := asRole("sh", "leaf", "-c", "/proc/$PPID/exe; true")
	with("")(shell)
	_, says := run(t, shell)
	_, id, _ := strings.Cut(says, " ")
	if child, err := strconv.Atoi(id); err != nil || of(child).Expected == nil {
		t.Errorf("%q, %v: nothing is expected of a program that a shell started", says, err)
	}
}

// TestExpectedFile: of the file next to a program nothing else is opened than a regular file of a
// disk that is there, wherever it leads in the root of the process.
func TestExpectedFile(t *testing.T) {
	const text = `{"schema":"procfit.expected/v1","procs":2,"limit_cpus":null,"cpus":8,"measured":"2026-01-31"}`
	dir := t.TempDir()
	program, file := filepath.Join(dir, "api"), filepath.Join(dir, "api"+expected.Suffix)
	self := must.Get(os.ReadFile("/proc/self/exe"))(t)
	if os.WriteFile(program, self, 0o755) != nil || os.WriteFile(filepath.Join(dir, "elsewhere"), []byte(text), 0o644) != nil {
		t.Fatal("no program")
	}
	pid, _ := play(t, "leaf", func(cmd *exec.Cmd) { cmd.Path = program })
	opened := must.Get(unix.InotifyInit1(unix.IN_NONBLOCK))(t)
	defer unix.Close(opened)
	for what, make := range map[string]func() error{
		"":             func() error { return os.WriteFile(file, []byte(text), 0o644) },
		"a link":       func() error { return os.Symlink("elsewhere", file) },
		"a pipe":       func() error { return syscall.Mkfifo(file, 0o666) },
		"a directory":  func() error { return os.Mkdir(file, 0o755) },
		"link to proc": func() error { return os.Symlink(strings.Repeat("../", 20)+"proc/version", file) },
	} {
		must.OK(t, make())
		for _, name := range []string{"elsewhere", "api" + expected.Suffix} {
			must.Get(unix.InotifyAddWatch(opened, filepath.Join(dir, name), unix.IN_OPEN))(t)
		}
		var r Reader
		s, err := r.Subject(pid)
		if err != nil || (s.Expected != nil) != (what == "") || s.ExpectedWrong != "" {
			t.Errorf("%s: %v, %q, %v", what, s.Expected, s.ExpectedWrong, err)
		}
		var b [4096]byte
		if n, err := unix.Read(opened, b[:]); (n > 0) != (what == "") {
			t.Errorf("%s: it was opened: %v, %v", what, n > 0, err)
		}
		for unix.Unlink(file) != nil && os.Remove(file) != nil {
			t.Fatal("the file stays")
		}
		for n := 1; n > 0; n, _ = unix.Read(opened, b[:]) {
		}
	}
}

// TestExpectedChain: a program at the end of a long chain that has the same variable does not
// have the whole chain read.
func TestExpectedChain(t *testing.T) {
	script := filepath.Join(t.TempDir(), "chain")
	must.OK(t, os.WriteFile(script, []byte("if [ $1 -gt 1 ]; then sh $0 $(($1-1)) $2; else $2; fi; true"), 0o755))
	self := must.Get(os.Executable())(t)
	for shells, want := range map[int]bool{3: true, mostAbove + 1: false} {
		shell := asRole("sh", "leaf", script, strconv.Itoa(shells), self)
		shell.Env = append(shell.Env, expected.Variable+`={"schema":"procfit.expected/v1","procs":2,"limit_cpus":null,"cpus":8,"measured":"2026-01-31"}`)
		_, says := run(t, shell)
		_, id, _ := strings.Cut(says, " ")
		child := must.Get(strconv.Atoi(id))(t)
		var r Reader
		if s, err := r.Subject(child); err != nil || (s.Expected != nil) != want {
			t.Errorf("below %d shells: %v, %v", shells, s.Expected, err)
		}
	}
}

func TestSelf(t *testing.T) {
	s := Self()
	if s.PID != os.Getpid() || s.Live == nil || *s.Live != runtime.GOMAXPROCS(0) || s.Facts.GoVersion != runtime.Version() || s.Go.Procs < 1 {
		t.Errorf("%+v", s)
	}
}
