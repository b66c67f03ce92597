// Package main has the work of document 000's demonstration as it stands there: what
// it computes is thrown away.
package main

func cpuWork(iters int) {
	x := 0
	for i := 0; i < iters; i++ {
		x ^= i*1103515245 + 12345
	}
	_ = x
}

func main() { cpuWork(50_000_000) }
