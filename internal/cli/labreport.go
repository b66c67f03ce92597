package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/report"
	"github.com/procfit/procfit/internal/report/files"
	"github.com/procfit/procfit/internal/report/text"
	"github.com/procfit/procfit/internal/session"
)

// labOutcome is a lab run's outcome with what the command line does with it.
type labOutcome struct{ lab.Outcome }

func newLabReport(io stdio) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Analyse a lab run's journals again and write its reports anew",
		Long: `Read the journals below DIR, hold the documents' numbers against them again, print
the outcome, and write index.html, RESULTS.md, lab.json and every experiment's
reports. Nothing is measured. It may be called while the run still goes on.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError("report takes one results directory, got %d arguments; see procfit lab report --help", len(args))
			}
			return reportLab(io, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print lab.json instead of the report")
	return cmd
}

func reportLab(io stdio, dir string, asJSON bool) error {
	read, err := files.ReadLab(dir)
	if errors.Is(err, os.ErrNotExist) {
		return usageError("%s: no %s in it; name the results directory of procfit lab run", dir, files.LabName)
	}
	if err != nil {
		return fmt.Errorf("%w; procfit lab run with the same experiments and --out %s makes it anew from the journals", err, dir)
	}
	o := labOutcome{*read}
	for i := range o.Experiments {
		if err := conclude(dir, &o.Experiments[i], o.Host.EffectiveCPUs); err != nil {
			return err
		}
	}
	if err := o.write(dir); err != nil {
		return err
	}
	return o.show(io, dir, asJSON)
}

// openFolder makes the results folder, or takes over what an earlier run of
// experiments left in it, and keeps others from it until what it returns is closed.
func (r *labRun) openFolder() (io.Closer, error) {
	entries, err := os.ReadDir(r.out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, usageError("--out: %w; choose a directory", err)
	}
	if len(entries) == 0 {
		if err := os.MkdirAll(r.out, 0o755); err != nil {
			return nil, fmt.Errorf("the results directory cannot be made: %w; choose another with --out", err)
		}
	}
	held, err := journal.LockDirectory(r.out)
	if err != nil {
		return nil, usageError("--out: %w", err)
	}
	if len(entries) > 0 {
		err = r.takeOver(entries)
	}
	if err == nil {
		err = r.write()
	}
	if err != nil {
		held.Close()
		return nil, err
	}
	return held, nil
}

// ours tells whether there is nothing but what lab runs write.
func ours(entries []os.DirEntry) bool {
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		_, err := lab.Find(e.Name())
		return err != nil && !slices.Contains([]string{"index.html", "RESULTS.md", files.LabName}, e.Name())
	})
}

// takeOver begins with what an earlier run came to. Its index may be lost; the
// journals are found by the experiments' ids.
func (r *labRun) takeOver(entries []os.DirEntry) error {
	earlier, err := files.ReadLab(r.out)
	damaged := (*json.SyntaxError)(nil)
	switch {
	case err == nil:
	case !errors.Is(err, os.ErrNotExist) && !errors.As(err, &damaged):
		return err
	case !ours(entries):
		return usageError("--out %s holds other files and no %s: choose a new or an empty directory", r.out, files.LabName)
	default:
		r.io.notef("%s: it is made anew, of the experiments that this command names", err)
		return nil
	}
	if !session.SameHost(earlier.Host, r.outcome.Host) {
		return usageError("--out %s holds a run of another machine: choose another directory", r.out)
	}
	r.outcome.Started = earlier.Started
	for _, e := range earlier.Experiments {
		if err := conclude(r.out, &e, r.outcome.Host.EffectiveCPUs); err != nil {
			return err
		}
		r.outcome.Experiments = append(r.outcome.Experiments, e)
	}
	return nil
}

// conclude reads what an experiment's journals hold, writes its sweeps' reports
// and answers its hypotheses.
func conclude(dir string, ran *lab.Ran, cpus float64) error {
	e, err := lab.Find(ran.ID)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, files.LabName), err)
	}
	ran.Title, ran.Document, ran.Claim, ran.Kind = e.Title, e.Document, e.Claim, e.Kind
	ran.Measured, ran.Complete, ran.NotRun = lab.Results{}, true, ""
	measured := false
	var why []string
	for i := range ran.Stages {
		s := &ran.Stages[i]
		if s.Directory != path.Join(ran.ID, s.ID) || !filepath.IsLocal(s.Directory) {
			return fmt.Errorf("%s: %q is no directory of %s", filepath.Join(dir, files.LabName), s.Directory, ran.ID)
		}
		m, err := measuredStage(dir, s)
		if err != nil {
			return err
		}
		ran.Measured[s.ID] = m
		ran.Complete = ran.Complete && (s.Complete || s.NotRun != "" || s.Stopped != "")
		measured = measured || s.Run > 0
		if m.Result == nil && !slices.Contains(why, m.Why) {
			why = append(why, m.Why)
		}
	}
	if !measured {
		ran.NotRun = cmp.Or(strings.Join(why, "; "), "not run yet")
		ran.Complete = !slices.ContainsFunc(ran.Stages, func(s lab.RanStage) bool { return s.NotRun == "" })
	}
	ran.Conclude(e, cpus)
	return nil
}

// measuredStage analyses a stage's journal, if there is one with trials, and writes
// its reports.
func measuredStage(dir string, s *lab.RanStage) (lab.Measured, error) {
	below := filepath.Join(dir, filepath.FromSlash(s.Directory))
	contents, err := journal.ReadDirectory(below)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, journal.ErrEmpty) || err == nil && len(contents.Trials) == 0 {
		return lab.Measured{Why: cmp.Or(s.NotRun, "not run yet")}, nil
	}
	if err != nil { // it is told, and left as it is; the other experiments stand
		s.NotRun = err.Error()
		return lab.Measured{Why: s.NotRun}, nil
	}
	outcome, err := session.Render(below, contents, "")
	if err != nil {
		return lab.Measured{}, err
	}
	s.NotRun = "" // what an earlier look at a damaged journal left
	m := lab.Measured{Result: outcome.Result, Trials: contents.Trials}
	s.Count(m)
	return m, nil
}

// write renders the folder, its experiments in the documents' order.
func (o *labOutcome) write(dir string) error {
	o.Complete = true
	for _, e := range o.Experiments {
		o.Complete = o.Complete && e.Complete
	}
	order := map[string]int{}
	for i, e := range lab.List() {
		order[e.ID] = i
	}
	slices.SortStableFunc(o.Experiments, func(a, b lab.Ran) int { return cmp.Compare(order[a.ID], order[b.ID]) })
	_, err := files.WriteLab(dir, &o.Outcome)
	return err
}

// show prints the outcome: for a program as JSON, for a person in words.
func (o *labOutcome) show(io stdio, dir string, asJSON bool) error {
	if asJSON {
		b, err := json.MarshalIndent(o.Outcome, "", "  ")
		if err != nil {
			return err
		}
		_, err = io.out.Write(append(b, '\n'))
		return err
	}
	options := text.Options{Width: plainWidth, Color: io.color(), Files: []string{
		filepath.Join(dir, "index.html"), filepath.Join(dir, "RESULTS.md"), filepath.Join(dir, files.LabName),
	}}
	if f, ok := io.out.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			options.Width = width
		}
	}
	return text.RenderLab(io.out, report.NewLab(&o.Outcome), options)
}
