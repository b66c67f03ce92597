package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

type build struct {
	Schema   string `json:"schema"`
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"commit_time,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the source was not that of the commit
	Go       string `json:"go_version"`
	Platform string `json:"platform"`
}

func thisBuild() build {
	b := build{Schema: "procfit.version/v1", Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = "devel"
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// version is the module's version, or the commit that it was built from.
func version() string {
	b := thisBuild()
	if b.Version == "devel" && b.Commit != "" {
		return "devel-" + b.Commit[:min(12, len(b.Commit))]
	}
	return b.Version
}

func newVersion(std stdio) *cobra.Command {
	var f fieldFlags
	out := printed("text", "json")
	return f.bind(std, &cobra.Command{
		Use:     "version [flags]",
		Short:   "Print the version of procfit, its commit and its Go",
		Long:    "Print the version of procfit, the commit and the Go version that it was built from and\nwith, and its platform.",
		Example: "  procfit version",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			b := thisBuild()
			if out.json() {
				return printJSON(std, b)
			}
			text := "procfit " + b.Version + "\n"
			if b.Commit != "" {
				text += "commit  " + b.Commit
				if b.Modified {
					text += " (modified)"
				}
				text += "\n"
			}
			_, err := fmt.Fprintf(std.out, "%sgo      %s\nfor     %s\n", text, b.Go, b.Platform)
			return err
		},
	}, out.fields("print an object instead"))
}
