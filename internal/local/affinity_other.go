//go:build !linux || portable

package local

func affinity() []int { return nil }
