// Package gobench is Go's benchmarks: what a `go test -bench` command is made of,
// how its test binary is compiled once to be run many times, and what the lines
// say that it prints.
//
// Limits: one package a command; flags that would change what is measured are
// refused, -cpu above all, since it sets GOMAXPROCS.
package gobench
