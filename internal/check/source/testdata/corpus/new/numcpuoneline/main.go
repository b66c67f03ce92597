// It shares its line.
package main

import "runtime"

func main() { runtime.GOMAXPROCS(runtime.NumCPU()); println("hello") } // want PF025
