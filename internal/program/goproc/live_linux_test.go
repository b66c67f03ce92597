//go:build !portable

package goproc

import (
	"cmp"
	"errors"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/program/goproc/goproctest"
	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/child"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

func build(t testing.TB, env []string, args ...string) string {
	t.Helper()
	return goproctest.Build{Env: env, Args: args}.Run(t)
}

// pieReason is why position-independent programs belong to the second tier.
const pieReason = "compiles the standard library again, as position-independent code; TestLoadBias reads a program that is loaded elsewhere than its file says"

// TestDataIn: a file with holes is no larger than its data.
func TestDataIn(t *testing.T) {
	f := must.Get(os.Create(t.TempDir() + "/sparse"))(t)
	defer f.Close()
	const part, size = 1 << 20, 1 << 40
	for _, at := range []int64{0, size / 2} {
		must.Get(f.WriteAt(make([]byte, part), at))(t)
	}
	must.OK(t, f.Truncate(size))
	if n := dataIn(f, size); n < 2*part || n > 4*part {
		need.Skip(t, "this file system has no holes")
	}
	if n := dataIn(f, part); n != part {
		t.Errorf("%d bytes of data in the first %d", n, part)
	}
	for data, want := range map[int64]int64{0: spareRead, part: spareRead + 2*part, size: maxRead} {
		if got := most(data); got != want {
			t.Errorf("of %d bytes %d are read, want %d", data, got, want)
		}
	}
}

// TestSafe: no address between the look at the write barrier's flag and the store that it
// decides about is safe, in any release: a call there would let the flag change in between.
func TestSafe(t *testing.T) {
	releases := []string{""}
	if need.Whole() {
		releases = append(releases, "go1.17.13", "go1.18.10", "go1.19.13", "go1.20.14", "go1.21.13", "go1.22.12", "go1.23.12", "go1.24.13", "go1.25.14", "go1.26.11", "go1.27.4")
	}
	if runtime.GOARCH != "amd64" {
		need.Skip(t, "it reads instructions of amd64")
	}
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			p := built.Program{Name: "stores", Env: []string{"CGO_ENABLED=0", "GOFLAGS="}, Files: map[string]string{
				"go.mod":  "module example.com/stores\n\ngo 1.17\n",
				"main.go": "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() {\n\tfmt.Println(1)\n\t_, _ = os.Stdin.Read(make([]byte, 1))\n}\n",
			}}
			if release != "" {
				p.Env = append(p.Env, "GOTOOLCHAIN="+release, "GOENV=off")
			}
			path := p.Run(t)
			c := child.Start(t, exec.Command(path))
			c.Line()
			x := must.Get(new(Cache).Text(c.PID()))(t)
			defer x.Close()
			barriers, safe := 0, 0
			code := instructions(t, path)
			for i, at := range code {
				if x.Safe(at.pc) {
					safe++
				}
				if !strings.Contains(at.text, "CMPL runtime.writeBarrier(SB), $0x0") {
					continue
				}
				barriers++
				for _, pc := range barrier(t, code, i+1) {
					if x.Safe(pc) {
						t.Errorf("%#x, of the barrier at %#x, is safe", pc, at.pc)
					}
				}
			}
			if barriers < 100 || safe < len(code)/2 {
				t.Errorf("%d barriers; %d of %d instructions are safe", barriers, safe, len(code))
			}
			t.Logf("%d barriers; %d of %d instructions are safe", barriers, safe, len(code))
		})
	}
}

// instruction is one of go tool objdump.
type instruction struct {
	pc   uint64
	text string
}

// instructions are those of a program outside of the runtime, in the order of their addresses.
func instructions(t *testing.T, path string) (all []instruction) {
	t.Helper()
	out := must.Get(exec.Command("go", "tool", "objdump", "-s", `^(fmt|os|strconv|sync|unicode/utf8|io|io/fs|errors|time|main|internal/poll|internal/fmtsort|sort|slices)\.`, path).Output())(t)
	for line := range strings.Lines(string(out)) {
		// "  print.go:12	0x47f2c0	493b6610	CMPQ SP, 0x10(R14)", with tabs that are doubled
		if f := strings.Fields(line); len(f) > 3 && strings.HasPrefix(f[1], "0x") {
			if pc, err := strconv.ParseUint(f[1], 0, 64); err == nil {
				all = append(all, instruction{pc, strings.Join(f[3:], " ")})
			}
		}
	}
	return all
}

