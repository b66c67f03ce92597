// Package main has document 001's CPU-bound benchmark. Its work is shorter here, and where the
// document prints the time it prints the GOMAXPROCS that was timed.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

func cpuBound() int64 {
	// CPU-intensive calculation
	result := int64(0)
	for i := 0; i < 100_000; i++ {
		result += int64(i % 97)
	}
	return result
}

func BenchmarkCPUBoundDifferentGOMAXPROCS(b *testing.B) {
	for _, procs := range []int{1, 2, 4, 8, 16} {
		runtime.GOMAXPROCS(procs)
		b.Run(fmt.Sprintf("GOMAXPROCS=%d", procs), func(b *testing.B) {
			var wg sync.WaitGroup
			// Spawn tasks equal to GOMAXPROCS
			for i := 0; i < procs; i++ {
				wg.Add(1)
				go func() {
					for j := 0; j < b.N/procs; j++ {
						_ = cpuBound()
					}
					wg.Done()
				}()
			}
			wg.Wait()
			fmt.Printf("named %d, b.N %d: ran with %d\n", procs, b.N, runtime.GOMAXPROCS(0))
		})
	}
}
