// The other branch handles what it returns, and the error is used again by a := afterwards.
package main

import (
	"log"
	"os"
	"runtime"

	"go.uber.org/automaxprocs/maxprocs" // want PF031
)

func main() {
	undo, err := maxprocs.Set(maxprocs.Logger(log.Printf))
	if err != nil {
		log.Print(err)
	} else {
		defer undo()
	}

	// The file comes next.
	f, err := os.Open("/etc/hosts")
	if err != nil {
		log.Fatal(err)
	}
	f.Close()

	again, err := maxprocs.Set()
	defer again()
	if err != nil {
		log.Print(err)
	}

	restored(len(os.Args))
}

func restored(n int) {
	if n == 1 {
		before := runtime.GOMAXPROCS(0)
		_, err := maxprocs.Set()
		if err != nil {
			runtime.GOMAXPROCS(before)
		}
	} else {
		runtime.GOMAXPROCS(n)
	}
}
