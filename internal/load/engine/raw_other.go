//go:build !linux || portable

package engine

// rawEngine is none: it needs Linux.
func rawEngine() engine { return nil }
