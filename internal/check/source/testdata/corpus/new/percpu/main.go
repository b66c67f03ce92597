// A lock with a part for each CPU, whose number assembly gives.
package main

import "runtime"

func cpuid() uint64 // in assembly

type lock []struct{ taken bool }

var locks = make(lock, runtime.GOMAXPROCS(0)) // want PF030 info: locks reads runtime.GOMAXPROCS(0)

func take() {
	locks[cpuid()].taken = true // want PF036 warning: locks has the length that runtime.GOMAXPROCS(0) gave
}

func main() { take() }
