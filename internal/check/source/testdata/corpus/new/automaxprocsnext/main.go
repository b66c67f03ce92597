// With what else goes, nothing is left of the imports.
package main

import (
	_ "go.uber.org/automaxprocs" // want PF031
	"runtime"
)

func init() {
	runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025
}

func main() {}
