package facts

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"
)

// Throttling is how a cgroup was throttled since it was created. All fields are 0 without
// a limit.
// Source: Documentation/scheduler/sched-bwc.rst, "Statistics".
type Throttling struct {
	Periods          int64         // in which some thread of the cgroup was runnable
	ThrottledPeriods int64         // of those, the periods in which the quota ran out
	Throttled        time.Duration // summed over CPUs, so it can be more than the elapsed time
	Bursts           int64         // periods that used more than the quota, by its burst; 0 before Linux 5.14
	Burst            time.Duration // CPU time above the quota in these
}

// ParseThrottling parses the text of cpu.stat. The times are throttled_usec and burst_usec
// on v2, throttled_time and burst_time, in nanoseconds, on v1. Kernels before 5.14 have no
// bursts.
func ParseThrottling(text string) (Throttling, error) {
	var t Throttling
	throttled, burst, seen := (*int64)(&t.Throttled), (*int64)(&t.Burst), 0
	fields := map[string]struct {
		to   *int64
		unit int64
		of   int // the three that every kernel has
	}{
		"nr_periods": {&t.Periods, 1, 1}, "nr_throttled": {&t.ThrottledPeriods, 1, 1}, "nr_bursts": {&t.Bursts, 1, 0},
		"throttled_time": {throttled, 1, 1}, "throttled_usec": {throttled, 1000, 1}, "burst_time": {burst, 1, 0}, "burst_usec": {burst, 1000, 0},
	}
	for _, line := range strings.Split(text, "\n") {
		name, number, _ := strings.Cut(line, " ")
		f, known := fields[name]
		if !known {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/f.unit {
			return Throttling{}, fmt.Errorf("cpu.stat: %q has no count after %s", line, name)
		}
		*f.to = n * f.unit
		seen += f.of
	}
	if seen != 3 {
		return Throttling{}, fmt.Errorf("cpu.stat lacks nr_periods, nr_throttled or the throttled time: the kernel may be without CONFIG_CFS_BANDWIDTH")
	}
	return t, nil
}

// Throttling reads the throttling of the limit's cgroup until now, or until the tree was
// recorded. It includes every process in the cgroup and below it. It fails for a Limit
// that was not read.
func (l Limit) Throttling() (Throttling, error) {
	if l.from == nil {
		return Throttling{}, fmt.Errorf("the limit of %q was not read from a cgroup, so its throttling is not known", l.Dir)
	}
	return readThrottling(l.from, l.Dir)
}

// ReadThrottling reads the throttling of a cgroup of this machine, by its directory.
func ReadThrottling(dir string) (Throttling, error) { return readThrottling(liveTree{}, dir) }

func readThrottling(t tree, dir string) (Throttling, error) {
	file := path.Join(dir, "cpu.stat")
	b, err := t.readFile(file)
	if err != nil {
		return Throttling{}, err
	}
	read, err := ParseThrottling(string(b))
	if err != nil {
		return Throttling{}, fmt.Errorf("%s: %w", file, err)
	}
	return read, nil
}
