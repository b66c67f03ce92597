// Goroutines by all CPUs of the machine.
package main

import (
	"runtime"
	"sync"
)

func work() {}

func main() {
	var wg sync.WaitGroup
	for i := 0; i < runtime.NumCPU(); i++ { // want PF029 info: the goroutines of a loop are counted by runtime.NumCPU
		go work()
	}
	for range runtime.NumCPU() { // want PF029
		wg.Go(work)
	}
	n := runtime.NumCPU() // want PF029
	for i := 0; i < n; i++ {
		go work()
	}
	for i := 0; i < runtime.NumCPU(); i++ {
		println(i)
	}
	wg.Wait()
}
