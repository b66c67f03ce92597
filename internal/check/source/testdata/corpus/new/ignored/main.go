// Answers: at the line, before it, before a function.
package main

import (
	"os"
	"runtime"
)

//procfit:ignore PF024,PF026 an appliance with four CPUs
func main() {
	runtime.GOMAXPROCS(4)        // ignored PF024
	os.Setenv("GOMAXPROCS", "4") // ignored PF026
	other()
}

func other() {
	runtime.GOMAXPROCS(3) //procfit:ignore PF024 measured; ignored PF024
	// procfit:ignore PF024 measured as well
	runtime.GOMAXPROCS(2) // ignored PF024
	// procfit:ignore PF024
	runtime.GOMAXPROCS(1) // want PF024 and want@20 PF040
	// procfit:ignore PF025 there is none: want@22 PF041
	println("hello")
}
