//go:build !linux || portable

package load

// rawEngine is none: it needs Linux.
func rawEngine() engine { return nil }
