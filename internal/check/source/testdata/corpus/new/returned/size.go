// Package returned has functions that tell a size.
package returned

import "runtime"

func defaultWorkers() int {
	return runtime.NumCPU() // want PF029 info: what defaultWorkers gives is
}

func cpus() int { return runtime.NumCPU() }

func F() int { return defaultWorkers() + cpus() }
