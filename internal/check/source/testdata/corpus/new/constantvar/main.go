// A variable that is set once is as good as a constant.
package main

import "runtime"

var procs = 3

func main() {
	n := procs
	runtime.GOMAXPROCS(n) // want PF024 warning: runtime.GOMAXPROCS(3)
}
