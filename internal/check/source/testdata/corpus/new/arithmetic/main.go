// Shares of all CPUs of the machine.
package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

func main() {
	avail := runtime.NumCPU()
	pct, _ := strconv.Atoi(os.Args[1])
	n := avail * pct / 100
	runtime.GOMAXPROCS(n) // want PF025 warning: sets the value from the CPUs of the machine
	set(os.Args[2])
}

func set(cpu string) {
	var n int
	avail := runtime.NumCPU()
	if rest, ok := strings.CutSuffix(cpu, "%"); ok {
		pct, _ := strconv.Atoi(rest)
		percent := float32(pct) / 100
		n = int(float32(avail) * percent)
	} else {
		n, _ = strconv.Atoi(cpu)
	}
	if n > avail {
		n = avail
	}
	runtime.GOMAXPROCS(n) // want PF025 info: may set the value from the CPUs of the machine → if the user sets no number
}
