package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
)

func newReport(std stdio) *cobra.Command {
	var f flags
	var baseline string
	out := printed("text", "json")
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Analyse a sweep's journal again and write its reports again",
		Long: `Read DIR/journal.jsonl, print the report, and write RESULTS.md, report.html, result.json,
bench.txt and reproduce.sh next to it. Nothing is measured; the journal does not change.
You can call it while the sweep still runs. If the target never ran, procfit prints why,
writes only report.html, and the exit code is 3.`,
		Example: "  procfit report results/cpuserver-20260105-101500",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError("report takes one results directory, got %d arguments; see procfit report --help", len(args))
			}
			return report(out.std(std), args[0], out.json(), baseline)
		},
		ValidArgsFunction: completeResults,
	}
	f.bind(std, cmd, append([]field.Field{
		{Name: "baseline", Holds: "DIR", Help: "results directory of an earlier sweep on this host, to compare ratios with", Value: field.Text(&baseline)},
	}, out.fields("print result.json instead of the report: the same as -o json")...))
	out.complete(cmd)
	completeFlag(cmd, "baseline", completeResults)
	return cmd
}

// completeResults are the results directories that lie here, and folders where there are
// none.
func completeResults(_ *cobra.Command, args []string, begun string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, below := range []string{"*", "*/*"} {
		found, _ := filepath.Glob(begun + below + "/" + journal.Name) // an error is of the pattern
		for _, f := range found {
			list = append(list, filepath.Dir(f))
		}
	}
	if len(list) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// report shows what the journal of a results directory holds, and writes its reports.
func report(std stdio, dir string, asJSON bool, baseline string) error {
	contents, err := journal.ReadDirectory(dir)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return usageError("%s: no %s in it; name the results directory of a sweep", dir, journal.Name)
	}
	if err != nil {
		return err
	}
	if contents.Torn > 0 {
		std.notef("%s: its last line is incomplete (%d bytes); procfit ignores it", dir, contents.Torn)
	}
	canaried := contents.Header.Canary != nil // whose end tells something even before its first slice
	if len(contents.Trials) == 0 && !canaried {
		return fmt.Errorf("%s holds no trial yet: nothing to report", dir)
	}
	if f := page.NewFailure(dir, contents); f != nil {
		return failed(std, dir, f, nil)
	}
	r, paths, err := publish(dir, contents, baseline)
	return errors.Join(show(std, r, paths, asJSON), err)
}

// publish analyses a journal that has trials and writes the reports into its folder. The
// result is returned even if it cannot be written, or not be compared with the baseline.
// The path to open first is at the head.
func publish(dir string, contents *journal.Contents, baseline string) (*verdict.Result, []string, error) {
	r := analyze(contents)
	r.Folder, r.Settings = dir, settingsOf(r)
	var refused error
	if baseline != "" {
		old, err := journal.ReadDirectory(baseline)
		if err == nil {
			r.Gate, err = verdict.GateBaseline(analyze(old), r)
		}
		refused = err
	}
	paths, err := page.Write(dir, r)
	return r, paths, errors.Join(refused, err)
}

func analyze(c *journal.Contents) *verdict.Result {
	if c.Header.Canary != nil {
		return canary.Analyze(c)
	}
	return verdict.Analyze(c.Header, c.Trials)
}

// show prints a result: for a program as JSON, for a person as curves and words.
func show(std stdio, r *verdict.Result, paths []string, asJSON bool) error {
	if asJSON {
		b, err := page.JSON(r)
		if err != nil {
			return err
		}
		_, err = std.out.Write(b)
		return err
	}
	return text.Render(std.out, page.New(r).Brief(), std.page(paths))
}

// page is how a report is laid out there.
func (s stdio) page(files []string) text.Options {
	o := text.Options{Width: plainWidth, Files: files, Color: s.color()}
	if f, ok := s.out.(*os.File); ok {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil {
			o.Width, o.Height = width, height
		}
	}
	return o
}

// plainWidth is the columns of a report that goes to no terminal.
const plainWidth = 100
