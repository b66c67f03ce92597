// The error is needed afterwards, and the function is passed on: neither is a fix.
package main

import (
	"log"

	"go.uber.org/automaxprocs/maxprocs" // want PF031
)

func main() {
	_, err := maxprocs.Set()
	log.Print("set")
	if err != nil {
		log.Print(err)
	}
	start(func() { _, _ = maxprocs.Set() })
}

func start(f func()) { f() }
