// What was needed up to Go 1.4; nothing is left of it.
package main

import (
	"fmt"
	"runtime"
)

func main() {
	runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025 warning: sets the value to the CPUs of the machine, also under a limit, with any GOMAXPROCS in the environment, and ends the updates

	fmt.Println("hello")
}
