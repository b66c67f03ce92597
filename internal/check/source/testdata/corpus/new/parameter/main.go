// What comes from elsewhere is not judged.
package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

func set(n int) { runtime.GOMAXPROCS(n) }

// trimmed is set once, to itself.
func trimmed(s string) int {
	s = strings.TrimSpace(s)
	n, _ := strconv.Atoi(s)
	return runtime.GOMAXPROCS(n)
}

func configure(procs int) {
	if procs < 1 {
		procs = 4
	}
	runtime.GOMAXPROCS(procs)
}

func capped(n int) {
	if cpus := runtime.NumCPU(); n > cpus {
		n = cpus
	}
	runtime.GOMAXPROCS(n)
}

// fromVariable gives 0, or the number, which it does only by the statement that sets it.
func fromVariable() (n int) {
	if v := os.Getenv("GOMAXPROCS"); v != "" {
		n, _ = strconv.Atoi(v)
		runtime.GOMAXPROCS(n)
	}
	return n
}

func main() {
	n, _ := strconv.Atoi(os.Getenv("PROCS"))
	set(n)
	trimmed("2")
	configure(n)
	capped(fromVariable())
	runtime.GOMAXPROCS(n)
}
