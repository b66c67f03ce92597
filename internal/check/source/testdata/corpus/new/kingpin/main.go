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
	runtime.GOMAXPROCS(*procs) // want PF024 info: default is 1 on every machine and under every limit, unless GOMAXPROCS is set → make 0 the default
	runtime.GOMAXPROCS(*other) // want PF024 info: with any GOMAXPROCS
	runtime.GOMAXPROCS(*all)   // want PF025 warning: gets a flag whose default is the CPUs of the machine → make 0 the default
	runtime.GOMAXPROCS(*none)
}
