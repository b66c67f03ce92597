// One is answered: what it needs stays.
package main

import "runtime"

func main() {
	runtime.GOMAXPROCS(runtime.NumCPU()) // want PF025
	//procfit:ignore PF025 it is measured
	runtime.GOMAXPROCS(runtime.NumCPU()) // ignored PF025
}
