// It comes too late.
package main

import "os"

func main() {
	os.Setenv("GOMAXPROCS", "4") // want PF026 warning: changes nothing in this program
	os.Setenv("GOGC", "50")
}
