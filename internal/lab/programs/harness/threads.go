package harness

import (
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
)

// ProcLine is the value of a line of a file in /proc/self, empty where there is none.
func ProcLine(file, name string) string {
	text, err := os.ReadFile("/proc/self/" + file)
	if err != nil {
		return ""
	}
	for _, line := range strings.Split(string(text), "\n") {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Threads counts those that exist: as the kernel sees them, and where it has no /proc,
// those that the runtime has ever made.
func Threads() int {
	if n, err := strconv.Atoi(ProcLine("status", "Threads:")); err == nil {
		return n
	}
	return pprof.Lookup("threadcreate").Count()
}
