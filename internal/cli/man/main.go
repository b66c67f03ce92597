// Command man writes a man page for each command of procfit into a folder. A release and the
// packages have them.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra/doc"

	"github.com/procfit/procfit/internal/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: man DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	root, date := cli.Manual()
	root.DisableAutoGenTag = true
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return doc.GenManTree(root, &doc.GenManHeader{Date: &date, Source: "procfit " + root.Version, Manual: "procfit manual"}, folder)
}
