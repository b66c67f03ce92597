// Package gort is what the Go runtime of this program can do, by its version.
package gort

import "github.com/procfit/procfit/maxprocs/internal/cgfs"

// PlusCounts: the runtime's numbers may begin with a plus sign.
const PlusCounts = plusCounts

// ValidEnv tells whether the runtime takes this value of GOMAXPROCS: a positive
// decimal int32. A plus sign counts from Go 1.26 on. It ignores any other
// without a word.
func ValidEnv(value string) bool {
	n, ok := cgfs.ParseInt(value)
	return ok && 0 < n && n < 1<<31 && (plusCounts || value[0] != '+')
}
