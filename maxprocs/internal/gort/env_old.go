//go:build !go1.26

package gort

const plusCounts = false
