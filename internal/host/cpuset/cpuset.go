// Package cpuset reads and writes lists of CPUs in the kernel's form, "0-3,8"
// (cpuset(7), "List format", without the stride). It is the one reader of such
// lists outside of the library, so that "0,0" is one CPU everywhere.
package cpuset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Most is the number above every CPU number; Linux itself stops at 8192
// (CONFIG_NR_CPUS).
const Most = 1 << 16

// Parse reads a list: sorted, each CPU once. The empty list has none, and is nil.
// The error quotes the part that is wrong.
func Parse(list string) ([]int, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	var cpus []int
	for part := range strings.SplitSeq(list, ",") {
		from, to, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("CPU list %q: %q is neither a CPU number below %d nor a range of them, as in 0-3,8", list, part, Most)
		}
		for cpu := from; cpu <= to; cpu++ {
			cpus = append(cpus, cpu)
		}
		// Repeated parts must not add up to more than there can be.
		if len(cpus) > Most {
			cpus = distinct(cpus)
		}
	}
	return distinct(cpus), nil
}

func distinct(cpus []int) []int {
	slices.Sort(cpus)
	return slices.Compact(cpus)
}

func parseRange(part string) (from, to int, err error) {
	first, last, isRange := strings.Cut(part, "-")
	low, err := strconv.ParseUint(first, 10, 16)
	high := low
	if err == nil && isRange {
		high, err = strconv.ParseUint(last, 10, 16)
	}
	if err == nil && high < low {
		err = strconv.ErrRange
	}
	return int(low), int(high), err
}

// Count is the number of CPUs of a list; 0 where it is empty or cannot be read.
func Count(list string) int {
	cpus, err := Parse(list)
	if err != nil {
		return 0
	}
	return len(cpus)
}

// Format writes sorted CPUs as a list, the shortest: "0-3,8".
func Format(cpus []int) string {
	var parts []string
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		part := strconv.Itoa(cpus[i])
		if j > i {
			part += "-" + strconv.Itoa(cpus[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}
