// The flags of cobra.
package main

import (
	"runtime"

	"github.com/spf13/pflag"
)

func main() {
	var a, b int
	f := pflag.NewFlagSet("")
	f.IntVar(&a, "procs", 5, "")
	f.IntVarP(&b, "workers", "w", runtime.NumCPU(), "") // want PF029 info: the default of the flag workers is
	c := f.Int("c", 2, "")
	runtime.GOMAXPROCS(a)  // want PF024 info: default is 5
	runtime.GOMAXPROCS(b)  // want PF025 warning: gets a flag whose default is the CPUs of the machine, also under a limit, with any → make 0 the default
	runtime.GOMAXPROCS(*c) // want PF024 info: default is 2
}
