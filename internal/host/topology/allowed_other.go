//go:build !linux || portable

package topology

// Allowed needs Linux.
func Allowed() []int { return nil }
