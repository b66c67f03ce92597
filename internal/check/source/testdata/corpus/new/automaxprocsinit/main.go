// All that init does is the call.
package main

import (
	"log"

	"go.uber.org/automaxprocs/maxprocs" // want PF031
)

// init makes GOMAXPROCS match the limit.
func init() {
	_, err := maxprocs.Set()
	if err != nil {
		log.Printf("maxprocs: %v", err)
	}
}

func main() { log.Print("serving") }
