//go:build !portable

package load

// hasRaw tells whether the raw engine is there.
const hasRaw = true
