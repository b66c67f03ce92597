//go:build !linux

package maxprocs

import "runtime"

// findLimits finds none: cgroups are Linux's.
func findLimits(string) limits { return limits{} }

func affinity() int { return runtime.NumCPU() }