// barrier returns the addresses of a jump that looks at the flag of the write barrier, of what
// comes next on both ways, and of all up to the call of the barrier.
func barrier(t *testing.T, code []instruction, jump int) []uint64 {
	t.Helper()
	for strings.HasPrefix(code[jump].text, "MOV") || strings.HasPrefix(code[jump].text, "LEA") || strings.HasPrefix(code[jump].text, "NOP") {
		jump++
	}
	name, target, _ := strings.Cut(code[jump].text, " ")
	to, err := strconv.ParseUint(target, 0, 64)
	if err != nil || name != "JNE" && name != "JE" {
		t.Fatalf("%+v is not the jump of a barrier", code[jump])
	}
	pcs := []uint64{code[jump].pc, code[jump+1].pc, to}
	on := jump + 1 // where the barrier is called
	if name == "JNE" {
		on, _ = slices.BinarySearchFunc(code, to, func(i instruction, pc uint64) int { return cmp.Compare(i.pc, pc) })
	}
	for ; ; on++ {
		pcs = append(pcs, code[on].pc)
		if strings.HasPrefix(code[on].text, "CALL runtime.") {
			return pcs
		}
	}
}

// TestLive compares what is read with what the program says of itself, for each
// way of building it; see package test/live for other releases of Go.
func TestLive(t *testing.T) {
	for _, mode := range []struct {
		name string
		env  []string
		args []string
	}{
		{"exe", []string{"CGO_ENABLED=0"}, nil},
		{"pie", []string{"CGO_ENABLED=0"}, []string{"-buildmode=pie"}},
		{"cgo", []string{"CGO_ENABLED=1"}, nil},
		{"cgopie", []string{"CGO_ENABLED=1"}, []string{"-buildmode=pie"}},
	} {
		for _, stripped := range []bool{false, true} {
			name, args, source := mode.name, mode.args, Symbol
			if stripped {
				name, args, source = name+"/stripped", append(args, "-ldflags=-s -w"), Decoded
			}
			t.Run(name, func(t *testing.T) {
				if strings.HasSuffix(mode.name, "pie") {
					need.Everything(t, pieReason)
				}
				t.Parallel()
				if strings.HasPrefix(mode.name, "cgo") {
					need.Command(t, "gcc")
				}
				path := build(t, mode.env, args...)
				file := must.Get(os.Open(path))(t)
				defer file.Close()
				if _, err := Locate(file, endless{}, 0); err != nil {
					t.Errorf("without the memory of a process: %v", err)
				}
				var cache Cache
				for _, env := range [][]string{nil, {"GOMAXPROCS=1"}, {"GOMAXPROCS=3"}} {
					p, _ := goproctest.Start(t, path, env...)
					check(t, &cache, p, source, env != nil)
					p.Tell("5")
					if got := check(t, &cache, p, source, true); got != 5 {
						t.Errorf("%v: after GOMAXPROCS(5) the probe says %d", env, got)
					}
					p.Tell("default")
					check(t, &cache, p, source, false)
					checkGC(t, &cache, p)
				}
				if len(cache.files) != 1 {
					t.Errorf("%d files in the cache, want 1", len(cache.files))
				}
			})
		}
	}
}

// TestLiveOtherVersion reads a program whose build wrote another text in place of the release.
func TestLiveOtherVersion(t *testing.T) {
	p, _ := goproctest.Start(t, build(t, []string{"CGO_ENABLED=0"}, "-ldflags=-X=runtime.buildVersion=unknown"), "GOMAXPROCS=3")
	if live, err := new(Cache).Live(p.PID()); err != nil || live.Procs != 3 || live.GoVersion != "" || live.MainModule != goproctest.Module {
		t.Errorf("%+v, %v", live, err)
	}
}

