// A call whose results are handled next to it.
package main

import (
	"fmt"
	"log"
	"math"

	"go.uber.org/automaxprocs/maxprocs" // want PF031
)

func main() {
	fmt.Println("starting")
	undo, err := maxprocs.Set(maxprocs.Min(2), maxprocs.Logger(log.Printf), maxprocs.RoundQuotaFunc(func(v float64) int { return int(math.Ceil(v)) }))
	if err != nil {
		log.Fatal(err)
	}
	defer undo()

	fmt.Println("serving")
}
