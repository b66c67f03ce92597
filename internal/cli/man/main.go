// Command man writes a man page for each command of procfit into a folder. A release and the
// packages have them.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

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
	root := cli.Manual()
	root.DisableAutoGenTag = true
	day := committed()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return doc.GenManTree(root, &doc.GenManHeader{Date: &day, Source: "procfit " + root.Version, Manual: "procfit manual"}, folder)
}

// committed is when the commit was made that this program is built from, so that the same
// commit makes the same pages; the zero time if the build does not know.
func committed() (day time.Time) {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.time" {
				day, _ = time.Parse(time.RFC3339, s.Value)
			}
		}
	}
	return day
}
