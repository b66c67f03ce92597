package facts

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// maxCPUID limits CPU numbers; the kernel's own limit, NR_CPUS, is 8192 in the largest
// configurations.
const maxCPUID = 1 << 16

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

func (s cpuSet) or(t cpuSet) cpuSet {
	if len(t) > len(s) {
		s, t = t, s
	}
	for i, w := range t {
		s[i] |= w
	}
	return s
}

// parseCPUList parses the kernel's list format, "0-3,8,10-11". An empty list has no
// CPUs. The kernel accepts the form "0-31:2/8", but never prints it.
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
			return nil, fmt.Errorf("expected a list of CPUs such as \"0-3,8\", got %q", part)
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

// lookupEnviron finds a variable in the text of /proc/PID/environ, in which each entry
// ends with a NUL. The first entry of a name is used, as in the runtime.
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
