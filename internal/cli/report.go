package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/program/expected"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page"
	served "github.com/procfit/procfit/internal/verdict/page/served"
	"github.com/procfit/procfit/internal/verdict/results"
)

const expectedFormat = "expected"

func newReport(std stdio) *cobra.Command {
	var f fieldFlags
	out := printed("text", "json", expectedFormat)
	return f.bind(std, &cobra.Command{
		Use:   "report DIR",
		Short: "Analyse a sweep's journal again and write its reports again",
		Long: `Read DIR/journal.jsonl, print the report, and write RESULTS.md, report.html, result.json,
bench.txt, procfit.yaml and reproduce.sh next to it. Nothing is measured; the journal does
not change. You can call it while the sweep still runs. If the target never ran, procfit
prints why, writes nothing, and the exit code is 3. -o expected prints the value of the
verdict with what it was measured under, and writes nothing: it is to be kept with the
program, see procfit explain PF060.

If DIR has the results of procfit compare OLD -- NEW, and OLD is the results directory of
an earlier sweep, the report needs OLD too. Without it, procfit prints and writes no report.

To compare two results directories: procfit compare OLD NEW.

Exit codes: 0 fine; 2 usage; 3 there is nothing to report, or no comparison with OLD; 130
interrupted.`,
		Example: "  procfit report results/cpuserver-20260105-101500",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError("report takes one results directory, got %d arguments; see procfit report --help", len(args))
			}
			return sweepReport(out.std(std), args[0], out.format(), "")
		},
	}, out.fields("print result.json instead of the report: the same as -o json"))
}

func readResults(dir string) (*results.Results, error) {
	have, err := results.Read(dir)
	if _, missing := os.Stat(dir); errors.Is(missing, os.ErrNotExist) {
		return nil, usageError("%s: no such directory; name the results directory of a sweep", dir)
	}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		err = usageError("%s: no %s in it; name the results directory of a sweep", dir, results.Journal)
	}
	return have, err
}

// sweepReport shows what the journal of a results directory holds. With a baseline it is compared
// with that, and the exit code is that of the gate; without one it is compared with the earlier
// sweep that its own run was compared with, if there is one, and its reports are written.
func sweepReport(std stdio, dir, format, baseline string) error {
	size := journalSize(dir)
	have, err := readResults(dir)
	if err != nil {
		return err
	}
	if have.Torn > 0 {
		std.notef("%s: its last line is incomplete (%d bytes); procfit ignores it", dir, have.Torn)
	}
	if have.Empty() {
		return fmt.Errorf("%s holds no trial yet: nothing to report", dir)
	}
	if f := have.Failure(); f != nil {
		return whyFailed(std, f, nil)
	}
	r := judgedResult(have)
	if format == expectedFormat {
		e, err := expectedOf(r, have)
		if err == nil {
			err = replacesUnknown(r)
		}
		if err != nil {
			return fmt.Errorf("no expected value in %s: %w", phrase.Clean(r.Folder), err)
		}
		_, err = fmt.Fprintf(std.out, "%s\n", expected.Text(e))
		return err
	}
	var refused error
	if earlier := cmp.Or(baseline, have.Baseline()); earlier != "" {
		var old *results.Results
		old, refused = compareWith(earlier, have, r)
		switch {
		case old == nil: // what is in the folder still has the comparison
			return fmt.Errorf("%w; procfit prints and writes no report without it", refused)
		case refused == nil:
			noteBaseline(std, earlier, session.BaselineNotes(old.Header, have.Header))
		case baseline != "":
			return refused // before anything is printed
		}
	}
	var paths []string
	if baseline == "" {
		paths, err = page.Write(dir, r)
		if err == nil && journalSize(dir) > size { // perhaps to its end, and the sweep's own reports were replaced
			if have, err = readResults(dir); err != nil {
				return err
			}
			if r = judgedResult(have); have.Baseline() != "" {
				_, refused = compareWith(have.Baseline(), have, r)
			}
			paths, err = page.Write(dir, r)
		}
	}
	if err = errors.Join(showResult(std, r, paths, format == "json"), err, refused); err == nil && baseline != "" {
		err = gateError(r.Gate)
	}
	return err
}

// journalSize is in bytes; 0: it is not known.
func journalSize(dir string) int64 {
	info, err := os.Stat(filepath.Join(dir, results.Journal))
	if err != nil {
		return 0
	}
	return info.Size()
}

func resultsOf(s *session.Session) *results.Results {
	return &results.Results{Dir: s.Dir, Contents: s.Journal()}
}

