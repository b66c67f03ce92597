package meter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/maxprocs/live"
	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// The test is also the program that is read, and a procfit that is killed.
func TestMain(m *testing.M) {
	switch role := os.Getenv("METER_TEST"); {
	case role == "":
		os.Exit(m.Run())
	case strings.HasPrefix(role, "lease "):
		hold(strings.TrimPrefix(role, "lease "))
	default:
		serve(role)
	}
}

// serve answers requests until its input ends. Each line of its input is a new GOMAXPROCS, exec for
// a new start of itself in the same process, or why it refuses.
func serve(role string) {
	var m live.Meter
	var refusing atomic.Value
	runtime.GOMAXPROCS(4)
	if role != "meter" {
		defer live.Allow(&m, live.Max(6), live.Refuse(func() error {
			if why, _ := refusing.Load().(string); why != "" {
				return errors.New(why)
			}
			return nil
		}))()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s := &http.Server{Handler: m.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/procs" {
			fmt.Fprint(w, runtime.GOMAXPROCS(0))
		}
	})), ConnContext: m.ConnContext}
	go s.Serve(m.Listener(l))
	fmt.Println(l.Addr())
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); fmt.Println("done") {
		n, err := strconv.Atoi(lines.Text())
		switch {
		case err == nil:
			runtime.GOMAXPROCS(n)
		case lines.Text() == "exec":
			panic(syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
		default:
			refusing.Store(lines.Text())
		}
	}
}

// hold takes a lease of 2 s, prints when it ends, and is killed.
func hold(pid string) {
	n, _ := strconv.Atoi(pid)
	p, err := new(Reader).Open(n)
	if err == nil {
		_, err = p.Lease(context.Background(), 1, 2*time.Second)
	}
	fmt.Println(int64(procstat.Monotonic()+2*time.Second), err)
	select {}
}

// running is a process of this test.
type running struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
	first string
}

func run(t *testing.T, role, program string) *running {
	t.Helper()
	if program == "" {
		program = "/proc/self/exe"
	}
	r := &running{t: t, cmd: exec.Command(program)}
	r.cmd.Env = append(os.Environ(), "METER_TEST="+role)
	r.cmd.Stderr = os.Stderr
	out, err := r.cmd.StdoutPipe()
	if err == nil {
		r.in, err = r.cmd.StdinPipe()
	}
	if err == nil {
		err = r.cmd.Start()
	}
	must.OK(t, err)
	t.Cleanup(r.kill)
	r.lines = bufio.NewScanner(out)
	r.lines.Scan()
	r.first = r.lines.Text()
	return r
}

func (r *running) kill() {
	r.cmd.Process.Kill()
	r.cmd.Wait()
}

// tell has the program read a line.
func (r *running) tell(line string) {
	fmt.Fprintln(r.in, line)
	r.lines.Scan()
}

func (r *running) get(path string) string {
	r.t.Helper()
	a := must.Get(http.Get("http://" + r.first + path))(r.t)
	defer a.Body.Close()
	b, _ := io.ReadAll(a.Body)
	return string(b)
}

func (r *running) open() *Program {
	r.t.Helper()
	p := must.Get(new(Reader).Open(r.cmd.Process.Pid))(r.t)
	r.t.Cleanup(func() { p.Close() })
	return p
}

// refuses compares why a program does not use a value.
func refuses(t *testing.T, err error, why Why, text string) {
	t.Helper()
	r, ok := errors.AsType[*Refusal](err)
	if !ok || r.Why != why || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want %q", err, text)
	}
}

