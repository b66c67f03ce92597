// An import with a dot.
package main

import . "runtime"

func main() {
	GOMAXPROCS(2) // want PF024
}
