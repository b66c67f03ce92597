// Command probe prints its GOMAXPROCS, then for each number that it reads from
// standard input sets GOMAXPROCS to it and prints it again.
package main

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	for {
		os.Stdout.WriteString(strconv.Itoa(runtime.GOMAXPROCS(0)) + "\n")
		if !in.Scan() {
			return
		}
		n, err := strconv.Atoi(in.Text())
		if err != nil {
			os.Exit(1)
		}
		runtime.GOMAXPROCS(n)
	}
}
