package goproc

import (
	"debug/elf"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/procfit/procfit/test/must"
)

func TestLayoutOf(t *testing.T) {
	known := map[string]uint64{ // its npidle; 0: not known
		"go1.20": 0x58, "go1.20.14": 0x58, "go1.21.0": 0x58, "go1.24.13": 0x58,
		"go1.25.0": 0x60, "go1.25rc1": 0x60, "go1.26.8": 0x70, "go1.27.1": 0x70,
		"go1.26.1 X:nodwarf5": 0x70, "go1.26.1 X:nodwarf5,jsonv2": 0x70, "go1.25.3-custom": 0x60, "go1.27.0-X:nodwarf5,jsonv2": 0x70,
		"go1.22.9 (Red Hat 1.22.9-1.el9)": 0x58, "go1.24.1 X:boringcrypto custom": 0x58,

		"": 0, "go": 0, "go1.18.10": 0, "go1.19.13": 0, "go1.28.0": 0, "go2.0": 0, "1.26.1": 0, "go1.26.1.1": 0,
		"go1.26.1 X:staticlockranking": 0, "go1.26.1 X:nodwarf5,staticlockranking": 0, "go1.26beta1": 0, "go1.27.0-X:staticlockranking": 0,
		"devel go1.26-abcdef Sat May 24 10:00:00 2025 +0000": 0, "go1.26-devel_3fd729b2a1 Sat May 24": 0, "devel +abc": 0,
	}
	for v, want := range known {
		l, ok := layoutOf(v)
		if ok != (want != 0) || l.npidle != want {
			t.Errorf("%q: npidle at %#x, %v; want %#x", v, l.npidle, ok, want)
		}
	}
}

