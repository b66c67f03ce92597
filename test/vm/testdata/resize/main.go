// Command resize prints its GOMAXPROCS whenever that changes, and how many
// goroutines there are. With the build tag imported it has the blank import.
package main

import (
	"fmt"
	"runtime"
	"time"
)

func main() {
	last := 0
	for {
		if now := runtime.GOMAXPROCS(0); now != last {
			fmt.Println("procs", now, "goroutines", runtime.NumGoroutine())
			last = now
		}
		time.Sleep(50 * time.Millisecond)
	}
}
