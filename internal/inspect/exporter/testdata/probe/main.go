// Command probe stands still until its standard input ends. With an argument, a
// number, it meanwhile keeps so many goroutines busy, each for a millisecond at a
// time.
package main

import (
	"io"
	"os"
	"strconv"
	"time"
)

func main() {
	if len(os.Args) > 1 {
		n, err := strconv.Atoi(os.Args[1])
		if err != nil {
			os.Exit(2)
		}
		for range n {
			go work()
		}
	}
	io.Copy(io.Discard, os.Stdin)
}

func work() {
	for {
		for end := time.Now().Add(time.Millisecond); time.Now().Before(end); {
		}
		time.Sleep(10 * time.Microsecond)
	}
}