func check(t *testing.T, c *Cache, p *goproctest.Probe, source Source, custom bool) int {
	t.Helper()
	var live Live
	says := p.Quiet(func() {
		var err error
		if live, err = c.Live(p.PID()); err != nil {
			t.Fatal(err)
		}
	})
	if live.Procs != says.Procs || live.NumCPU != says.NumCPU || live.Source != source {
		t.Errorf("read %d of %d CPUs by %s, the program says %d of %d, want source %s",
			live.Procs, live.NumCPU, live.Source, says.Procs, says.NumCPU, source)
	}
	if live.Custom == nil || *live.Custom != custom {
		t.Errorf("read custom %v, want %v", live.Custom, custom)
	}
	if live.Latency == nil {
		t.Error("read no latencies")
	} else if got := goproctest.Latencies(live.Latency.Counts()); got != says.Latencies || live.Latency.Count() == 0 {
		t.Errorf("read latencies\n%s, the program says\n%s", got, says.Latencies)
	}
	if live.GoVersion != runtime.Version() || live.MainModule != goproctest.Module {
		t.Errorf("read version %q, module %q", live.GoVersion, live.MainModule)
	}
	return says.Procs
}

// checkGC compares what is read of the collector with what the program says of it, which
// has a runtime.MemStats of its own among its variables.
func checkGC(t *testing.T, c *Cache, p *goproctest.Probe) {
	t.Helper()
	for range 2 {
		says := p.Collect()
		got, err := c.GC(p.PID())
		if err != nil {
			t.Errorf("the collector: %v; the program says %+v", err, says)
			return
		}
		if got.Cycles != says.Cycles || got.Pause != says.Pause || got.Last.UnixNano() != says.Last || got.Cycles < 1 || got.First.IsZero() || got.First.After(got.Last) || !goproctest.About(got.Heap, says.Heap) {
			t.Errorf("the collector is read as %+v, the program says %+v", got, says)
		}
		if got.CPU == nil || !goproctest.Same(got.CPU.Collecting, says.Collecting) || !goproctest.Same(got.CPU.Busy, says.Busy) {
			t.Errorf("its times are read as %+v, the program says %+v", got.CPU, says)
		}
	}
}

// TestMemoryLimit reads what the environment and the code of a program have set, for this
// release, and in the second tier, which has their toolchains, for all that are known.
func TestMemoryLimit(t *testing.T) {
	releases, args := []string{""}, []string(nil)
	if need.Full() {
		releases = append(releases, "go1.21.13", "go1.22.12", "go1.23.12", "go1.24.13", "go1.25.14", "go1.26.11", "go1.27.4")
		args = []string{"-buildmode=pie"}
	}
	for _, release := range releases {
		t.Run("release "+release, func(t *testing.T) {
			t.Parallel()
			path := goproctest.Build{Toolchain: release, Env: []string{"CGO_ENABLED=0"}, Args: args}.Run(t)
			var cache Cache
			for env, want := range map[string]int64{"GOMEMLIMIT=": math.MaxInt64, "GOMEMLIMIT=off": math.MaxInt64, "GOMEMLIMIT=123MiB": 123 << 20} {
				p, _ := goproctest.Start(t, path, env)
				if n, err := cache.MemoryLimit(p.PID()); err != nil || n != want {
					t.Errorf("%s: %d, %v", env, n, err)
				}
				p.Tell("limit 77000000")
				if n, err := cache.MemoryLimit(p.PID()); err != nil || n != 77000000 {
					t.Errorf("%s, then set in code: %d, %v", env, n, err)
				}
			}
		})
	}
	p, _ := goproctest.Start(t, build(t, []string{"CGO_ENABLED=0"}, "-ldflags=-s -w"))
	if n, err := new(Cache).MemoryLimit(p.PID()); !errors.Is(err, ErrUndecodable) {
		t.Errorf("of a stripped program: %d, %v", n, err)
	}
}