// TestFindMore finds the number of CPUs and runtime.sched, or knows neither; never
// another address, and gomaxprocs all the same.
func TestFindMore(t *testing.T) {
	const none = 0
	use := func(name string, r ...ref) func(*world) {
		return func(w *world) { w.functions[name] = r }
	}
	alsoUse := func(name string, r ...ref) func(*world) {
		return func(w *world) { w.functions[name] = append(w.functions[name], r...) }
	}
	symbols := func(size uint64, s map[string]uint64) func(*world) {
		return func(w *world) {
			w.symbols, w.schedSize = s, size
			s["runtime.gomaxprocs"] = worldVar
		}
	}
	same := func(*world) {}
	for _, tt := range []struct {
		name, version string
		edit          func(*world)
		cpus, sched   uint64
	}{
		{"stripped", worldVersion, same, worldCPUs, worldSched},
		{"another experiment", worldVersion + " X:jsonv2", same, worldCPUs, worldSched},
		{"another layout", "go1.25.0", same, worldCPUs, none},
		{"an older layout", "go1.24.6", same, worldCPUs, none},
		{"an unknown version", "go1.28.0", same, worldCPUs, none},
		{"no version", "", same, worldCPUs, none},
		{"osinit stores nothing", worldVersion, use(osinit, ref{load, 4, worldCPUs}), none, worldSched},
		{"osinit stores another first", worldVersion, use(osinit, ref{store, 4, worldVar + 40}, ref{store, 4, worldCPUs}), none, worldSched},
		{"no osinit", worldVersion, func(w *world) { delete(w.functions, osinit) }, none, worldSched},
		{"gcStart reads no number of CPUs", worldVersion, use(gcStart, loads4(worldVar)...), none, worldSched},
		{"schedinit reads no number of CPUs", worldVersion, use(schedinit, ref{store, 1, worldSched + 0x158}), none, worldSched},
		{"no casgstatus", worldVersion, func(w *world) { delete(w.functions, casgstatus) }, worldCPUs, none},
		{"a histogram of another size", worldVersion, use(casgstatus, ref{address, 0, worldSched + 0x168}, ref{address, 0, worldSched + 0x688}), worldCPUs, none},
		{"a histogram elsewhere", worldVersion, use(casgstatus, ref{address, 0, worldSched + 0x170}, ref{address, 0, worldSched + 0x680}), worldCPUs, none},
		{"schedtrace without nmidle", worldVersion, func(w *world) {
			refs := w.functions[schedtrace]
			w.functions[schedtrace] = slices.DeleteFunc(refs, func(r ref) bool { return r.addr == worldSched+0x40 })
		}, worldCPUs, none},
		{"schedtrace locks another", worldVersion, func(w *world) {
			refs := w.functions[schedtrace]
			refs[len(refs)-1].addr += 8
		}, worldCPUs, none},
		{"schedtrace without optimisation", worldVersion, use(schedtrace, ref{address, 0, worldSched + 0x70}, ref{address, 0, worldSched + 0x74},
			ref{address, 0, worldSched + 0x78}, ref{load, 4, worldSched + 0x40}, ref{load, 4, worldVar}, ref{address, 0, worldSched + 0x20}), worldCPUs, worldSched},
		{"procresize sets another time", worldVersion, use(procresize, ref{load, 4, worldVar}, ref{store, 8, worldSched + 0x138}), worldCPUs, none},
		{"schedinit sets no flag", worldVersion, use(schedinit, ref{load, 4, worldCPUs}), worldCPUs, none},
		{"two that fit", worldVersion, func(w *world) {
			for n, refs := range w.functions {
				for _, r := range refs {
					if r.addr >= worldSched {
						r.addr += 8
						w.functions[n] = append(w.functions[n], r)
					}
				}
			}
		}, worldCPUs, none},
		{"one that fits twice", worldVersion, alsoUse(casgstatus, ref{address, 0, worldSched + 0x168}), worldCPUs, worldSched},
		{"beyond its segment", worldVersion, func(w *world) {
			for _, refs := range w.functions {
				for i := range refs {
					if refs[i].addr >= worldSched {
						refs[i].addr += 0x1000
					}
				}
			}
		}, worldCPUs, none},

		{"symbols", worldVersion, symbols(0x1ad8, map[string]uint64{"runtime.sched": worldSched, "runtime.numCPUStartup": worldCPUs}), worldCPUs, worldSched},
		{"symbol ncpu", worldVersion, symbols(0x1ad8, map[string]uint64{"runtime.ncpu": worldCPUs}), worldCPUs, none},
		{"symbols ncpu and numCPUStartup", worldVersion, symbols(0x1ad8, map[string]uint64{"runtime.ncpu": worldVar + 40, "runtime.numCPUStartup": worldCPUs}), worldCPUs, none},
		{"symbol of another size", worldVersion, symbols(0x1ae0, map[string]uint64{"runtime.sched": worldSched}), none, none},
		{"symbol of no size", worldVersion, symbols(0, map[string]uint64{"runtime.sched": worldSched}), none, none},
		{"symbol of no size, unknown version", "go1.28.0", symbols(0, map[string]uint64{"runtime.sched": worldSched}), none, none},
		{"symbol outside", worldVersion, symbols(0x1ad8, map[string]uint64{"runtime.sched": worldSched + 0x1000, "runtime.ncpu": worldText}), none, none},
		{"only gomaxprocs", worldVersion, symbols(0x1ad8, map[string]uint64{}), none, none},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := goodWorld()
			tt.edit(&w)
			at, err := find(w.bytes(), tt.version)
			if err != nil || at.Procs != worldVar || at.NumCPU != tt.cpus || at.Sched != tt.sched {
				t.Errorf("%+v, %v; want CPUs at %#x, sched at %#x", at, err, tt.cpus, tt.sched)
			}
		})
	}
}

// goodSched is what layout.parse reads of a program of 4 procs at 1000 s.
func goodSched(l layout) []byte {
	from, to := l.span()
	b := make([]byte, to-from)
	le := binary.LittleEndian
	le.PutUint32(b, 4)
	le.PutUint64(b[l.procresizetime-from:], 999e9)
	if l.custom != 0 {
		b[l.custom-from] = 1
	}
	le.PutUint64(b[l.timeToRun-from+8*5:], 7)
	return b
}

