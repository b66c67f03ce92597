//go:build !go1.25

package gort

// HasDefault: the runtime decided at the start and never does again.
const HasDefault = false

// SetDefault does nothing before Go 1.25.
func SetDefault() {}
