// The plain mistake.
package main

import "runtime"

func main() {
	runtime.GOMAXPROCS(4) // want PF024 warning: runtime.GOMAXPROCS(4) sets the value on every machine and under every limit, whatever
}
