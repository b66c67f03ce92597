package maxprocs

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// maxCPUID bounds CPU numbers; the kernel's own bound, NR_CPUS, is 8192 on the
// largest configurations.
const maxCPUID = 1 << 16

// defaultPeriod is the kernel's default period in microseconds.
const defaultPeriod = 100_000

// parseCPUMax reads the text of cpu.max: "QUOTA PERIOD\n", microseconds, the
// quota "max" for none. The kernel always prints both, but takes and some
// emulations print the quota alone, for which the period is 100 ms.
// Source: Documentation/admin-guide/cgroup-v2.rst, "CPU Interface Files".
func parseCPUMax(b []byte) (cpus float64, limited bool, err error) {
	fields := bytes.Fields(b)
	if len(fields) != 1 && len(fields) != 2 {
		return 0, false, fmt.Errorf("want \"QUOTA PERIOD\", have %s", quote(b))
	}
	period := int64(defaultPeriod)
	if len(fields) == 2 {
		if period, err = parseMicroseconds(fields[1]); err != nil {
			return 0, false, fmt.Errorf("period: %w", err)
		}
	}
	if string(fields[0]) == "max" {
		return 0, false, nil
	}
	quota, err := parseMicroseconds(fields[0])
	if err != nil {
		return 0, false, fmt.Errorf("quota: %w", err)
	}
	return float64(quota) / float64(period), true, nil
}

// parseCFS reads the texts of cpu.cfs_quota_us and cpu.cfs_period_us:
// microseconds, any negative quota for none.
// Source: Documentation/scheduler/sched-bwc.rst.
func parseCFS(quotaText, periodText []byte) (cpus float64, limited bool, err error) {
	q := bytes.TrimSpace(quotaText)
	if n, err := strconv.ParseInt(string(q), 10, 64); err == nil && n < 0 {
		return 0, false, nil
	}
	quota, err := parseMicroseconds(q)
	if err != nil {
		return 0, false, fmt.Errorf("quota: %w", err)
	}
	period, err := parseMicroseconds(bytes.TrimSpace(periodText))
	if err != nil {
		return 0, false, fmt.Errorf("period: %w", err)
	}
	return float64(quota) / float64(period), true, nil
}

func parseMicroseconds(b []byte) (int64, error) {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("want a positive number of microseconds, have %s", quote(b))
	}
	return n, nil
}

// cpuSet is a bit mask of CPU numbers.
type cpuSet []uint64

func (s cpuSet) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

func (s cpuSet) and(t cpuSet) cpuSet {
	out := cpuSet{}
	for i := 0; i < len(s) && i < len(t); i++ {
		out = append(out, s[i]&t[i])
	}
	return out
}

// parseCPUList reads the kernel's list format, "0-3,8,10-11". An empty list is
// no CPU. The stride form "0-31:2/8" is taken by the kernel and never printed.
func parseCPUList(b []byte) (cpuSet, error) {
	text := strings.TrimSpace(string(b))
	set := cpuSet{}
	if text == "" {
		return set, nil
	}
	for _, part := range strings.Split(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.ParseUint(from, 10, 32)
		last := first
		if err == nil && isRange {
			last, err = strconv.ParseUint(to, 10, 32)
		}
		if err != nil || last < first || last >= maxCPUID {
			return nil, fmt.Errorf("want a list of CPUs such as \"0-3,8\", have %q", part)
		}
		for len(set) <= int(last/64) {
			set = append(set, 0)
		}
		for i := first; i <= last; i++ {
			set[i/64] |= 1 << (i % 64)
		}
	}
	return set, nil
}

// parseAllowed finds the line "Cpus_allowed_list:" of /proc/PID/status.
func parseAllowed(status []byte) (set cpuSet, raw string, err error) {
	const key = "Cpus_allowed_list:"
	for len(status) > 0 {
		var line []byte
		line, status, _ = bytes.Cut(status, []byte("\n"))
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
			set, err = parseCPUList(rest)
			return set, string(bytes.TrimSpace(rest)), err
		}
	}
	return nil, "", errors.New("no line " + key)
}

// lookupEnviron finds a variable in the text of /proc/PID/environ, in which
// each entry ends with a NUL. Of two entries the first counts, as in the
// runtime.
func lookupEnviron(b []byte, name string) (string, bool) {
	for len(b) > 0 {
		var entry []byte
		entry, b, _ = bytes.Cut(b, []byte{0})
		if key, value, ok := bytes.Cut(entry, []byte("=")); ok && string(key) == name {
			return string(value), true
		}
	}
	return "", false
}

// quote shows at most 80 bytes of a file's text in an error.
func quote(b []byte) string {
	if len(b) > 80 {
		return fmt.Sprintf("%q and %d bytes more", b[:80], len(b)-80)
	}
	return fmt.Sprintf("%q", b)
}
