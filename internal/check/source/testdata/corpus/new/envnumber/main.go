// The variable is not the value.
package main

import (
	"os"
	"strconv"
)

func main() {
	n, err := strconv.Atoi(os.Getenv("GOMAXPROCS")) // want PF028 info: only one source
	if err != nil {
		n = 1
	}
	println(n)
}
