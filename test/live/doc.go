// Package served holds what package goproc reads of a running Go program against
// what the program says of itself, for the releases of Go and the ways to build
// that procfit claims to know; docs/evidence/live-values.md has the result. Programs of arm64 are
// not run, only decoded, and held against their symbol tables.
package live
