//go:build !linux || portable

package topology

func Allowed() []int { return nil }