// TestMetrics: what a program counted is read from outside, without its help.
func TestMetrics(t *testing.T) {
	r := run(t, "meter", "")
	p := r.open()
	from, err := p.Metrics()
	must.OK(t, err)
	for range 10 {
		r.get("/")
	}
	http.DefaultClient.CloseIdleConnections() // the last answer's write is counted then
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		to := must.Get(p.Metrics())(t)
		m, err := Between(from, to, 20*time.Second, 4)
		if err == nil && m.Requests == 10 && m.Arrival.Count() == 10 && m.Handler.Count() == 10 && m.CPU > 0 && m.InFlight == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%+v, %v", m, err)
		}
	}
	_, err = p.Lease(t.Context(), 2, time.Second)
	refuses(t, err, NotAllowed, "does not call live.Allow")
	r.kill()
	if _, err := p.Metrics(); !errors.Is(err, ErrGone) {
		t.Errorf("of a process that has ended: %v", err)
	}
	if _, err := new(Reader).Open(os.Getpid()); !errors.Is(err, ErrNone) {
		t.Errorf("of a program that has used no Meter: %v", err)
	}
}

// TestLease: a value is used while the lease lasts, and what the program refuses is said.
func TestLease(t *testing.T) {
	r := run(t, "allow", "")
	p, other := r.open(), r.open()
	ctx := t.Context()
	c, err := p.Lease(ctx, 2, 20*time.Second)
	if err != nil || c.Before != 4 || c.Took <= 0 || r.get("/procs") != "2" {
		t.Fatalf("%+v, %v, GOMAXPROCS %s", c, err, r.get("/procs"))
	}
	if c, err := p.Lease(ctx, 2, 20*time.Second); err != nil || c.Took != 0 {
		t.Errorf("renewed: %+v, %v", c, err)
	}
	if s, err := p.State(); err != nil || !s.Held || s.Taken || !s.Allowed || s.Procs != 2 || s.Before != 4 || s.Most != 6 || s.Left < time.Second || s.Left > 20*time.Second {
		t.Errorf("%+v, %v", s, err)
	}
	_, err = other.Lease(ctx, 3, 20*time.Second)
	refuses(t, err, Taken, "another experiment has a lease")
	_, err = p.Lease(ctx, 7, 20*time.Second)
	refuses(t, err, OutOfRange, "GOMAXPROCS 1 to 6; live.Max")
	_, err = p.Lease(ctx, 3, time.Nanosecond)
	refuses(t, err, Late, "only when the lease was over")
	if c, err := p.Lease(ctx, 6, time.Hour); err != nil || r.get("/procs") != "6" { // no longer than LongestLease
		t.Errorf("%+v, %v, GOMAXPROCS %s", c, err, r.get("/procs"))
	}
	if n, err := p.Release(ctx); err != nil || n != 4 || r.get("/procs") != "4" {
		t.Errorf("released: %d, %v", n, err)
	}
	r.tell("draining")
	_, err = other.Lease(ctx, 3, 20*time.Second)
	refuses(t, err, Refused, "it refuses experiments now: draining")
	r.tell("")
	if _, err := other.Lease(ctx, 3, 20*time.Second); err != nil {
		t.Error(err)
	}
	r.tell("5")
	_, err = other.Lease(ctx, 2, 20*time.Second)
	refuses(t, err, SetByOther, "something else set its GOMAXPROCS, to 5")
	if n := r.get("/procs"); n != "5" {
		t.Errorf("GOMAXPROCS is %s", n)
	}
}

