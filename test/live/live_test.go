// Package live holds what package goproc reads of a running Go program against
// what the program says of itself, for the releases of Go and the ways to build
// that procfit claims to know; docs/evidence/live-values.md has the result. Programs of arm64 are
// not run, only decoded, and held against their symbol tables.
package live

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/internal/program/goproc/goproctest"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// result is what one run of a cell's program came to.
type result struct {
	cell
	setting string
	wrong   []string // what was read, and is not what the program says
}

// TestLive runs every cell's program with every setting, and with what the program
// does to its GOMAXPROCS then.
func TestLive(t *testing.T) {
	slow(t)
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("runs programs of linux/amd64")
	}
	fetch(t)
	var mu sync.Mutex
	var results []result
	t.Run("cells", func(t *testing.T) {
		for _, c := range plan(full()) {
			t.Run(c.String(), func(t *testing.T) {
				t.Parallel()
				path := c.build(t)
				var cache goproc.Cache
				for _, setting := range settings {
					r := result{c, setting, c.run(t, &cache, path, setting)}
					for _, wrong := range r.wrong {
						t.Errorf("GOMAXPROCS=%s: %s", setting, wrong)
					}
					mu.Lock()
					results = append(results, r)
					mu.Unlock()
				}
			})
		}
	})
	if want := possible(plan(full())) * len(settings); len(results) != want {
		t.Errorf("%d cells have an answer, want %d", len(results), want)
	}
	decoded := decodeSetting64(t)
	switch {
	case *update && (!full() || need.NewGo() != ""):
		t.Error("-update needs every cell: set PROCFIT_FULL=1, and not PROCFIT_GO")
	case *update && !t.Failed():
		must.OK(t, os.WriteFile(page, document(results, decoded, time.Now().UTC()), 0o644))
	}
}

// possible is how many cells can be built here: without a C compiler those that need
// one say so, and skip.
func possible(cells []cell) int {
	n := 0
	for _, c := range cells {
		if !c.mode.cgo() || need.Missing("gcc") == "" {
			n++
		}
	}
	return n
}

// run starts the program and returns what is read wrong of it: as it starts, after
// it has set GOMAXPROCS, and after it has gone back to the default.
func (c cell) run(t *testing.T, cache *goproc.Cache, path, setting string) (wrong []string) {
	t.Helper()
	var env []string
	if setting != "" {
		env = []string{"GOMAXPROCS=" + setting}
	}
	p, _ := goproctest.Start(t, path, env...)
	wrong = c.check(t, cache, p, setting != "")
	if says := p.Tell("5"); says.Procs != 5 {
		t.Fatalf("told to set GOMAXPROCS to 5, the probe says %d", says.Procs)
	}
	wrong = append(wrong, c.check(t, cache, p, true)...)
	if c.release.custom { // and there is runtime.SetDefaultGOMAXPROCS
		p.Tell("default")
		wrong = append(wrong, c.check(t, cache, p, false)...)
	}
	return append(wrong, c.checkGC(cache, p)...)
}

func (c cell) check(t *testing.T, cache *goproc.Cache, p *goproctest.Probe, custom bool) (wrong []string) {
	t.Helper()
	var live goproc.Live
	says := p.Quiet(func() {
		var err error
		if live, err = cache.Live(p.PID()); err != nil {
			t.Fatal(err)
		}
	})
	differ := func(what string, got, want any) {
		if got != want {
			wrong = append(wrong, fmt.Sprintf("%s is read as %v, want %v", what, got, want))
		}
	}
	source := goproc.Symbol
	if c.stripped {
		source = goproc.Decoded
	}
	differ("the source", live.Source, source)
	differ("the version", live.GoVersion, c.release.toolchain)
	differ("GOMAXPROCS", live.Procs, says.Procs)
	differ("the number of CPUs", live.NumCPU, says.NumCPU)
	differ("that the flag is known", live.Custom != nil, c.release.custom)
	if live.Custom != nil {
		differ("the flag", *live.Custom, custom)
	}
	differ("that latencies are known", live.Latency != nil, c.release.latency)
	if live.Latency != nil {
		differ("the latencies", goproctest.Latencies(live.Latency.Counts()), says.Latencies)
		differ("that there are any", live.Latency.Count() > 0, true)
	}
	return wrong
}

// checkGC compares what is read of the collector, after it has just run.
func (c cell) checkGC(cache *goproc.Cache, p *goproctest.Probe) (wrong []string) {
	says := p.Collect()
	got, err := cache.GC(p.PID())
	switch {
	case (err == nil) != c.release.collector:
		return []string{fmt.Sprintf("that the collector is known is %v, want %v: %v", err == nil, c.release.collector, err)}
	case err != nil:
		return nil
	case got.Cycles != says.Cycles || got.Pause != says.Pause || got.Last.UnixNano() != says.Last || !goproctest.About(got.Heap, says.Heap) || says.Cycles == 0:
		wrong = append(wrong, fmt.Sprintf("the collector is read as %+v, want %+v", got, says))
	}
	switch timed := says.Collecting >= 0; {
	case timed != (got.CPU != nil):
		wrong = append(wrong, fmt.Sprintf("that its times are known is %v, want %v", got.CPU != nil, timed))
	case timed && (!goproctest.Same(got.CPU.Collecting, says.Collecting) || !goproctest.Same(got.CPU.Busy, says.Busy)):
		wrong = append(wrong, fmt.Sprintf("the collector's times are read as %+v, want %+v", got.CPU, says))
	}
	return wrong
}
