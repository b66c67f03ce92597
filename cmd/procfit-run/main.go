// Command procfit-run is procfit run as a program of its own: it starts a program with the
// recommended GOMAXPROCS, and is small enough for the image of any application.
package main

import (
	"os"

	"github.com/procfit/procfit/internal/cli/entry"
)

func main() {
	os.Exit(entry.Main(os.Args[1:], os.Stdout, os.Stderr))
}
