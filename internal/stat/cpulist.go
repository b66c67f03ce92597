package stat

import (
	"fmt"
	"strconv"
	"strings"
)

// mostCPUs bounds the numbers of a list; Linux itself stops at 8192.
const mostCPUs = 1 << 16

// cpuListLen counts the CPUs of a list such as "0-3,8" (cpuset(7), "List
// format", without the stride). The empty list has none.
func cpuListLen(list string) (int, error) {
	if strings.TrimSpace(list) == "" {
		return 0, nil
	}
	seen := map[int]bool{}
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.ParseUint(first, 10, 16)
		to := from
		if err == nil && isRange {
			to, err = strconv.ParseUint(last, 10, 16)
		}
		if err != nil || to < from {
			return 0, fmt.Errorf("cpu list %q: %q is neither a number below %d nor a range of them", list, part, mostCPUs)
		}
		for cpu := from; cpu <= to; cpu++ {
			seen[int(cpu)] = true
		}
	}
	return len(seen), nil
}
