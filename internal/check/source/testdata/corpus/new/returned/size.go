// Package returned has functions that tell a size.
package returned

import "runtime"

func defaultWorkers() int {
	return runtime.NumCPU() // want PF029 info: what defaultWorkers gives is
}

func cpus() int { return runtime.NumCPU() }

func F() int { return defaultWorkers() + cpus() }

func workersInForce() int { return min(runtime.GOMAXPROCS(0), runtime.NumCPU()) }

func workersOfAll() int {
	return max(runtime.GOMAXPROCS(0), runtime.NumCPU()) // want PF029 info: what workersOfAll gives is
}

func G() int { return workersInForce() + workersOfAll() }
