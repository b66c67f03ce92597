package scripts

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/procfit/procfit/internal/check/binary/binarytest"
)

// freePort is below the range from which the kernel takes the ports of connections, so
// that no client of another test gets it meanwhile, and counts on from a random start.
var freePort atomic.Uint32

func init() { freePort.Store(rand.Uint32N(20_000)) }

// scriptFreePort (freeport NAME) sets a variable to a port that nobody listens at.
func scriptFreePort(ts *testscript.TestScript, _ bool, args []string) {
	eventually(ts, "a free port", func() bool {
		port := strconv.Itoa(12_000 + int(freePort.Add(1)%20_000))
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			return false
		}
		ts.Setenv(args[0], port)
		ts.Check(l.Close())
		return true
	})
}

// scriptTrials (trials FILE [atleast] N) compares the number of a journal's trials.
func scriptTrials(ts *testscript.TestScript, neg bool, args []string) {
	got := countTrials(ts.MkAbs(args[0]))
	want, err := strconv.Atoi(args[len(args)-1])
	ts.Check(err)
	ok := got == want
	if len(args) == 3 {
		ok = got >= want
	}
	if ok == neg {
		ts.Fatalf("%s holds %d trials, want %s", args[0], got, strings.Join(args[1:], " "))
	}
}

func countTrials(path string) int {
	b, _ := os.ReadFile(path)
	return strings.Count(string(b), `{"kind":"trial"`)
}

const patience = 60 * time.Second

// scriptWaitFor (waitfor FILE N) waits until a journal holds N trials;
// (waitfor FILE) until the file exists and is not empty.
func scriptWaitFor(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	eventually(ts, "wait for "+strings.Join(args, " "), func() bool {
		if len(args) == 1 {
			info, err := os.Stat(path)
			return err == nil && info.Size() > 0
		}
		want, err := strconv.Atoi(args[1])
		ts.Check(err)
		return countTrials(path) >= want
	})
}

// scriptGone (gone FILE…) waits until every process whose PID is in the files has ended.
func scriptGone(ts *testscript.TestScript, _ bool, args []string) {
	for _, a := range args {
		for _, pid := range strings.Fields(ts.ReadFile(a)) {
			eventually(ts, "the end of process "+pid, func() bool {
				_, err := os.Stat(filepath.Join("/proc", pid))
				return os.IsNotExist(err)
			})
		}
	}
}

// scriptWaitPort (waitport N) waits until somebody listens at the port.
func scriptWaitPort(ts *testscript.TestScript, _ bool, args []string) {
	eventually(ts, "a listener at port "+args[0], func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+args[0])
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// scriptExitCode (exitcode N COMMAND…) runs a command that must end with the code.
func scriptExitCode(ts *testscript.TestScript, _ bool, args []string) {
	checkCode(ts, args[0], ts.Exec(args[1], args[2:]...))
}

func checkCode(ts *testscript.TestScript, want string, err error) {
	code := 0
	if err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
}

// scriptInterrupt (interrupt or terminate, N JOURNAL TRIALS COMMAND…) sends the signal to the
// command when the journal holds that many trials, and checks its exit code. In place of a
// journal stands any file, with 0 trials, or a FIFO, which the command then reads or waits for.
func scriptInterrupt(signal syscall.Signal) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		path := ts.MkAbs(args[1])
		trials, err := strconv.Atoi(args[2])
		ts.Check(err)
		go func() {
			for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				info, err := os.Stat(path)
				if err != nil {
					continue
				}
				if info.Mode()&os.ModeNamedPipe != 0 {
					if !waitsFor(path, childIn(ts.MkAbs("."), args[3])) {
						continue
					}
				} else if countTrials(path) < trials {
					continue
				} else {
					time.Sleep(300 * time.Millisecond) // into the next trial
				}
				if pid := childIn(ts.MkAbs("."), args[3]); pid != 0 {
					_ = syscall.Kill(pid, signal)
					return
				}
			}
		}()
		checkCode(ts, args[0], ts.Exec(args[3], args[4:]...))
	}
}

