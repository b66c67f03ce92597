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

func parseMicroseconds(what, text string) (int64, error) {
	n, ok := ParseInt(text)
	if !ok || n <= 0 {
		return 0, Error(what + ": expected a positive number of microseconds, got " + Quote(text))
	}
	return n, nil
}

// trim is the only field, or the text as it is.
func trim(text string) string {
	if first, rest := field(text); rest == "" || onlySpace(rest) {
		return first
	}
	return text
}

func onlySpace(text string) bool {
	first, _ := field(text)
	return first == ""
}