// TestExec: the program that comes by exec, also of the same file, gets no lease that was meant for
// the one before.
func TestExec(t *testing.T) {
	r := run(t, "allow", "")
	p := r.open()
	r.tell("exec")
	if c, err := p.Lease(t.Context(), 2, 20*time.Second); !errors.Is(err, ErrGone) {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestWriterIsKilled: the program restores its own value by itself.
func TestWriterIsKilled(t *testing.T) {
	r := run(t, "allow", "")
	w := run(t, "lease "+strconv.Itoa(r.cmd.Process.Pid), "")
	w.kill()
	var end int64
	if n, err := fmt.Sscan(w.first, &end); n != 1 || err != nil || !strings.HasSuffix(w.first, "<nil>") {
		t.Fatal(w.first)
	}
	if n := r.get("/procs"); n != "1" && int64(procstat.Monotonic()) < end-int64(time.Second) {
		t.Errorf("GOMAXPROCS is %s under the lease", n)
	}
	for r.get("/procs") != "4" {
		if late := time.Duration(int64(procstat.Monotonic()) - end); late > 10*time.Second {
			t.Fatalf("the value was not restored %s after the end of the lease", late)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if s, err := r.open().State(); err != nil || s.Why != RanOut || s.Procs != 4 {
		t.Errorf("%+v, %v", s, err)
	}
}

// leased is a program that allows leases. Its input ends it.
const leased = `package main

import (
	"io"
	"os"

	"github.com/procfit/procfit/maxprocs/live"
)

func main() {
	var m live.Meter
	m.Begin().End(nil)
	defer live.Allow(&m)()
	os.Stdout.WriteString("ready\n")
	io.Copy(io.Discard, os.Stdin)
}
`

// TestBuilds: the mark is found however a program is built, and by the oldest release too.
func TestBuilds(t *testing.T) {
	need.Everything(t, "builds programs; TestLease has one")
	builds := map[string]built.Program{
		"cgo pie":                 {Args: []string{"-buildmode=pie", "-ldflags=-s -w -linkmode=external"}, Env: []string{"CGO_ENABLED=1"}},
		"race":                    {Args: []string{"-race"}, Env: []string{"CGO_ENABLED=1"}},
		"go1.21, static stripped": {Args: []string{"-ldflags=-s -w"}, Env: []string{"GOTOOLCHAIN=go1.21.13", "CGO_ENABLED=0"}},
	}
	if need.Whole() {
		builds["stripped"] = built.Program{Args: []string{"-ldflags=-s -w"}}
		builds["pie"] = built.Program{Args: []string{"-buildmode=pie"}}
		builds["static"] = built.Program{Env: []string{"CGO_ENABLED=0"}}
	}
	for name, b := range builds {
		t.Run(name, func(t *testing.T) {
			b.Name, b.Files = "leased", map[string]string{
				"go.mod":  "module leased\n\ngo 1.21\n\nrequire github.com/procfit/procfit/maxprocs v0.0.0\n\nreplace github.com/procfit/procfit/maxprocs => ./maxprocs\n",
				"main.go": leased,
			}
			for file, text := range built.Dir(t, "../../../maxprocs") {
				if !strings.HasSuffix(file, "_test.go") && !strings.Contains(file, "testdata/") {
					b.Files["maxprocs/"+file] = text
				}
			}
			r := run(t, "", b.Run(t))
			p := r.open()
			if m, err := p.Metrics(); err != nil || m.Requests != 1 || m.CPU <= 0 {
				t.Errorf("%+v, %v", m, err)
			}
			s, err := p.State()
			if err != nil || s.Most < 1 {
				t.Fatalf("%+v, %v", s, err)
			}
			if c, err := p.Lease(t.Context(), 1, 10*time.Second); err != nil || c.Before != s.Procs {
				t.Errorf("%+v, %v", c, err)
			}
			if n, err := p.Release(t.Context()); err != nil || n != s.Procs {
				t.Errorf("%d, %v", n, err)
			}
		})
	}
}

// TestStopped: a program that does not run gets no lease, also when it runs again.
func TestStopped(t *testing.T) {
	r := run(t, "allow", "")
	p := r.open()
	r.cmd.Process.Signal(syscall.SIGSTOP)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := p.Lease(ctx, 2, 20*time.Second); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a stopped program: %v", err)
	}
	r.cmd.Process.Signal(syscall.SIGCONT)
	before, _ := p.look(p.mem)
	for x := before; x.looked == before.looked; x, _ = p.look(p.mem) {
		time.Sleep(5 * time.Millisecond)
	}
	if n := r.get("/procs"); n != "4" {
		t.Errorf("GOMAXPROCS is %s", n)
	}
}
