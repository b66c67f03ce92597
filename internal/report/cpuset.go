package report

import (
	"strconv"
	"strings"
)

// cpuMax bounds a CPU's number; the kernel's own bound (NR_CPUS) is 8192.
const cpuMax = 1 << 16

// cpusetSize counts the CPUs of a list such as "0-3,8"; 0 when it is none.
func cpusetSize(list string) int {
	n := 0
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.Atoi(low)
		if err != nil || a < 0 || a > cpuMax {
			return 0
		}
		b := a
		if isRange {
			if b, err = strconv.Atoi(high); err != nil || b < a || b > cpuMax {
				return 0
			}
		}
		n += b - a + 1
	}
	return n
}
