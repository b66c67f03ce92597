// A number behind names, one of them in another file.
package main

import "runtime"

const twice = 2 * procs

func main() {
	runtime.GOMAXPROCS(twice) // want PF024 warning: runtime.GOMAXPROCS(8)
}
