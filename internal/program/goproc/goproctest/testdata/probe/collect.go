package main

import (
	"math"
	"runtime"
	"runtime/metrics"
	"strconv"
)

// stats is a variable, as a program may have one: it looks like the runtime's own.
var stats runtime.MemStats

// times are the runtime's of what its Ps did, in seconds.
var times = []metrics.Sample{
	{Name: "/cpu/classes/gc/total:cpu-seconds"},
	{Name: "/cpu/classes/gc/mark/idle:cpu-seconds"},
	{Name: "/cpu/classes/total:cpu-seconds"},
	{Name: "/cpu/classes/idle:cpu-seconds"},
}

// collect fills its heap, has it looked through, and tells of all cycles: their number,
// their pauses, the last one's end, the bytes of the heap before it, then the times; all
// times in nanoseconds, -1 where this release does not tell.
func collect() string {
	runtime.GC() // of what was left
	var kept [][]byte
	for i := 0; i < 2000; i++ {
		kept = append(kept, make([]byte, 4096))
	}
	runtime.ReadMemStats(&stats)
	heap := stats.HeapInuse // all of it is alive, so that another cycle changes little
	runtime.GC()
	runtime.ReadMemStats(&stats)
	runtime.KeepAlive(kept)
	metrics.Read(times)
	line := strconv.FormatUint(uint64(stats.NumGC), 10) + " " + strconv.FormatUint(stats.PauseTotalNs, 10) + " " + strconv.FormatUint(stats.LastGC, 10) + " " + strconv.FormatUint(heap, 10)
	for _, s := range times {
		n := int64(-1)
		if s.Value.Kind() == metrics.KindFloat64 {
			n = int64(math.Round(s.Value.Float64() * 1e9))
		}
		line += " " + strconv.FormatInt(n, 10)
	}
	return line + "\n"
}
