// Fields and variables that a name tells of.
package main

import "runtime"

type options struct {
	Workers int
	CPUs    int
}

type server struct{ maxConcurrency, numCompactors int }

func main() {
	o := options{
		Workers: runtime.NumCPU(), // want PF029 info: Workers is sized
		CPUs:    runtime.NumCPU(),
	}
	var s server
	s.maxConcurrency = 4 * runtime.NumCPU() // want PF029 info: maxConcurrency is sized
	s.numCompactors = runtime.NumCPU() / 2  // want PF029 info: numCompactors is sized
	println(o.Workers, s.maxConcurrency, s.numCompactors)
}
