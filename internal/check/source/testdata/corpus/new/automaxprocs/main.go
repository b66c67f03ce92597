// The runtime does it itself.
package main

import _ "go.uber.org/automaxprocs" // want PF031 warning: sets GOMAXPROCS once, rounded down, and ends the automatic updates of the runtime with go 1.25

func main() {}
