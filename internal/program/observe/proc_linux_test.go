package observe

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/child"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// burnt is the CPU time that the part "burn" uses before it says so.
const burnt = 100 * time.Millisecond

// The test program itself is also the programs that are observed. Each prints a
// line when it is ready and ends with its standard input.
func TestMain(m *testing.M) {
	switch role, arg, _ := strings.Cut(os.Getenv("OBSERVE_ROLE"), " "); role {
	case "":
		os.Setenv("GORACE", "atexit_sleep_ms=0") // for the processes that it starts: a second each, otherwise
		os.Exit(m.Run())
	case "listen":
		l, err := net.Listen("tcp", arg)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(l.Addr().(*net.TCPAddr).Port)
	case "burn":
		// By the CPU's clock: on a busy machine a start can cost more than this by the wall's.
		for used := cpuTime(); cpuTime() < used+burnt; {
		}
		fmt.Println("burnt")
	case "tree": // a child, which has a child
		os.Setenv("OBSERVE_ROLE", "leaf")
		if arg != "0" {
			os.Setenv("OBSERVE_ROLE", "tree 0")
		}
		child := exec.Command("/proc/self/exe")
		child.Stdin, child.Stdout = os.Stdin, os.Stdout
		if err := child.Start(); err != nil {
			fmt.Println(err)
		}
		child.Wait()
		return
	case "mounted":
		if err := mounted(arg); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	case "practice":
		kind, file, _ := strings.Cut(arg, " ")
		practice(kind, file)
		return
	case "leaf":
		fmt.Println(os.Getppid(), os.Getpid())
	}
	io.Copy(io.Discard, os.Stdin)
}

// cpuTime is what this process has used so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// play starts the program in that role and returns its id and what it says.
func play(t testing.TB, role string, change ...func(*exec.Cmd)) (pid int, says string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "OBSERVE_ROLE="+role, "GOMAXPROCS=3")
	for _, c := range change {
		c(cmd)
	}
	return run(t, cmd)
}

// called is a command of a Go program whose main package has this path.
func called(t testing.TB, main string, env ...string) *exec.Cmd {
	t.Helper()
	p := built.Program{Name: path.Base(main), Env: []string{"CGO_ENABLED=0"}, Files: map[string]string{
		"go.mod":  "module " + main + "\n\ngo 1.21\n",
		"main.go": "package main\n\nimport (\n\t\"fmt\"\n\t\"io\"\n\t\"os\"\n)\n\nfunc main() {\n\tfmt.Println(\"ready\")\n\tio.Copy(io.Discard, os.Stdin)\n}\n",
	}}
	cmd := exec.Command(p.Run(t))
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

func run(t testing.TB, cmd *exec.Cmd) (pid int, says string) {
	t.Helper()
	c := child.Start(t, cmd)
	return c.PID(), c.Line()
}

func TestListener(t *testing.T) {
	idle, _ := play(t, "leaf")
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0", ":0"} {
		t.Run(addr, func(t *testing.T) {
			if l, err := net.Listen("tcp", addr); err != nil {
				need.Skip(t, "needs IPv6: "+err.Error())
			} else {
				l.Close()
			}
			pid, says := play(t, "listen "+addr)
			port := must.Get(strconv.Atoi(says))(t)
			if got, err := Listener(port, []int{idle, pid}); got != pid || err != nil {
				t.Errorf("found %d, %v; want %d", got, err, pid)
			}
			for _, pids := range [][]int{{idle}, nil} {
				got, err := Listener(port, pids)
				var taken *TakenError
				if !errors.As(err, &taken) || taken.PID != pid || taken.Name == "" || taken.Port != port {
					t.Errorf("of %v: %d, %v; want that %d has it", pids, got, err, pid)
				}
			}
		})
	}
	t.Run("nobody", func(t *testing.T) {
		l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		port := l.Addr().(*net.TCPAddr).Port
		// A connection is no listener: one stays after the listener has closed.
		c := must.Get(net.Dial("tcp", l.Addr().String()))(t)
		defer c.Close()
		server := must.Get(l.Accept())(t)
		defer server.Close()
		sockets, err := listeners(port, nil)
		if err != nil || len(sockets) != 1 {
			t.Fatal(sockets, err)
		}
		l.Close()
		if got, err := Listener(port, []int{idle, os.Getpid()}); !errors.Is(err, errNoListener) {
			t.Errorf("found %d, %v", got, err)
		}
		if err := taken(port, nil, sockets); !errors.Is(err, errNoListener) {
			t.Errorf("it ended after its socket was read: %v", err)
		}
	})
	t.Run("another network", func(t *testing.T) {
		need.Root(t)
		pid, says := play(t, "listen :0", func(c *exec.Cmd) {
			c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		})
		port := must.Get(strconv.Atoi(says))(t)
		if got, err := Listener(port, []int{idle, pid}); got != pid || err != nil {
			t.Errorf("found %d, %v; want %d", got, err, pid)
		}
		if got, err := Listener(port, []int{idle}); !errors.Is(err, errNoListener) {
			t.Errorf("in this network: %d, %v", got, err)
		}
	})
	t.Run("not allowed", func(t *testing.T) {
		pid, says := play(t, "listen 127.0.0.1:0")
		port := must.Get(strconv.Atoi(says))(t)
		need.AsNobody(t, func() {
			if got, err := Listener(port, []int{pid}); !errors.Is(err, os.ErrPermission) {
				t.Errorf("of another user: %d, %v", got, err)
			}
			var taken *TakenError
			if got, err := Listener(port, nil); !errors.As(err, &taken) || taken.PID != 0 {
				t.Errorf("of another user, not asked for: %d, %v", got, err)
			}
		})
	})
}

