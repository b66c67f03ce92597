package goproc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math"
	"testing"
	"time"
)

var gcNow = clocks{unix: 1_800_000_000e9, monotonic: 5000e9}

// goodMemstats is runtime.memstats after so many cycles, one a second, the last of them
// ten seconds ago.
func goodMemstats(cycles uint32) []byte {
	b := make([]byte, memstatsSize)
	le := binary.LittleEndian
	if cycles == 0 {
		return b
	}
	last := gcNow.unix - 10e9
	for n := range min(cycles, gcRing) {
		c := cycles - 1 - n
		le.PutUint64(b[pauseEnds+8*(c%gcRing):], last-uint64(n)*1e9)
	}
	le.PutUint64(b, last)
	le.PutUint64(b[pauseTotal:], uint64(cycles)*50_000)
	le.PutUint32(b[gcCycles:], cycles)
	le.PutUint64(b[gcFraction:], math.Float64bits(float64(700-40)/10_000))
	le.PutUint64(b[gcNanotime:], gcNow.monotonic-10e9)
	le.PutUint64(b[gcHeap:], 4<<20)
	return b
}

// goodCPUStats belong to it.
func goodCPUStats() []byte {
	b := make([]byte, cpuStatsSize)
	for i, t := range []int64{100, 500, 40, 60, 700, 3, 4, 7, 2000, 7293, 10_000} {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(t)*1e6)
	}
	return b
}

func TestParseMemstats(t *testing.T) {
	le := binary.LittleEndian
	put := func(off int, v uint64) func([]byte) { return func(b []byte) { le.PutUint64(b[off:], v) } }
	for name, tc := range map[string]struct {
		cycles uint32
		edit   func([]byte)
		ok     bool
	}{
		"none yet":                   {0, nil, true},
		"none, and a pause":          {0, put(pauseTotal, 1), false},
		"one":                        {1, nil, true},
		"as many as are kept":        {256, nil, true},
		"more than are kept":         {1000, nil, true},
		"another end in the ring":    {7, put(0, gcNow.unix-11e9), false},
		"the end of another cycle":   {7, func(b []byte) { le.PutUint32(b[gcCycles:], 6) }, false},
		"small numbers":              {7, func(b []byte) { le.PutUint64(b, 8); le.PutUint64(b[pauseEnds+48:], 8) }, false},
		"in the future":              {7, func(b []byte) { le.PutUint64(b, gcNow.unix+1); le.PutUint64(b[pauseEnds+48:], gcNow.unix+1) }, false},
		"by the other clock":         {7, put(gcNanotime, gcNow.monotonic+1), false},
		"a runtime.MemStats":         {7, put(gcNanotime, 1), false},
		"a runtime.MemStats, at off": {7, put(gcNanotime, 0), false},
		"no heap":                    {7, put(gcHeap, 0), false},
		"a pointer for a heap":       {7, put(gcHeap, 1<<49), false},
		"no pause":                   {7, put(pauseTotal, 0), false},
		"a share above all":          {7, put(gcFraction, math.Float64bits(1.01)), false},
		"no number":                  {7, put(gcFraction, math.Float64bits(math.NaN())), false},
		"more forced than all":       {7, func(b []byte) { le.PutUint32(b[gcForced:], 8) }, false},
	} {
		b := goodMemstats(tc.cycles)
		if tc.edit != nil {
			tc.edit(b)
		}
		m, ok := parseMemstats(b, gcNow)
		if ok != tc.ok {
			t.Errorf("%s: %+v, %v", name, m, ok)
			continue
		}
		if !ok || tc.cycles == 0 {
			continue
		}
		first := m.Last.Add(-time.Duration(tc.cycles-1) * time.Second)
		if tc.cycles > gcRing {
			first = time.Time{}
		}
		if m.Cycles != int64(tc.cycles) || m.Heap != 4<<20 || m.Pause != time.Duration(tc.cycles)*50*time.Microsecond || !m.First.Equal(first) {
			t.Errorf("%s: %+v, want %d cycles, the first at %s", name, m, tc.cycles, first)
		}
	}
	if _, ok := parseMemstats(goodMemstats(3)[1:], gcNow); ok {
		t.Error("read from too little")
	}
}

