// Package debuglib is no program, and the line says nothing.
package debuglib

//go:debug containermaxprocs=0

const X = 1
