package facts

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"
)

// Throttling is how a group's limit has held it back since the group was made.
// All are 0 while there is no limit.
// Source: Documentation/scheduler/sched-bwc.rst, "Statistics".
type Throttling struct {
	Periods          int64         // in which some thread of the group was runnable
	ThrottledPeriods int64         // of those, the ones in which the quota ran out
	Throttled        time.Duration // summed over the group's run queues, so it may exceed the wall time
}

// ParseThrottling reads the text of cpu.stat. The time is throttled_usec on v2
// and throttled_time, in nanoseconds, on v1.
func ParseThrottling(text string) (Throttling, error) {
	var t Throttling
	seen := 0
	for _, line := range strings.Split(text, "\n") {
		name, number, _ := strings.Cut(line, " ")
		unit := time.Nanosecond
		switch name {
		case "nr_periods", "nr_throttled", "throttled_time":
		case "throttled_usec":
			unit = time.Microsecond
		default:
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/int64(unit) {
			return Throttling{}, fmt.Errorf("cpu.stat: %q has no count after %s", line, name)
		}
		seen++
		switch name {
		case "nr_periods":
			t.Periods = n
		case "nr_throttled":
			t.ThrottledPeriods = n
		default:
			t.Throttled = time.Duration(n) * unit
		}
	}
	if seen != 3 {
		return Throttling{}, fmt.Errorf("cpu.stat lacks nr_periods, nr_throttled or the throttled time: the kernel may be without CONFIG_CFS_BANDWIDTH")
	}
	return t, nil
}

// Throttling reads how the limit has held its group back until now, or until the
// tree was recorded that the limit was read from. Every process in the group and
// below it counts. A Limit that was not read has no group to ask.
func (l Limit) Throttling() (Throttling, error) {
	if l.from == nil {
		return Throttling{}, fmt.Errorf("the limit of %q was not read from any group: there is no throttling to be known of it", l.Dir)
	}
	return readThrottling(l.from, l.Dir)
}

// ReadThrottling reads how its limit has held a group of this machine back, by the
// group's directory.
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
