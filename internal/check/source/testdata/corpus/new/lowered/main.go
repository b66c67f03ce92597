// A value that is above the CPUs of the machine is lowered to them: under a limit nothing is set.
package main

import "runtime"

func main() {
	lower()
	raise()
}

func lower() {
	if runtime.GOMAXPROCS(0) <= runtime.NumCPU() {
		return
	}
	runtime.GOMAXPROCS(runtime.NumCPU())
}

func raise() {
	if n := runtime.NumCPU(); n > 2 {
		runtime.GOMAXPROCS(n) // want PF025 warning: sets the value to the CPUs of the machine
	}
}
