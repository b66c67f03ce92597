//go:build !linux || portable

package load

// hasRaw tells whether the raw engine is there: it needs Linux.
const hasRaw = false
