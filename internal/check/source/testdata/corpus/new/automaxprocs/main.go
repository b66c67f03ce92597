// The runtime does it itself.
package main

import _ "go.uber.org/automaxprocs" // want PF031 warning: sets GOMAXPROCS once, rounded down, and stops the runtime from following changes of the limit, which it does with go 1.25

func main() {}