// judgedResult is the analysis of a journal that has trials.
func judgedResult(have *results.Results) *verdict.Result {
	r := have.Verdict()
	r.Folder, r.Settings = have.Dir, settingsOf(r)
	return r
}

// compareWith compares a result with that of an earlier run; nil: that cannot be read.
func compareWith(baseline string, have *results.Results, r *verdict.Result) (*results.Results, error) {
	old, err := results.Read(baseline)
	if err != nil {
		return nil, fmt.Errorf("the earlier run that %s is compared with cannot be read: %w", have.Dir, err)
	}
	if err = session.ArrangedUnlike(old.Header, have.Header, false); err == nil {
		r.Gate, err = verdict.GateBaseline(old.Verdict(), r)
	}
	return old, err
}

func showResult(std stdio, r *verdict.Result, paths []string, asJSON bool) error {
	if asJSON {
		return std.write(page.JSON(r))
	}
	return text.Render(std.out, page.Brief(r), std.page(paths))
}

func (s stdio) page(files []string) text.Options {
	return text.Options{Width: columns(s.out), Files: files, Color: s.color()}
}

// livePage is the page of --serve. Without the flag it is nil, and does nothing.
type livePage struct {
	server   *served.Server
	session  *session.Session
	baseline string // results directory to compare with; empty: there is none
	std      stdio
	began    time.Time
	last     plan.Progress
	failed   bool // a note has said that the page cannot be renewed
}

// openLive serves the page before anything is measured: its address may be taken.
func openLive(ctx context.Context, std stdio, s *session.Session, address, baseline string) (*livePage, error) {
	if address == "" {
		return nil, nil
	}
	server, err := served.Listen(ctx, address)
	if err != nil {
		return nil, usageError("--serve %w", err)
	}
	p := &livePage{server: server, session: s, baseline: baseline, std: std, began: time.Now()}
	std.notef("the report, while it runs: %s", server.URL())
	p.renew()
	return p, nil
}

// renew renders what the journal holds. No trial runs then.
func (p *livePage) renew() *verdict.Result {
	have := resultsOf(p.session)
	r := have.Verdict()
	if p.baseline != "" {
		_, _ = compareWith(p.baseline, have, r) // what cannot be compared yet, the end of the run reports
	}
	err := p.server.Show(page.SoFar(r))
	if err == nil {
		return r
	}
	if !p.failed {
		p.failed = true
		p.std.notef("--serve: the page is not renewed: %v", err)
	}
	return nil
}

func (p *livePage) follow(e *session.Events) {
	if p == nil {
		return
	}
	activity, progress := e.Activity, e.Progress
	e.Activity = func(a plan.Activity) {
		activity(a)
		p.activity(a)
	}
	e.Progress = func(s plan.Progress) {
		progress(s)
		p.progress(s)
	}
}

// progress is called at the beginning and the end of every trial.
func (p *livePage) progress(s plan.Progress) {
	p.last = s
	if s.Trial != nil {
		p.renew()
		return
	}
	p.server.Now(p.now(""))
}

func (p *livePage) activity(a plan.Activity) {
	switch {
	case a.Step == plan.StepBusy: // between two trials
		p.server.Now(p.soFar("Between two trials: " + activity(a)))
	case a.Step == plan.StepProfile: // after the last one
		p.server.Now(p.soFar(phrase.Capital(activity(a))))
	case p.last.Total > 0 && p.last.Trial == nil:
		p.server.Now(p.now(activity(a)))
	}
}

func (p *livePage) now(what string) string {
	running := "Running now: " + taskName(p.last)
	if what != "" {
		running += ", " + what
	}
	return p.soFar(running)
}

func (p *livePage) soFar(sentence string) string {
	text := fmt.Sprintf("%s. Trials done: %s. Elapsed: %s", sentence, countTrials(p.last), number.Clock(time.Since(p.began)))
	if left := p.last.Remaining; left > 0 {
		word := ", left: "
		if p.last.AtMost {
			word = ", left at most: "
		}
		text += word + number.Clock(left)
	}
	return text + "."
}

// end shows the last page to who watches, and serves no more.
func (p *livePage) end(ctx context.Context) {
	if p == nil {
		return
	}
	r := p.renew()
	if r == nil {
		p.server.Close()
		return
	}
	last := "The sweep has ended."
	path := filepath.Join(p.session.Dir, "report.html")
	if _, err := os.Stat(path); err == nil {
		last += " This page stays in " + path + "."
	}
	if err := p.server.End(ctx, page.Ended(r), last); err != nil {
		p.std.notef("--serve: %v", err)
	}
}
