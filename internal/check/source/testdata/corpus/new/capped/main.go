// The machine's CPUs as the most that a number may be do not set it by them.
package main

import "runtime"

func main() {
	n := quota()
	cpus := runtime.NumCPU()
	if n > cpus {
		n = cpus
	}
	runtime.GOMAXPROCS(n)

	m := quota()
	if m < 1 {
		m = runtime.NumCPU()
	}
	runtime.GOMAXPROCS(m) // want PF025 info: may set the value from the CPUs of the machine
}

func quota() int { return 3 }
