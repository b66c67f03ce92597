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

// most is the number above every CPU number; Linux itself stops at 8192
// (CONFIG_NR_CPUS).
const most = 1 << 16

// Set is a set of CPUs: sorted, each once. It is a list as text, and so in JSON.
type Set []int

// String is the set as a list, the shortest: "0-3,8"; empty where there is none.
func (s Set) String() string { return Format(s) }

func (s Set) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s *Set) UnmarshalText(list []byte) (err error) {
	*s, err = Parse(string(list))
	return err
}

func (s Set) Overlaps(other Set) bool { return len(s.Within(other)) > 0 }

// Within are the CPUs of the set that the other has too.
func (s Set) Within(other Set) (both Set) {
	for _, cpu := range s {
		if slices.Contains(other, cpu) {
			both = append(both, cpu)
		}
	}
	return both
}

// Parse reads a list. The empty list has no CPUs, and is nil. The error quotes the part
// that is wrong.
func Parse(list string) (Set, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	var cpus []int
	for part := range strings.SplitSeq(list, ",") {
		from, to, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("CPU list %q: %q is neither a CPU number below %d nor a range of them, as in 0-3,8", list, part, most)
		}
		for cpu := from; cpu <= to; cpu++ {
			cpus = append(cpus, cpu)
		}
		// Repeated parts must not add up to more than there can be.
		if len(cpus) > most {
			cpus = distinct(cpus)
		}
	}
	return Set(distinct(cpus)), nil
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