// TestStandAt: all that hold a socket are found, and one that is not a Go program steps back for
// one that is.
func TestStandAt(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	f := must.Get(l.(*net.TCPListener).File())(t)
	defer f.Close()
	port := l.Addr().(*net.TCPAddr).Port
	pass := func(c *exec.Cmd) { c.ExtraFiles = []*os.File{f} }
	finds := func(want ...int) {
		t.Helper()
		var got []int
		for _, one := range must.Get(StandAt(port))(t) {
			got = append(got, one.PID)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("found %d; expected %d", got, want)
		}
	}
	sh := exec.Command("sh", "-c", "echo; read x")
	pass(sh)
	shell, _ := run(t, sh)
	finds(os.Getpid())
	worker, _ := play(t, "leaf", pass)
	finds(os.Getpid(), worker)
	if got := goOf([]int{shell, shell}); len(got) != 2 {
		t.Errorf("without a Go program: %d", got)
	}
}

// TestStandAtForwarder: what listens for a program in a container is not that program.
func TestStandAtForwarder(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	f := must.Get(l.(*net.TCPListener).File())(t)
	port := l.Addr().(*net.TCPAddr).Port
	proxy := called(t, "example.com/docker/cmd/docker-proxy")
	proxy.ExtraFiles = []*os.File{f}
	pid, _ := run(t, proxy)
	f.Close()
	l.Close()
	found, err := StandAt(port)
	if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("process %d (", pid)) || !strings.Contains(err.Error(), fmt.Sprintf(") passes port %d on to a program in a container", port)) {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestReader(t *testing.T) {
	idle, _ := play(t, "leaf")
	busy, _ := play(t, "burn")
	sh := exec.Command("sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo; read x")
	shell, _ := run(t, sh)
	var r Reader
	if got, err := r.FindGo([]int{idle, shell, busy}); got != busy || err != nil {
		t.Errorf("the busiest is %d, %v; want %d of idle %d, shell %d", got, err, busy, idle, shell)
	}
	if got, err := r.FindGo([]int{shell}); !errors.Is(err, ErrNotGo) {
		t.Errorf("the shell is Go: %d, %v", got, err)
	}
	if live, err := r.Live(busy); err != nil || live.Procs != 3 || live.GoVersion != runtime.Version() {
		t.Errorf("read %+v, %v", live, err)
	}
	if _, err := r.Live(shell); !errors.Is(err, goproc.ErrNotGo) {
		t.Errorf("the shell: %v", err)
	}
}

// TestReaderGoRun finds the program below the go command, which "go run" links
// without a symbol table.
func TestReaderGoRun(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("only amd64 code is decoded")
	}
	cmd := exec.Command(need.Command(t, "go"), "run", ".")
	cmd.Dir = filepath.Join("..", "goproc", "goproctest", "testdata", "probe")
	built.Reads(t, cmd.Dir)
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOMAXPROCS=3")
	root, says := run(t, cmd)
	pids := must.Get(descendants(root))(t)
	var r Reader
	pid, err := r.FindGo(append(pids, root))
	if err != nil || pid == root {
		t.Fatalf("found %d, %v among %v below %d", pid, err, pids, root)
	}
	if live, err := r.Live(pid); err != nil || live.Procs != 3 || !strings.HasPrefix(says, "3 ") || live.Source != goproc.Decoded {
		t.Errorf("read %+v, %v; the program says %s", live, err, says)
	}
}

// descendants lists the live processes below root.
func descendants(root int) ([]int, error) {
	pids, err := procstat.IDs("/proc")
	if err != nil {
		return nil, err
	}
	if !slices.Contains(pids, root) {
		return nil, fmt.Errorf("descendants of process %d: no such process", root)
	}
	parent := make(map[int]int, len(pids))
	for _, pid := range pids {
		if s, err := procstat.ReadStat(pid); err == nil && s.State != 'Z' && s.State != 'X' {
			parent[pid] = s.Parent
		}
	}
	return descend(root, parent), nil
}

// descend returns all below root, in ascending order; parent is by process id.
func descend(root int, parent map[int]int) []int {
	children := make(map[int][]int)
	for pid, p := range parent {
		children[p] = append(children[p], pid)
	}
	var below []int
	seen := map[int]bool{root: true}
	for next := []int{root}; len(next) > 0; next = next[1:] {
		for _, pid := range children[next[0]] {
			if !seen[pid] {
				seen[pid] = true
				below, next = append(below, pid), append(next, pid)
			}
		}
	}
	slices.Sort(below)
	return below
}
