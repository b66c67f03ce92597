// Flags of kingpin, whose defaults are texts.
package main

import (
	"runtime"
	"strconv"

	"github.com/alecthomas/kingpin/v2"
)

func main() {
	var (
		procs = kingpin.Flag("runtime.gomaxprocs", "The value.").Envar("GOMAXPROCS").Default("1").Int()
		other = kingpin.Flag("other", "Another.").Default("3").Int()
		all   = kingpin.Flag("all", "All.").Default(strconv.Itoa(runtime.NumCPU())).Int()
		none  = kingpin.Flag("none", "None.").Int()
	)
	kingpin.Parse()
	runtime.GOMAXPROCS(*procs) // want PF024 info: default is 1: 1 P on every machine and under every limit, unless GOMAXPROCS is set → let 0 be the default
	runtime.GOMAXPROCS(*other) // want PF024 info: whatever GOMAXPROCS says
	runtime.GOMAXPROCS(*all)   // want PF025 warning: takes a flag whose default is the machine's CPUs → let 0 be the default
	runtime.GOMAXPROCS(*none)
}
