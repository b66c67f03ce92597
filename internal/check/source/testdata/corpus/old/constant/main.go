// A number is wrong with every release.
package main

import "runtime"

func main() {
	runtime.GOMAXPROCS(16)                          // want PF024 warning: fixes 16 Ps → as go 1.24 has it
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // want PF024 info: until it is set back → leave GOMAXPROCS alone
}
