// Command procfit shows which GOMAXPROCS a Go program runs with, reports whether that is a
// good value, and measures which value is best.
package main

import (
	"context"
	"os"

	"github.com/procfit/procfit/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), cli.ProgramArgs(os.Args), os.Stdin, os.Stdout, os.Stderr))
}
