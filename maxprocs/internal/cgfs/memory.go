package cgfs

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

// ParseMemoryLimit reads the text of memory.limit_in_bytes: bytes, of which a
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