func TestParseSched(t *testing.T) {
	l, _ := layoutOf(worldVersion)
	from, _ := l.span()
	put32 := func(off uint64, v int32) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint32(b[off-from:], uint32(v)) }
	}
	put64 := func(off uint64, v int64) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint64(b[off-from:], uint64(v)) }
	}
	for _, tt := range []struct {
		name string
		edit func([]byte)
		ok   bool
	}{
		{"good", func([]byte) {}, true},
		{"all run", put32(l.npidle, 0), true},
		{"more idle than there are", put32(l.npidle, 5), false},
		{"negative idle", put32(l.npidle, -1), false},
		{"more spin than there are", put32(l.npidle+4, 5), false},
		{"a boolean of 2", put32(l.npidle+8, 2), false},
		{"never resized", put64(l.procresizetime, 0), false},
		{"resized in the future", put64(l.procresizetime, 1001e9), false},
		{"negative total", put64(l.procresizetime+8, -1), false},
		{"flag of 2", func(b []byte) { b[l.custom-from] = 2 }, false},
		{"a pointer for a count", put64(l.timeToRun+80, math.MaxInt64/8), false},
	} {
		b := goodSched(l)
		tt.edit(b)
		custom, latency, ok := l.parse(b, 4, 1000e9)
		if ok != tt.ok || (custom != nil) != ok || (latency != nil) != ok {
			t.Errorf("%s: %v, %v, %v", tt.name, custom, latency, ok)
		}
		if ok && (!*custom || latency.Count() != 7) {
			t.Errorf("%s: custom %v, %d events", tt.name, *custom, latency.Count())
		}
	}
	older, _ := layoutOf("go1.24.6")
	if custom, latency, ok := older.parse(goodSched(older), 4, 1000e9); !ok || custom != nil || latency.Count() != 7 {
		t.Errorf("go1.24: %v, %v, %v", custom, latency, ok)
	}
	if _, _, ok := l.parse(goodSched(l)[1:], 4, 1000e9); ok {
		t.Error("read from too little")
	}
}

func FuzzParseSched(f *testing.F) {
	for _, v := range []string{"go1.21.0", "go1.24.0", "go1.25.0", worldVersion} {
		l, _ := layoutOf(v)
		f.Add(goodSched(l), v, 4, int64(1000e9))
	}
	f.Fuzz(func(t *testing.T, b []byte, goVersion string, procs int, now int64) {
		l, known := layoutOf(goVersion)
		if !known {
			if l != (layout{}) {
				t.Errorf("%q is not known, and has %+v", goVersion, l)
			}
			return
		}
		custom, latency, ok := l.parse(b, procs, now)
		if ok != (latency != nil) || ok && l.custom != 0 && custom == nil || !ok && custom != nil {
			t.Errorf("%v, %v, %v", custom, latency, ok)
		}
	})
}

// FuzzVoteSched makes functions of any bytes.
func FuzzVoteSched(f *testing.F) {
	good := goodWorld().bytes()[worldText:]
	f.Add(good[:256], uint8(40), worldVersion)
	f.Add(good[:64], uint8(3), "go1.21.0")
	f.Fuzz(func(t *testing.T, code []byte, step uint8, goVersion string) {
		l, ok := layoutOf(goVersion)
		if !ok {
			return
		}
		for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64} {
			decode := must.Get(refsOf(machine))(t)
			refs := make(map[string][]ref)
			for i, name := range decoded() {
				from := min(i*int(step), len(code))
				refs[name] = decode(code[from:], worldText+uint64(from))
			}
			if at := voteSched(refs, l); at != 0 && !reads(refs[schedtrace], 4, at+l.npidle) {
				t.Errorf("sched at %#x, where schedtrace reads nothing", at)
			}
			if at := voteNumCPU(refs); at != 0 && !reads(refs[schedinit], 4, at) {
				t.Errorf("the number of CPUs at %#x, which schedinit does not read", at)
			}
		}
	})
}
