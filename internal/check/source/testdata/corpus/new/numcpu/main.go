// What was needed up to Go 1.4; nothing is left of it.
package main

import (
	"fmt"
	"runtime"
)

func main() {
	runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025 warning: sets it to the machine's CPUs, also under a limit, whatever GOMAXPROCS says in the environment, and ends the updates

	fmt.Println("hello")
}
