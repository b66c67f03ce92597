// A list of all CPUs of the machine is as long as they are many.
package listed

import "runtime"

func list() []int {
	var cpus []int
	cpus = make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus
}

func made() []int {
	results := make([]int, runtime.NumCPU()) // want PF029 info: a slice is sized
	return results
}
