// Package gort is what the Go runtime of this program can do, by its version.
package gort