// waitsFor reports whether the process has that FIFO open, or waits for the other end of one.
func waitsFor(fifo string, pid int) bool {
	dir := fmt.Sprintf("/proc/%d/", pid)
	waits, _ := filepath.Glob(dir + "task/*/wchan")
	files, _ := filepath.Glob(dir + "fd/*")
	return slices.ContainsFunc(waits, func(path string) bool {
		where, _ := os.ReadFile(path)
		return string(where) == "wait_for_partner"
	}) || slices.ContainsFunc(files, func(path string) bool {
		file, _ := os.Readlink(path)
		return file == fifo
	})
}

// childIn finds the child process of that name that works in the script's
// directory; other scripts run at the same time.
func childIn(dir, name string) int {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		word, _, _ := strings.Cut(string(line), "\x00")
		stat, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		fields := strings.Fields(string(stat)[strings.LastIndexByte(string(stat), ')')+1:])
		cwd, _ := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		if filepath.Base(word) == name && cwd == dir && len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			return pid
		}
	}
	return 0
}

// scriptTmpfs (tmpfs DIR SIZE) mounts a file system of that size.
func scriptTmpfs(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(syscall.Mount("procfit-test", dir, "tmpfs", 0, "size="+args[1]))
	ts.Defer(func() { ts.Check(syscall.Unmount(dir, 0)) })
}

// scriptNoGroups waits until no cgroup is left of a procfit that has ended.
func scriptNoGroups(ts *testscript.TestScript, _ bool, _ []string) {
	eventually(ts, "the removal of all groups", func() bool {
		left, _ := filepath.Glob("/sys/fs/cgroup/cpu/procfit-*")
		more, _ := filepath.Glob("/sys/fs/cgroup/procfit-*")
		return !slices.ContainsFunc(append(left, more...), func(dir string) bool {
			words := strings.Split(strings.TrimPrefix(filepath.Base(dir), "procfit-self-"), "-")
			pid := words[min(1, len(words)-1)] // of procfit-self-NAMESPACE-PID-START
			if words[0] == "procfit" {         // procfit-NAMESPACE-PID-START-N
				pid = words[min(2, len(words)-1)]
			}
			_, err := os.Stat(filepath.Join("/proc", pid))
			return os.IsNotExist(err)
		})
	})
}

func eventually(ts *testscript.TestScript, what string, done func() bool) {
	for end := time.Now().Add(patience); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// scriptPage (page URL REGEXP…) loads a page until all of them find a match in it.
func scriptPage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: page URL REGEXP…")
	}
	var wanted []*regexp.Regexp
	for _, a := range args[1:] {
		re, err := regexp.Compile(a)
		ts.Check(err)
		wanted = append(wanted, re)
	}
	eventually(ts, "a page at "+args[0]+" with all that is wanted", func() bool {
		resp, err := http.Get(args[0])
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		return err == nil && !slices.ContainsFunc(wanted, func(re *regexp.Regexp) bool { return !re.Match(b) })
	})
}

func goProgram(ts *testscript.TestScript, args []string) binarytest.Program {
	p := binarytest.Program{GoVersion: args[0], Module: args[1]}
	if len(args) > 2 {
		p.GODEBUG = args[2]
	}
	return p
}

// scriptGoProgram makes a file that tells of itself as a Go program does:
// goprogram FILE VERSION MODULE [GODEBUG].
func scriptGoProgram(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: goprogram FILE VERSION MODULE [GODEBUG]")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), goProgram(ts, args[1:]).Bytes(), 0o755))
}

// scriptGoImage makes an image's archive: goimage FILE NAME CONFIG VERSION MODULE [GODEBUG].
func scriptGoImage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 5 {
		ts.Fatalf("usage: goimage FILE NAME CONFIG VERSION MODULE [GODEBUG]")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), binarytest.Image(ts, args[1], args[2], binarytest.Tar(ts, [2]string{"usr/bin/app", string(goProgram(ts, args[3:]).Bytes())})), 0o644))
}
