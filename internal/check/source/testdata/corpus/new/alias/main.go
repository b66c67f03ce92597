// An import by another name.
package main

import rt "runtime"

func main() {
	rt.GOMAXPROCS(1) // want PF024 warning: sets the value on
}
