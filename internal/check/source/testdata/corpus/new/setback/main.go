// Set, and set back when the function ends.
package setback

import "runtime"

func helper() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.NumCPU()))
}

func kept() {
	old := runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025 warning: sets the value to the CPUs of the machine
	runtime.GOMAXPROCS(old)
}
