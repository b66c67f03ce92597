package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/lab/page"
	"github.com/procfit/procfit/internal/lab/run"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/show/text"
	sweeppage "github.com/procfit/procfit/internal/verdict/page"
)

type labListJSON struct {
	Schema      string      `json:"schema"`
	Experiments []labListed `json:"experiments"`
}

type labListed struct {
	ID       string   `json:"id"`
	Document string   `json:"document"`
	Title    string   `json:"title"`
	Claim    string   `json:"claim,omitempty"`
	Kind     lab.Kind `json:"kind"`
	Needs    []string `json:"needs"`
}

func newLabList(std stdio) *cobra.Command {
	var f fieldFlags
	out := printed("text", "json")
	return f.bind(std, &cobra.Command{
		Use:     "list [flags]",
		Short:   "List the experiments",
		Example: "  procfit lab list",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			list := []labListed{}
			for _, e := range lab.List() {
				list = append(list, labListed{e.ID, e.Document, e.Title, e.Claim, e.Kind, labNeeds(e)})
			}
			if out.json() {
				return printJSON(std, labListJSON{"procfit.lablist/v1", list})
			}
			w := terminal.NewWriter(columns(std.out), std.color())
			for _, e := range list {
				e.print(w)
			}
			return std.write(w.Bytes(), nil)
		},
	}, out.fields("print the list as JSON"))
}

func (e labListed) print(w *terminal.Writer) {
	const column = 12
	further := strings.Repeat(" ", column)
	w.Paragraph(w.Style(terminal.Cyan, terminal.Pad(e.ID, column, true)), further, e.Title)
	about := lab.DocumentName(e.Document) + " · " + string(e.Kind)
	if len(e.Needs) > 0 {
		about += " · needs " + strings.Join(e.Needs, ", ")
	}
	w.Wrap(further, further, about, terminal.Dim)
}

// labNeeds is what an experiment takes besides procfit, as it runs by default.
func labNeeds(e lab.Experiment) []string {
	needs := []string{}
	add := func(what string) {
		if !slices.Contains(needs, what) {
			needs = append(needs, what)
		}
	}
	for _, s := range e.Stages(lab.Options{CPUs: session.ThisHost().EffectiveCPUs}) {
		if s.NeedsGroups() {
			add("cgroups")
		}
		if len(s.GoVersions) > 0 || s.Tree != "" {
			add("Go toolchains")
		}
		if s.Build != (lab.Build{}) {
			add("go command")
			add("a C compiler")
		}
		for _, name := range s.Needs {
			add(name)
		}
		if words := s.Target.Command; len(words) > 0 && words[0] != lab.GoPlaceholder {
			add(s.Target.Command[0] + " command")
		}
	}
	most := 0.0
	for _, s := range e.Hypotheses {
		most = max(most, s.Needs)
	}
	if most > 1 {
		add("up to " + number.CPUs(most))
	}
	return needs
}

func newLabSource(std stdio) *cobra.Command {
	return &cobra.Command{
		Use:     "source ID",
		Short:   "Print an experiment's program as a main.go of its own",
		Example: "  procfit lab source chain",
		Args:    oneProgram,
		RunE: func(cmd *cobra.Command, args []string) error {
			source, err := lab.Source(args[0])
			if err != nil {
				return refusal(err)
			}
			_, err = fmt.Fprint(std.out, source)
			return err
		},
	}
}

func newLabServe(std stdio) *cobra.Command {
	var f fieldFlags
	addr := "127.0.0.1:8080"
	return f.bind(std, &cobra.Command{
		Use:     "serve [flags] ID",
		Short:   "Run a practice server until it is interrupted",
		Example: "  procfit lab serve tinyserver --addr 127.0.0.1:8080",
		Args:    oneProgram,
		RunE: func(cmd *cobra.Command, args []string) error {
			return refusal(lab.Serve(cmd.Context(), args[0], addr, std.err))
		},
	}, []field.Field{{Name: "addr", Holds: "HOST:PORT", Help: "where to listen", Value: field.Text(&addr)}})
}

// newLabProgram runs a batch program, as lab run does for each trial.
func newLabProgram(std stdio) *cobra.Command {
	return &cobra.Command{
		Use:                "program ID [args…]",
		Short:              "Run a practice program with its own arguments",
		Example:            "  procfit lab program chain -n 100",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || slices.Contains([]string{"-h", "--help", allFlags}, args[0]) {
				return cmd.Help()
			}
			signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // no program looks at a context, and a loop may keep the only P
			code, err := lab.Run(args[0], args[1:], std.out, std.err)
			if err != nil {
				return refusal(err)
			}
			if code != 0 {
				return &exitError{code, fmt.Errorf("%s ended with code %d", args[0], code)}
			}
			return nil
		},
	}
}

