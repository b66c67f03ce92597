// What asks and sets nothing.
package main

import (
	"log"
	"runtime"
)

const ask = 0

func main() {
	runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(-1)
	log.Print(runtime.GOMAXPROCS(ask), runtime.NumCPU())
}
