// A field that takes a function, which counts all CPUs of the machine when it is called.
package functionvalue

import "runtime"

type options struct {
	MaxConcurrentWrites func() int
	ReadConcurrency     func() (least, most int)
	CPUs                func() int
}

func open() []options {
	cpus := runtime.NumCPU() // want PF029 info: ReadConcurrency is sized
	return []options{
		{MaxConcurrentWrites: runtime.NumCPU}, // want PF029 info: MaxConcurrentWrites is sized
		{ReadConcurrency: func() (int, int) { return 1, cpus }},
		{CPUs: runtime.NumCPU},
	}
}

// What a function in a function gives is not what the function around it gives.
func openWorkers() func() int {
	return func() int { return runtime.NumCPU() }
}
