//go:build !portable && (amd64 || arm64)

package steer

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
)

func TestMain(m *testing.M) {
	if code, ok := Stage(os.Args); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// build is how the target is built.
type build struct {
	name, toolchain string // toolchain "": the one that is there
	env, args       []string
	language        string // the go line of its go.mod; "": 1.17
	also            string // a folder of testdata with more of it
}

// run builds it, without this machine's settings for the go command, which old releases do
// not know.
func (b build) run(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("STEER_TARGET"); path != "" { // on a machine that builds nothing
		return path
	}
	p := built.Program{Name: "target", Files: built.Dir(t, "testdata/target"), Env: b.env, Args: b.args}
	if b.also != "" {
		maps.Copy(p.Files, built.Dir(t, "testdata/"+b.also))
	}
	p.Files["go.mod"] = "module example.com/target\n\ngo " + cmp.Or(b.language, "1.17") + "\n"
	if b.toolchain != "" {
		p.Env = append([]string{"GOTOOLCHAIN=" + b.toolchain, "GOENV=off", "GOFLAGS="}, b.env...)
	}
	return p.Run(t)
}

// target is a running server that checks itself.
type target struct {
	t       testing.TB
	cmd     *exec.Cmd
	url     string
	ended   chan struct{} // closed once it has
	said    strings.Builder
	hidden  bool // it has so many threads, or they come and go so fast, that a place is not always found
	foreign bool // it is a program of others, which does not check itself
}

// begin runs a target until the test ends.
func begin(t testing.TB, path string, modes ...string) *target {
	t.Helper()
	x := &target{t: t, cmd: exec.Command(path, modes...), ended: make(chan struct{})}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GOMAXPROCS=") {
			x.cmd.Env = append(x.cmd.Env, v)
		}
	}
	x.cmd.Stderr = &x.said
	out := must.Get(x.cmd.StdoutPipe())(t)
	must.OK(t, x.cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	x.untilTheEnd()
	if err != nil {
		_ = x.cmd.Process.Kill()
		<-x.ended
		t.Fatalf("the target does not start: %v\n%s", err, x.said.String())
	}
	x.url = "http://127.0.0.1:" + strings.TrimSpace(line)
	return x
}

// untilTheEnd waits for the program, and ends it with the test.
func (x *target) untilTheEnd() {
	go func() {
		_ = x.cmd.Wait()
		close(x.ended)
	}()
	x.t.Cleanup(func() {
		_ = x.cmd.Process.Kill()
		<-x.ended
	})
}

func (x *target) pid() int { return x.cmd.Process.Pid }

// ask is a request to the program that a process runs now.
func ask(pid, procs int) Request {
	p, _ := Identify(pid) // of a process that has ended there is only the start
	return Request{Program: p, Value: Value{Procs: procs}}
}

func (x *target) set(procs int) (Result, error) { return Set(x.t.Context(), ask(x.pid(), procs)) }

// live is what is read of the program.
func (x *target) live() goproc.Live {
	x.t.Helper()
	return must.Get(new(goproc.Cache).Live(x.pid()))(x.t)
}

// untraced wants all threads to run as before, not to stand still.
func (x *target) untraced() {
	x.t.Helper()
	tids, err := procstat.IDs(fmt.Sprintf("/proc/%d/task", x.pid()))
	if err != nil {
		x.t.Error(err)
	}
	for _, tid := range tids {
		if s, err := procstat.ReadStat(tid); err == nil && s.State == 't' || tracedBy(tid) != 0 {
			x.t.Errorf("thread %d is traced by %d, and in state %c", tid, tracedBy(tid), s.State)
		}
	}
}

// alive fails the test if the program has ended, with the end of what it said.
func (x *target) alive() bool {
	x.t.Helper()
	select {
	case <-x.ended:
		x.t.Errorf("the program has ended: %v\n%s", x.cmd.ProcessState, tail(x.said.String()))
		return false
	default:
		return true
	}
}

func tail(s string) string { return s[max(0, len(s)-3000):] }