func TestParseCPUStats(t *testing.T) {
	m, _ := parseMemstats(goodMemstats(7), gcNow)
	put := func(i int, ms int64) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint64(b[8*i:], uint64(ms)*1e6) }
	}
	for name, tc := range map[string]struct {
		edit func([]byte)
		ok   bool
	}{
		"good":                       {func([]byte) {}, true},
		"a cycle has begun":          {func(b []byte) { put(3, 61)(b); put(4, 701)(b) }, true},
		"by as much as its pauses":   {func(b []byte) { put(3, 200)(b); put(4, 840)(b) }, true},
		"of another share":           {func(b []byte) { put(1, 600)(b); put(4, 800)(b) }, false},
		"behind the share":           {func(b []byte) { put(1, 499)(b); put(4, 699)(b) }, false},
		"no sum":                     {put(4, 701), false},
		"no sum of the scavenger's":  {put(7, 8), false},
		"negative":                   {put(0, -1), false},
		"negative, as the rest may":  {func(b []byte) { put(8, 9294)(b); put(9, -1)(b) }, true},
		"idle for more than was":     {put(8, 10_001), false},
		"no time at all":             {put(10, 0), false},
		"without a pause":            {func(b []byte) { put(3, 0)(b); put(4, 640)(b) }, false},
		"larger than any program is": {put(10, math.MaxInt64/8/1_000_000+1), false},
	} {
		b := goodCPUStats()
		tc.edit(b)
		got, ok := parseCPUStats(b, m)
		if ok != tc.ok || name == "good" && got != (GCTime{660 * time.Millisecond, 8 * time.Second}) {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
	if got, ok := parseCPUStats(make([]byte, cpuStatsSize), memstats{}); !ok || got != (GCTime{}) {
		t.Errorf("before the first cycle: %+v, %v", got, ok)
	}
}

// TestFindGC finds both among a program's variables, beside what looks like them.
func TestFindGC(t *testing.T) {
	const vaddr, bias = 0x5000, 0x7f00_0000_0000
	variables := func(put map[int][]byte) *bytes.Reader {
		b := make([]byte, bias0+3*scanChunk)
		for at, what := range put {
			copy(b[bias0+at:], what)
		}
		return bytes.NewReader(b)
	}
	img := &image{segments: []elf.Prog64{
		{Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: 0, Memsz: vaddr},
		{Flags: uint32(elf.PF_R | elf.PF_W), Vaddr: vaddr, Filesz: 0x100, Memsz: 3 * scanChunk},
	}}
	users := goodMemstats(7) // a runtime.MemStats
	binary.LittleEndian.PutUint64(users[gcNanotime:], 1)
	stale := goodCPUStats() // of a cycle before
	binary.LittleEndian.PutUint64(stale[8*10:], 9000e6)
	across := scanChunk - 1024 // lies in two pieces
	for name, tc := range map[string]struct {
		put     map[int][]byte
		at      uint64 // 0: not found
		withCPU bool
	}{
		"both":              {map[int][]byte{0x800: goodMemstats(7), 0x4000: goodCPUStats()}, vaddr + 0x800, true},
		"across two reads":  {map[int][]byte{across: goodMemstats(7), 2*scanChunk - 40: goodCPUStats()}, vaddr + uint64(across), true},
		"at the end":        {map[int][]byte{3*scanChunk - memstatsSize: goodMemstats(300)}, vaddr + 3*scanChunk - memstatsSize, false},
		"with the user's":   {map[int][]byte{0x800: users, 0x2000: goodMemstats(7), 0x4000: stale, 0x5000: goodCPUStats()}, vaddr + 0x2000, true},
		"a copy of metrics": {map[int][]byte{0x800: goodMemstats(7), 0x4000: goodCPUStats(), 0x6000: goodCPUStats()}, vaddr + 0x800, true},
		"two that fit":      {map[int][]byte{0x800: goodMemstats(7), 0x4000: goodMemstats(7)}, 0, false},
		"not in a word":     {map[int][]byte{0x804: goodMemstats(7)}, 0, false},
		"nothing has run":   {nil, 0, false},
	} {
		mem := &shifted{variables(tc.put), bias + vaddr - bias0}
		var a gcAddresses
		err := a.find(mem, img, bias, gcNow)
		if (err == nil) != (tc.at != 0) || a.memstats != tc.at {
			t.Errorf("%s: at %#x, %v; want %#x", name, a.memstats, err, tc.at)
			continue
		}
		if err != nil {
			continue
		}
		g, whole := a.read(mem, img, bias, gcNow)
		if !whole || g == nil || g.Cycles < 7 || (g.CPU != nil) != tc.withCPU {
			t.Errorf("%s: read %+v, %v", name, g, whole)
		}
	}
}

// A program in which the collector has not run is not searched at every look, and where
// symbols tell the variable no other is.
func TestSearchesAreRare(t *testing.T) {
	const vaddr, at = 0x5000, 0x2000
	b := make([]byte, 3*scanChunk)
	img := &image{segments: []elf.Prog64{{Flags: uint32(elf.PF_R | elf.PF_W), Vaddr: vaddr, Memsz: uint64(len(b))}}}
	mem := &counting{shifted: shifted{bytes.NewReader(b), vaddr}}
	var a gcAddresses
	look := func() (read int64, err error) {
		mem.read = 0
		defer a.begin()()
		err = a.find(mem, img, 0, gcNow)
		return mem.read, err
	}
	if read, err := look(); err == nil || read < int64(len(b)) {
		t.Errorf("%v after %d bytes of %d", err, read, len(b))
	}
	if !a.vain.rest.After(time.Now().Add(-time.Second)) {
		t.Errorf("no rest after it: %v", a.vain.rest)
	}
	a.vain.rest = time.Now().Add(time.Hour) // it is short, and this machine may be busy
	copy(b[at:], goodMemstats(7))
	copy(b[2*at:], goodMemstats(7))
	if read, err := look(); err == nil || read != 0 {
		t.Errorf("%v, and %d bytes were read at once again", err, read)
	}
	a.vain.rest, a.inMemstats = time.Time{}, variable{vaddr + at, memstatsSize + 64}
	if read, err := look(); err != nil || a.memstats != vaddr+at || read > memstatsSize+64 {
		t.Errorf("%v at %#x after %d bytes; want %#x", err, a.memstats, read, vaddr+at)
	}
}

// counting counts the bytes that are read.
type counting struct {
	shifted
	read int64
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.shifted.ReadAt(p, off)
	c.read += int64(n)
	return n, err
}

const bias0 = 64

// shifted is a reader whose bytes begin at an offset.
type shifted struct {
	r    *bytes.Reader
	from int64
}

func (s *shifted) ReadAt(p []byte, off int64) (int, error) { return s.r.ReadAt(p, off-s.from) }

func TestGCSince(t *testing.T) {
	at := time.Unix(1000, 0)
	before := &GC{Cycles: 3, Pause: time.Second, CPU: &GCTime{time.Second, 4 * time.Second}}
	after := GC{Cycles: 5, First: at.Add(time.Second), Pause: 3 * time.Second, CPU: &GCTime{2 * time.Second, 10 * time.Second}}
	late := after
	late.First = at.Add(-time.Second)
	unknown := after
	unknown.First = time.Time{}
	for name, tc := range map[string]struct {
		after  GC
		before *GC
		cycles int64
		busy   time.Duration
		ok     bool
	}{
		"between two":               {after, before, 2, 6 * time.Second, true},
		"all of it":                 {after, nil, 5, 10 * time.Second, true},
		"one was before":            {late, nil, 0, 0, false},
		"when is not known":         {unknown, nil, 0, 0, false},
		"none at all":               {GC{CPU: &GCTime{}}, nil, 0, 0, true},
		"another process":           {GC{Cycles: 1}, before, 0, 0, false},
		"nothing between":           {*before, before, 0, 0, true},
		"times are not known there": {GC{Cycles: 4, Pause: time.Second}, before, 1, -1, true},
	} {
		s, ok := tc.after.Since(tc.before, at)
		busy := time.Duration(-1)
		if s.CPU != nil {
			busy = s.CPU.Busy
		}
		if ok != tc.ok || ok && (s.Cycles != tc.cycles || busy != tc.busy) {
			t.Errorf("%s: %+v, %v", name, s, ok)
		}
	}
}

func FuzzParseGC(f *testing.F) {
	for _, cycles := range []uint32{0, 1, 7, 256, 1000} {
		f.Add(goodMemstats(cycles), goodCPUStats())
	}
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, b, cpu []byte) {
		m, ok := parseMemstats(b, gcNow)
		if !ok {
			return
		}
		if m.Cycles < 0 || m.Pause < 0 || m.Heap < 0 || !m.First.IsZero() && m.First.After(m.Last) || m.Last.After(time.Unix(0, int64(gcNow.unix))) {
			t.Errorf("%+v", m)
		}
		if times, ok := parseCPUStats(cpu, m); ok && (times.Collecting < 0 || times.Busy < 0) {
			t.Errorf("%+v", times)
		}
	})
}
