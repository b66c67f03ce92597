package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/lab/page"
	"github.com/procfit/procfit/internal/lab/run"
	"github.com/procfit/procfit/internal/show/text"
	sweeppage "github.com/procfit/procfit/internal/verdict/page"
)

func newLabReport(std stdio) *cobra.Command {
	var f flags
	out := printed("text", "json")
	cmd := &cobra.Command{
		Use:   "report [flags] DIR",
		Short: "Analyse the journals of a lab run and write its reports again",
		Long: `Read the journals below DIR, compare the articles' numbers with them, print the outcome,
and write index.html, RESULTS.md, lab.json and the reports of each experiment. Nothing is
measured. It may be called while the run continues.`,
		Example: "  procfit lab report results/lab-20260105-101500",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError("report takes one results directory, got %d arguments; see procfit lab report --help", len(args))
			}
			return reportLab(std, args[0], out.json())
		},
	}
	f.bind(std, cmd, out.fields("print lab.json instead of the report"))
	out.complete(cmd)
	return cmd
}

// labPages are the reports of a lab run.
var labPages = run.Pages{Sweep: sweeppage.Write, Lab: page.Write}

func reportLab(std stdio, dir string, asJSON bool) error {
	o, err := lab.ReadOutcome(dir)
	if errors.Is(err, os.ErrNotExist) {
		return usageError("%s: no %s in it; name the results directory of procfit lab run", dir, lab.OutcomeName)
	}
	if err != nil {
		return fmt.Errorf("%w; procfit lab run with the same experiments and --out %s rebuilds it from the journals", err, dir)
	}
	if err := run.Conclude(dir, o, labPages); err != nil {
		return err
	}
	return showLab(std, dir, o, asJSON)
}

// showLab prints an outcome: for a program as JSON, for a person in words.
func showLab(std stdio, dir string, o *lab.Outcome, asJSON bool) error {
	if asJSON {
		b, err := o.JSON()
		if err != nil {
			return err
		}
		_, err = std.out.Write(b)
		return err
	}
	return text.Render(std.out, page.New(o).Brief(), text.Options{
		Width: cmp.Or(width(std), plainWidth), Color: std.color(), Files: []string{
			filepath.Join(dir, "index.html"), filepath.Join(dir, "RESULTS.md"), filepath.Join(dir, lab.OutcomeName),
		},
	})
}
