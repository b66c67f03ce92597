// Package gort has what the Go runtime of this program can do, by its version.
package gort

import "github.com/procfit/procfit/maxprocs/internal/cgfs"

// PlusCounts: the runtime accepts numbers that start with a plus sign.
const PlusCounts = plusCounts

// ValidEnv reports whether the runtime accepts this value of GOMAXPROCS: a positive
// decimal int32, with a plus sign from Go 1.26 on. It silently ignores any other value.
func ValidEnv(value string) bool {
	n, ok := cgfs.ParseInt(value)
	return ok && 0 < n && n < 1<<31 && (plusCounts || value[0] != '+')
}
