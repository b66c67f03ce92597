// Set, and set back when the function ends.
package setback

import "runtime"

func helper() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.NumCPU()))
}

func kept() {
	old := runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025 warning: sets it to the machine's CPUs
	runtime.GOMAXPROCS(old)
}
