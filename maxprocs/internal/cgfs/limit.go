package cgfs

// DefaultPeriod is the kernel's default period in microseconds.
const DefaultPeriod = 100_000

// ParseCPUMax reads the text of cpu.max: "QUOTA PERIOD\n", microseconds, the
// quota "max" for none. The kernel always prints both, but takes and some
// emulations print the quota alone, for which the period is 100 ms.
// Source: Documentation/admin-guide/cgroup-v2.rst, "CPU Interface Files".
func ParseCPUMax(text string) (cpus float64, limited bool, err error) {
	quotaText, rest := field(text)
	periodText, rest := field(rest)
	if more, _ := field(rest); quotaText == "" || more != "" {
		return 0, false, Error("expected \"QUOTA PERIOD\", got " + Quote(text))
	}
	period := int64(DefaultPeriod)
	if periodText != "" {
		if period, err = parseMicroseconds("period", periodText); err != nil {
			return 0, false, err
		}
	}
	if quotaText == "max" {
		return 0, false, nil
	}
	quota, err := parseMicroseconds("quota", quotaText)
	if err != nil {
		return 0, false, err
	}
	return float64(quota) / float64(period), true, nil
}

// ParseCFS reads the texts of cpu.cfs_quota_us and cpu.cfs_period_us:
// microseconds, any negative quota for none. Old kernels show 0 for both in a
// hierarchy's root (golang/go#80783), which has no limit.
// Source: Documentation/scheduler/sched-bwc.rst.
func ParseCFS(quotaText, periodText string) (cpus float64, limited bool, err error) {
	n, ok := ParseInt(trim(quotaText))
	if ok && n < 0 {
		return 0, false, nil
	}
	if period, zero := ParseInt(trim(periodText)); ok && n == 0 && zero && period == 0 {
		return 0, false, nil
	}
	quota, err := parseMicroseconds("quota", trim(quotaText))
	if err != nil {
		return 0, false, err
	}
	period, err := parseMicroseconds("period", trim(periodText))
	if err != nil {
		return 0, false, err
	}
	return float64(quota) / float64(period), true, nil
}

// ParseBurst reads the text of cpu.max.burst or of cpu.cfs_burst_us: how many
// microseconds of quota the kernel saves up from periods that did not use it, as CPUs
// of one period. "" as the period is the kernel's default.
// Source: Documentation/scheduler/sched-bwc.rst, "Burst feature".
func ParseBurst(burstText, periodText string) (cpus float64, err error) {
	burst, ok := ParseInt(trim(burstText))
	if !ok || burst < 0 {
		return 0, Error("burst: expected a number of microseconds, got " + Quote(burstText))
	}
	period := int64(DefaultPeriod)
	if periodText = trim(periodText); periodText != "" {
		if period, err = parseMicroseconds("period", periodText); err != nil {
			return 0, err
		}
	}
	return float64(burst) / float64(period), nil
}

// Period is the period in the text of cpu.max; "" if it has none.
func Period(cpuMax string) string {
	_, rest := field(cpuMax)
	period, _ := field(rest)
	return period
}

func parseMicroseconds(what, text string) (int64, error) {
	n, ok := ParseInt(text)
	if !ok || n <= 0 {
		return 0, Error(what + ": expected a positive number of microseconds, got " + Quote(text))
	}
	return n, nil
}

// trim is the only field, or the text as it is.
func trim(text string) string {
	first, rest := field(text)
	if second, _ := field(rest); second == "" {
		return first
	}
	return text
}

// noMemoryLimit is the least of the numbers by which v1 says that there is no
// limit: 2^63 − 1 rounded down to pages, of 64 KiB at most (PAGE_COUNTER_MAX in
// include/linux/page_counter.h). Older kernels print 2^63 − 1 or 2^64 − 1.
const noMemoryLimit = 1<<63 - 1<<16

// noMemoryLimit32 is that of a 32-bit kernel: 2^31 − 1 pages of 4 KiB.
const noMemoryLimit32 = (1<<31 - 1) << 12

// ParseMemoryMax reads the text of memory.max or memory.high: bytes, or "max" for
// none.
// Source: Documentation/admin-guide/cgroup-v2.rst, "Memory Interface Files".
func ParseMemoryMax(text string) (bytes int64, limited bool, err error) {
	if trim(text) == "max" {
		return 0, false, nil
	}
	return parseBytes(text)
}

// ParseMemoryLimit reads the text of memory.limit_in_bytes: bytes, where a
// number that no machine has means none.
// Source: Documentation/admin-guide/cgroup-v1/memory.rst.
func ParseMemoryLimit(text string) (bytes int64, limited bool, err error) {
	bytes, limited, err = parseBytes(text)
	if bytes == noMemoryLimit32 {
		return 0, false, err
	}
	return bytes, limited, err
}

// ParseHierarchicalLimit finds the line hierarchical_memory_limit in the text of a
// v1 group's memory.stat, which is the least limit of the group and all above it,
// also of those that a container cannot see. The line is "" where there is none.
func ParseHierarchicalLimit(text string) (bytes int64, limited bool, line string, err error) {
	for text != "" {
		line, text, _ = cut(text, "\n")
		if name, rest := field(line); name == "hierarchical_memory_limit" {
			bytes, limited, err = ParseMemoryLimit(rest)
			return bytes, limited, line, err
		}
	}
	return 0, false, "", nil
}

// parseBytes reads a decimal number. What is beyond an int64 is no limit.
func parseBytes(text string) (bytes int64, limited bool, err error) {
	digits := trim(text)
	if !onlyDigits(digits) {
		return 0, false, Error("expected a number of bytes, got " + Quote(text))
	}
	bytes, ok := ParseInt(digits)
	if !ok || bytes >= noMemoryLimit {
		return 0, false, nil
	}
	return bytes, true, nil
}

func onlyDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
