//go:build !go1.25

package gort

// HasDefault: the runtime decides only once, at the start.
const HasDefault = false

// SetDefault does nothing before Go 1.25.
func SetDefault() {}
