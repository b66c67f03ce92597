// Package goproctest builds and runs a Go program that says of itself what
// package goproc reads from outside; see testdata/probe.
package goproctest

import (
	"cmp"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/child"
)

//go:embed testdata/probe
var source embed.FS

const Module = "example.com/probe"

type Build struct {
	Toolchain string   // such as go1.21.13; empty: the one that is there
	Language  string   // the go line of its go.mod; empty: 1.18, the lowest that it has
	Env       []string // CGO_ENABLED=0, GOARCH=arm64
	Args      []string // of go build
}

// Run returns the path of the probe so built, which all tests share.
func (b Build) Run(t testing.TB) string {
	t.Helper()
	p := built.Program{Name: "probe", Files: map[string]string{"go.mod": "module " + Module + "\n\ngo " + cmp.Or(b.Language, "1.18") + "\n"}, Env: b.Env, Args: b.Args}
	if b.Toolchain != "" {
		p.Env = append([]string{"GOTOOLCHAIN=" + b.Toolchain}, b.Env...)
	}
	entries, err := source.ReadDir("testdata/probe")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := source.ReadFile("testdata/probe/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		p.Files[e.Name()] = string(text)
	}
	return p.Run(t)
}

type Probe struct {
	*child.Child
	t testing.TB
}

// State is what a probe says of itself.
type State struct {
	Procs, NumCPU int
	Latencies     string // the counts of /sched/latencies:seconds, separated by spaces
}

// Start runs a probe until the test ends, with GOMAXPROCS only if env has it, and
// returns what it says first.
func Start(t testing.TB, path string, env ...string) (*Probe, State) {
	t.Helper()
	cmd := exec.Command(path)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GOMAXPROCS=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	p := &Probe{child.Start(t, cmd), t}
	return p, p.says()
}

// Tell gives the probe a command, nothing for none, and returns what it says then.
func (p *Probe) Tell(command string) State {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.In, command); err != nil {
		p.t.Fatal(err)
	}
	return p.says()
}

func (p *Probe) says() State {
	p.t.Helper()
	procs, rest, _ := strings.Cut(p.Line(), " ")
	cpus, counts, _ := strings.Cut(rest, " ")
	s := State{Latencies: counts}
	var err error
	if s.Procs, err = strconv.Atoi(procs); err != nil {
		p.t.Fatal(err)
	}
	if s.NumCPU, err = strconv.Atoi(cpus); err != nil {
		p.t.Fatal(err)
	}
	return s
}

// tries bounds how often the probe may be found at work. Its own answers to a
// command count among its latencies now and then.
const tries = 100

// Quiet calls read until the probe says the same before and after it, and returns
// what that is.
func (p *Probe) Quiet(read func()) State {
	p.t.Helper()
	for range tries {
		before := p.Tell("")
		read()
		if p.Tell("") == before {
			return before
		}
	}
	p.t.Fatalf("the probe is never quiet, in %d tries", tries)
	return State{}
}

// Latencies is how a probe writes these counts.
func Latencies(counts []uint64) string {
	return strings.Trim(fmt.Sprint(counts), "[]")
}

// Collected is what a probe says of all that its garbage collector has done; times are
// -1 where its release does not tell.
type Collected struct {
	Cycles           int64
	Pause            time.Duration
	Last             int64 // Unix nanoseconds
	Heap             int64 // bytes, just before
	Collecting, Busy time.Duration
}

// Collect has the probe collect its garbage, and returns what it says then.
func (p *Probe) Collect() Collected {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.In, "collect"); err != nil {
		p.t.Fatal(err)
	}
	line := p.Line()
	var c Collected
	var all, idleMark, total, idle int64
	if _, err := fmt.Sscan(line, &c.Cycles, &c.Pause, &c.Last, &c.Heap, &all, &idleMark, &total, &idle); err != nil {
		p.t.Fatalf("%q: %v", line, err)
	}
	p.says()
	c.Collecting, c.Busy = -1, -1
	if all >= 0 {
		c.Collecting, c.Busy = time.Duration(all-idleMark), time.Duration(total-idle)
	}
	return c
}

// Same reports whether a time that was read is the one that a probe said, in seconds as a
// float64.
func Same(read, said time.Duration) bool { return (read - said).Abs() <= 2*time.Nanosecond }

// About reports whether the heap that was read is that which a probe had just before: what
// the runtime itself takes meanwhile is little.
func About(read, said int64) bool { return read > said-said/8 && read < said+said/8 }
