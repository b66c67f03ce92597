//go:build !linux

package local

func affinity() []int { return nil }
