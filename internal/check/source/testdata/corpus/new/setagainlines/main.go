// The same in lines that stay, as they may do more.
package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

func main() {
	v := os.Getenv("GOMAXPROCS")
	n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 32)
	if err != nil {
		println("no number")
		return
	}
	runtime.GOMAXPROCS(int(n)) // want PF027
}