func printJSON(std stdio, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	return std.write(append(b, '\n'), err)
}

func oneProgram(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usageError("%s takes the id of one practice program; procfit lab list shows them", cmd.Name())
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		if cmd.HasAvailableSubCommands() {
			return unknownCommand(cmd, args[0])
		}
		return usageError("%s takes no words, got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

func newLabReport(std stdio) *cobra.Command {
	var f fieldFlags
	article := ""
	out := printed("text", "json")
	cmd := &cobra.Command{
		Use:   "report [flags] DIR...",
		Short: "Write the reports of a lab run again, or compare several machines",
		Long: `Read the journals below DIR, compare the articles' numbers with them, print the outcome,
and write index.html, RESULTS.md, lab.json and the reports of each experiment. Nothing is
measured. While the run continues, the outcome is printed and nothing is written.

With several directories, print the runs of several machines in one table and write nothing.
Each answer is from a machine that had the CPUs for it, which the table names. Where such
machines disagree, the hypothesis is undecided, and the table shows what each measured. Only
the lab.json of each directory is read.

With --article, print one article on one screen instead: what it claims, how much of that
holds, what does not, what today's Go changed, and the command for your own program.`,
		Example: "  procfit lab report results/lab-20260105-101500\n  procfit lab report results/laptop results/runner-with-4-cpus\n  procfit lab report --article 002 results/lab-20260105-101500",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usageError("report takes the results directory of a lab run, or of several; see procfit lab report --help")
			case article != "":
				return showArticle(std, args, article, out.json())
			case len(args) == 1:
				return reportLab(std, args[0], out.json())
			}
			return joinLabs(std, args, out.json())
		},
	}
	one := field.Field{Name: "article", Holds: "NUMBER", Help: "print one article on one screen: 000, 001, 002, 003 or 004", Value: field.Text(&article)}
	return f.bind(std, cmd, append(out.fields("print lab.json instead of the report"), one))
}

func showArticle(std stdio, dirs []string, id string, asJSON bool) error {
	at := slices.IndexFunc(lab.Articles(), func(a lab.Article) bool { return a.ID == id })
	switch {
	case at < 0:
		return usageError("--article %q: expected 000, 001, 002, 003 or 004", id)
	case asJSON:
		return usageError("--article has no effect with --json: lab.json has all articles; remove one of the two")
	}
	machines, err := readLabs(dirs)
	if err != nil {
		return err
	}
	d := page.Article(lab.Join(machines), lab.Articles()[at])
	d.Blocks = append([]document.Block{document.Heading{Level: 2, Text: d.Title}}, d.Blocks...)
	return text.Render(std.out, d, std.page(nil))
}

var labPages = run.Pages{Sweep: sweeppage.Write, Lab: page.Write}

func readLab(dir string) (*lab.Outcome, error) {
	o, err := lab.ReadOutcome(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, usageError("%s: no %s in it; name the results directory of procfit lab run", dir, lab.OutcomeName)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; procfit lab run with the same experiments and --out %s rebuilds it from the journals", err, dir)
	}
	return o, nil
}

func readLabs(dirs []string) (machines []*lab.Machine, err error) {
	for _, dir := range dirs {
		o, err := readLab(dir)
		if err != nil {
			return nil, err
		}
		machines = append(machines, &lab.Machine{Name: dir, Outcome: o})
	}
	return machines, nil
}

func joinLabs(std stdio, dirs []string, asJSON bool) error {
	machines, err := readLabs(dirs)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(std, lab.Join(machines))
	}
	return text.Render(std.out, page.Several(machines), std.page(nil))
}

func reportLab(std stdio, dir string, asJSON bool) error {
	o, unwritten, err := run.Conclude(dir, readLab, labPages)
	if err != nil {
		return err
	}
	if errors.Is(unwritten, run.ErrHeld) {
		std.notef("the reports are only printed, not written: %v", unwritten)
		unwritten = nil
	}
	if err := errors.Join(showLab(std, dir, o, asJSON), unwritten); err != nil || slices.ContainsFunc(o.Experiments, lab.Ran.Proved) {
		return err
	}
	var why []string
	for _, e := range o.Experiments {
		if e.NotRun != "" && !slices.Contains(why, e.NotRun) {
			why = append(why, e.NotRun)
		}
	}
	return fmt.Errorf("%s holds no valid trial: %s", dir, cmp.Or(strings.Join(why, "; "), "every trial is invalid"))
}

func showLab(std stdio, dir string, o *lab.Outcome, asJSON bool) error {
	if asJSON {
		return std.write(o.JSON())
	}
	return text.Render(std.out, page.Brief(o), std.page([]string{
		filepath.Join(dir, "index.html"), filepath.Join(dir, "RESULTS.md"), filepath.Join(dir, lab.OutcomeName),
	}))
}
