package procstat

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The fields of struct taskstats that are read (include/uapi/linux/taskstats.h),
// in bytes. The structure grows at its end, but kernels with version 15 of it
// (Linux 6.14) had fields inserted in the middle, and no version tells all such
// apart: openTaskstats compares what it reads of procfit with /proc.
const (
	offWait        = 24  // cpu_delay_total, ns
	offVoluntary   = 272 // nvcsw
	offInvoluntary = 280 // nivcsw
	taskstatsSize  = 288
)

func parseTaskstats(b []byte) (counters, error) {
	if len(b) < taskstatsSize {
		return counters{}, fmt.Errorf("taskstats: %d bytes, want %d or more", len(b), taskstatsSize)
	}
	at := func(off int) int64 {
		return int64(min(binary.NativeEndian.Uint64(b[off:]), math.MaxInt64))
	}
	return counters{wait: at(offWait), voluntary: at(offVoluntary), involuntary: at(offInvoluntary)}, nil
}

// between tells whether each counter lies between those of two readings.
func (c counters) between(before, after counters) bool {
	in := func(low, v, high int64) bool { return low <= v && v <= high }
	return in(before.wait, c.wait, after.wait) && in(before.voluntary, c.voluntary, after.voluntary) &&
		in(before.involuntary, c.involuntary, after.involuntary)
}
