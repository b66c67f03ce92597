// What a Go version chooses by itself: this program sets nothing and prints
// which GOMAXPROCS it runs with, how many CPUs the runtime counts, and which Go
// built it. The documents disagree about it; started under a quota, an affinity
// or an environment of any kind, this says what is so.
package defaults

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
)

// Main runs the program. It keeps to Go 1.2.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("defaults", flag.ContinueOnError)
	flags.SetOutput(stderr)
	switch err := flags.Parse(args); {
	case err == flag.ErrHelp:
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "defaults: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	procs, cpus := runtime.GOMAXPROCS(0), runtime.NumCPU()
	log.New(stderr, "", log.LstdFlags).Printf("defaults: GOMAXPROCS=%d NumCPU=%d Version=%s", procs, cpus, runtime.Version())
	fmt.Fprintf(stdout, "toolchain: %s\n", runtime.Version())
	fmt.Fprintf(stdout, "BenchmarkDefaults 1 %d gomaxprocs %d numcpu\n", procs, cpus)
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}
