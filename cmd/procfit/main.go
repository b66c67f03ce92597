// Command procfit tells which GOMAXPROCS a Go program runs with, whether that is
// right, which value is, and proves it by measurement.
package main

import (
	"context"
	"os"

	"github.com/procfit/procfit/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
