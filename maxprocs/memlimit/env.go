package memlimit

import (
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/maxprocs/internal/gort"
)

// NoLimit is the value of GOMEMLIMIT that limits nothing, and the runtime's default.
const NoLimit = math.MaxInt64

// Parse reads a value of GOMEMLIMIT as the runtime does: bytes, with the unit B,
// KiB, MiB, GiB or TiB or none; "off", and nothing at all, for NoLimit. A program
// that is started with any other value ends at once.
// Source: runtime.readGOMEMLIMIT and parseByteCount, the same since Go 1.19, but that
// a plus sign counts from Go 1.26 on.
func Parse(value string) (bytes int64, ok bool) {
	if value == "" || value == "off" {
		return NoLimit, true
	}
	digits, unit := value, int64(1)
	for i, suffix := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if cut, found := strings.CutSuffix(value, suffix); found {
			digits, unit = cut, 1<<(10*(i+1))
		}
	}
	if unit == 1 {
		digits = strings.TrimSuffix(value, "B")
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit || digits[0] == '+' && !gort.PlusCounts {
		return 0, false
	}
	return n * unit, true
}

// Format writes bytes as GOMEMLIMIT takes them, in the largest unit of which they are
// a multiple, or that leaves four digits, rounded down: 1932735283 is 1843MiB.
// NoLimit is off.
func Format(bytes int64) string {
	if bytes == NoLimit {
		return "off"
	}
	unit := ""
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if bytes < 1000<<10 && (bytes == 0 || bytes%1024 != 0) {
			break
		}
		bytes, unit = bytes>>10, next
	}
	return strconv.FormatInt(bytes, 10) + unit
}
