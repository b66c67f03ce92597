// Calls in branches: one that a flag decides, and one that only the environment does.
package main

import (
	"flag"
	"os"

	"go.uber.org/automaxprocs/maxprocs" // want PF031
)

func main() {
	follow := flag.Bool("follow", false, "")
	flag.Parse()
	if *follow {
		println("following")
		_, _ = maxprocs.Set()
	}
	if _, set := os.LookupEnv("GOMAXPROCS"); !set {
		println("not set")
		_, _ = maxprocs.Set()
	}
	switch {
	case flag.NArg() > 0:
		println("args")
		_, _ = maxprocs.Set(maxprocs.Min(2))
	}
	if _, err := maxprocs.Set(); err != nil {
		println(err.Error())
	}
}
