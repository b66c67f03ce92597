// To tell all CPUs of the machine is no mistake.
package main

import (
	"fmt"
	"log"
	"runtime"
)

func main() {
	cpus := runtime.NumCPU()
	fmt.Println("CPUs:", runtime.NumCPU())
	log.Printf("%d of %d", runtime.GOMAXPROCS(0), cpus)
	maxProcs, cpuProcs := runtime.GOMAXPROCS(0), runtime.NumCPU()
	if maxProcs < cpuProcs {
		log.Printf("%d of %d", maxProcs, cpuProcs)
	}
	if runtime.NumCPU() < 2 {
		log.Print("this machine is small")
	}
}
