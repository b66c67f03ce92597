package goproc

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// GC is what a program's garbage collector has done since the program began, or between two
// readings. Of a cycle that has not ended it tells nothing.
type GC struct {
	Cycles int64
	First  time.Time     // when the first one ended; zero: none has, or it is too long ago to be known
	Last   time.Time     // when the last one ended; zero: none has
	Pause  time.Duration // the world was stopped for, in all cycles together
	Heap   int64         // bytes of the heap in use when the last cycle ended, the garbage of it too; 0: none has
	CPU    *GCTime       // nil: not known
}

// GCTime is time of Ps, as the runtime counts it and as of the last cycle: the wall time
// in which they did something, whether or not their threads had a CPU.
type GCTime struct {
	Collecting time.Duration // marking, but for that of idle Ps, and pauses, which count for every P
	Busy       time.Duration // with anything
}

// Where runtime.memstats has what is read of it: from last_gc_unix to lastHeapInUse
// (type mstats in runtime/mstats.go, Go 1.19 and newer). Rings of the last pauses, and of
// when they ended, have that of cycle n at n modulo their length.
const (
	gcRing       = 256
	pauseTotal   = 8
	pauseEnds    = 16 + 8*gcRing
	gcCycles     = 16 + 16*gcRing // uint32
	gcForced     = gcCycles + 4   // uint32
	gcFraction   = gcCycles + 8   // float64
	gcNanotime   = gcCycles + 16
	gcHeap       = gcCycles + 24
	memstatsSize = gcCycles + 32
)

// memoryLimit is where runtime.gcController has GOMEMLIMIT: the 8 bytes after gcPercent and
// its padding (type gcControllerState in runtime/mgcpacer.go, Go 1.19 to 1.27). Only the
// symbol table tells where that is.
const memoryLimit = 8

var errNoMemoryLimit = fmt.Errorf("%w: GOMEMLIMIT is found only by the symbol table, and only for Go 1.20 to 1.27", ErrUndecodable)

// earliest is before any cycle ended: 2001, in Unix nanoseconds. Smaller numbers are of all
// kinds.
const earliest = 1e18

// mostHeap is the address space of a process, in bytes.
const mostHeap = 1 << 48

// clocks are what the runtime's own would show.
type clocks struct{ unix, monotonic uint64 }

type memstats struct {
	GC
	fraction float64 // of the CPU time since the start that the collector used
}

// parseMemstats reads that part. It is false where it does not add up: the last cycle's
// end is in two places, and both clocks have passed it. A runtime.MemStats of the
// program's own, which is laid out the same up to there, has no monotonic time.
func parseMemstats(b []byte, now clocks) (memstats, bool) {
	if len(b) < memstatsSize {
		return memstats{}, false
	}
	word := func(off int) uint64 { return binary.LittleEndian.Uint64(b[off:]) }
	end := func(cycle uint32) uint64 { return word(pauseEnds + 8*int(cycle%gcRing)) }
	cycles, forced := binary.LittleEndian.Uint32(b[gcCycles:]), binary.LittleEndian.Uint32(b[gcForced:])
	last, pause, nanotime, heap := word(0), word(pauseTotal), word(gcNanotime), word(gcHeap)
	m := memstats{fraction: math.Float64frombits(word(gcFraction))}
	if cycles == 0 {
		return m, last == 0 && pause == 0 && nanotime == 0 && heap == 0 && forced == 0 && m.fraction == 0
	}
	if last < earliest || last > now.unix || last != end(cycles-1) || nanotime == 0 || nanotime > now.monotonic ||
		pause == 0 || pause > nanotime || heap == 0 || heap > mostHeap || forced > cycles || !(m.fraction >= 0 && m.fraction <= 1) {
		return memstats{}, false
	}
	m.Cycles, m.Last, m.Pause, m.Heap = int64(cycles), time.Unix(0, int64(last)), time.Duration(pause), int64(heap)
	if first := end(0); cycles <= gcRing && first >= earliest && first <= last {
		m.First = time.Unix(0, int64(first))
	}
	return m, true
}

// cpuStatsSize is that of runtime.work.cpuStats (type cpuStats in runtime/mstats.go, Go
// 1.20 and newer), in bytes: times of assists, dedicated workers, idle workers and
// pauses, and their sum; of the scavenger's two ways, and their sum; of idle Ps; of what
// remains; and of all Ps.
const cpuStatsSize = 11 * 8

// parseCPUStats reads it. It is false where it does not add up: three sums, and the
// collector's share exactly as it is in runtime.memstats. Pauses of a cycle that has
// not ended are in the collector's time already, and in no other: they are taken off.
func parseCPUStats(b []byte, m memstats) (GCTime, bool) {
	if len(b) < cpuStatsSize {
		return GCTime{}, false
	}
	var t [cpuStatsSize / 8]int64
	for i := range t {
		// Those of a thousand CPUs over years; beyond it, sums might overflow.
		if t[i] = int64(binary.LittleEndian.Uint64(b[8*i:])); t[i] > math.MaxInt64/8 || t[i] < -math.MaxInt64/8 || t[i] < 0 && i != 9 {
			return GCTime{}, false
		}
	}
	idleMark, pause, collector, scavenger, idle, rest, all := t[2], t[3], t[4], t[7], t[8], t[9], t[10]
	if collector != t[0]+t[1]+idleMark+pause || scavenger != t[5]+t[6] {
		return GCTime{}, false
	}
	if m.Cycles == 0 {
		return GCTime{}, true
	}
	begun := rest + collector + scavenger + idle - all
	used := collector - begun - idleMark
	if all <= 0 || idle > all || pause <= 0 || begun < 0 || begun > pause || m.fraction != float64(used)/float64(all) {
		return GCTime{}, false
	}
	return GCTime{Collecting: time.Duration(used), Busy: time.Duration(all - idle)}, true
}

// Since is what it did after an earlier reading of the same process. A nil reading is
// one that told nothing, at that time: then all is of the span if the first cycle ended
// in it, and else nothing is known.
func (g GC) Since(before *GC, at time.Time) (GC, bool) {
	if before == nil {
		return g, g.Cycles == 0 || g.First.After(at)
	}
	s := GC{Cycles: g.Cycles - before.Cycles, Pause: g.Pause - before.Pause, Heap: g.Heap}
	if s.Cycles < 0 || s.Pause < 0 {
		return GC{}, false // of another process
	}
	if g.CPU != nil && before.CPU != nil {
		s.CPU = &GCTime{Collecting: max(0, g.CPU.Collecting-before.CPU.Collecting), Busy: max(0, g.CPU.Busy-before.CPU.Busy)}
	}
	return s, true
}
