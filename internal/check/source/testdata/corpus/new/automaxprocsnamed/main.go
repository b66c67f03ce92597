// By another name, with nothing of its results.
package main

import (
	"log"

	mp "go.uber.org/automaxprocs/maxprocs" // want PF031
)

func main() {
	_, _ = mp.Set(mp.Logger(log.Printf))
	log.Print("serving")
}