// check asks the program what it runs with, and how many of its own answers were wrong.
func (x *target) check(procs int) (wrong int64) {
	x.t.Helper()
	body, err := get(&http.Client{Timeout: time.Minute}, x.url+"/check")
	var got, lost int64
	if _, scan := fmt.Sscan(body, &got, &wrong, &lost); err != nil || scan != nil {
		x.t.Fatalf("%q: %v, %v", body, err, scan)
	}
	if wrong != 0 || got != int64(procs) {
		x.t.Errorf("it says GOMAXPROCS=%d, want %d; %d answers of its own were wrong", got, procs, wrong)
	}
	return wrong
}

func get(c *http.Client, url string) (string, error) {
	r, err := c.Get(url)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s", r.Status)
	}
	return string(b), err
}

// load sends requests over some connections until it is stopped, each of which must be
// answered within a minute.
type load struct {
	sent, failed atomic.Int64
	slowest      atomic.Int64
	why          atomic.Value
	stop         func()
}

// requests starts a load; between two requests of a connection it pauses.
func requests(url string, connections int, pause time.Duration) *load {
	return send(connections, pause, func() (func() error, func()) {
		c := &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}
		return func() error { _, err := get(c, url); return err }, c.CloseIdleConnections
	})
}

// send starts a load of requests that connect makes for each connection.
func send(connections int, pause time.Duration, connect func() (request func() error, end func())) *load {
	ctx, cancel := context.WithCancel(context.Background())
	l := &load{}
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			request, end := connect()
			defer end()
			for ctx.Err() == nil {
				began := time.Now()
				if err := request(); err != nil {
					l.failed.Add(1)
					l.why.Store(err.Error())
				}
				l.sent.Add(1)
				l.slowest.Store(max(l.slowest.Load(), int64(time.Since(began))))
				time.Sleep(pause)
			}
		})
	}
	l.stop = func() { cancel(); all.Wait() }
	return l
}

// calls sets values 1 to 4 in turn, n times, while requests are sent.
func (x *target) calls(n int) tally {
	x.t.Helper()
	return x.callsUnder(n, requests(x.url, 8, 0))
}

func (x *target) callsUnder(n int, l *load) (y tally) {
	x.t.Helper()
	if p, err := new(goproc.Cache).Program(x.pid()); err == nil {
		y.Go = p.GoVersion
	}
	began, afterRead, value := time.Now(), 0, 0
	for i := range n {
		before := value
		value = 1 + i%4
		r, err := x.set(value)
		if why := Because(err); why != "" && !err.(*Refusal).unsure() && x.alive() {
			y.Refused++
			value = before
			if !x.hidden || why != NoPlace {
				x.t.Errorf("call %d: %v", i, err)
			}
			continue
		}
		if err != nil || !x.alive() {
			x.t.Errorf("call %d: %v", i, err)
			break
		}
		if r.New != value && r.New != 0 || before != 0 && r.Old != before {
			x.t.Errorf("call %d of %d: %+v", i, value, r)
		}
		y.Calls++
		if r.AfterRead {
			afterRead++
		}
		y.Held, y.Stopped = max(y.Held, r.Held), max(y.Stopped, r.Stopped)
	}
	l.stop()
	y.Ended = !x.alive()
	if !y.Ended && !x.foreign {
		y.Wrong = x.check(value)
	}
	if !y.Ended {
		x.untraced()
	}
	y.Requests, y.Failed, y.Slowest = l.sent.Load(), l.failed.Load(), time.Duration(l.slowest.Load())
	x.t.Logf("%d calls made and %d refused in %v, %d after a read; held %v, stopped %v at most; %d requests, slowest %v", y.Calls, y.Refused, time.Since(began).Round(time.Millisecond), afterRead, y.Held, y.Stopped, y.Requests, y.Slowest)
	if y.Failed > 0 || y.Requests == 0 {
		x.t.Errorf("%d of %d requests failed: %v", y.Failed, y.Requests, l.why.Load())
	}
	return y
}

func clientOf(limit time.Duration) *http.Client { return &http.Client{Timeout: limit} }
