// By a call in an if, which goes with it.
package main

import (
	"log"

	"go.uber.org/automaxprocs/maxprocs" // want PF031 warning: rounded down → import github.com/procfit/procfit/maxprocs/auto
)

func main() {
	if _, err := maxprocs.Set(); err != nil {
		log.Print(err)
	}
}
