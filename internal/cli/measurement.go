package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/program/toolchain"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/page"
)

// measurement is what the commands that measure share: their flags, what they measure, and
// the way from a session to its report.
type measurement struct {
	fieldFlags
	spec     *plan.Flags
	name     string   // of the command, such as kube sweep
	operands []string // its words before the flags: OLD, PID, OBJECT
	command  []string // the program's words
	baseline string   // results directory to compare with
	gate     bool     // the exit code is the comparison's

	like             string // results directory whose arrangement of CPUs is taken over
	out, serve, file string
	again            string // the command that continues a run; empty: the same one with --out
	dryRun           bool
	printed          printing
}

func newMeasurement(name string) measurement {
	m := measurement{spec: plan.NewFlags(), name: name, printed: printed("text", "json")}
	if slices.Contains(readsFile, name) {
		m.printed.formats = append(m.printed.formats, yamlFormat)
	}
	return m
}

// own are the fields that a run has on top of what it measures.
func (m *measurement) own() []field.Field {
	own := field.In(field.Output,
		outField(&m.out, "results/NAME-TIME"),
		field.Field{Name: "serve", Holds: "ADDRESS", Help: "serve the report while it is measured: :0 for this machine, or HOST:PORT", Value: field.Text(&m.serve)},
		often(toggle("dry-run", &m.dryRun, "print the plan and its cost, and stop")),
	)
	for _, f := range m.printed.fields("print result.json instead of the report") {
		f.Often = f.Name == "json"
		own = append(own, f)
	}
	return own
}

// ofBlocks are those of an experiment in blocks.
func (m *measurement) ofBlocks(kind string) []field.Field {
	return field.Take(m.own(), append(field.Named("dry-run", "output", "json", "quiet"),
		field.Field{Name: "out", Help: "results directory (default results/NAME-" + kind + "-TIME)"})...)
}

func often(f field.Field) field.Field {
	f.Often = true
	return f
}

func outField(p *string, normal string) field.Field {
	return field.Field{
		Name: "out", Holds: "DIR", Often: true, Help: "results directory (default " + normal + ")", More: "An unfinished run in it is resumed.",
		Value: field.Parsed(p, *p, field.Some),
	}
}

func toggle(name string, p *bool, help string) field.Field {
	return field.Field{Name: name, Help: help, Value: field.Switch(p)}
}

// asked is what the user asked for, without its credentials, which nothing that is written may have.
func (m *measurement) asked(std stdio) spec.Spec {
	s, found := m.Spec(m.name, m.operands, m.command)
	std.secrets.Found(found)
	return s
}

func (m *measurement) sessionOptions(std stdio) session.Options {
	return session.Options{Dir: m.out, Spec: m.asked(std), Secrets: std.secrets, Tool: session.Tool(version()), Started: time.Now()}
}

// toSpec is the Spec of the flags. The open loop of a trial whose --trial-time is not given
// is as long as its p99 needs.
func (m *measurement) toSpec(std stdio) (plan.Spec, error) {
	spec, err := toSpec(m.spec, std)
	spec.Load.Stretch = !m.HasPart("trial-time", "")
	return spec, err
}

// checkGo refuses Go versions that there are not, before anything is built.
func checkGo(ctx context.Context, versions []string) error {
	err := toolchain.Go{Path: "go"}.Check(ctx, versions...)
	if err != nil && ctx.Err() == nil {
		return usageError("--go %w", err)
	}
	return err
}

// here plans the session of a program on this machine.
func (m *measurement) here(std stdio, wanted plan.Spec) (*session.Session, error) {
	known, err := wanted.Filled(std.secrets.Variable)
	if unset := (*spec.UnsetError)(nil); err == nil || errors.As(err, &unset) { // it is set for the run
		err = known.Validate()
	}
	if err == nil {
		err = local.Check(known, false)
	}
	if err != nil {
		return nil, refusal(err)
	}
	if err := checkGo(std.ctx, wanted.GoVersions); err != nil {
		return nil, err
	}
	o := m.sessionOptions(std)
	o.Host, o.Baseline, o.Like, o.Environ = session.ThisHost(), m.baseline, m.like, os.Environ()
	s := session.New(wanted, o)
	return s, checkBudget(s)
}

func (m *measurement) onThisMachine(ctx context.Context, std stdio, s *session.Session) error {
	if m.dryRun && m.printed.format() != yamlFormat {
		if err := local.Denied(s.Spec); err != nil {
			std.notef("this would not run here: %v", err)
		}
	}
	return m.measure(ctx, std, s, func() (plan.Runner, error) {
		spec, err := s.Filled()
		if err != nil {
			return nil, refusal(err)
		}
		return local.New(spec, local.Config{Environ: os.Environ(), CreateLog: s.CreateLog, CreateProfile: s.CreateProfile})
	})
}

// measure has a session measured and reports it, unless only its plan is asked for.
func (m *measurement) measure(ctx context.Context, std stdio, s *session.Session, place func() (plan.Runner, error)) error {
	std, errs := m.printed.std(std), std
	if m.printed.format() == yamlFormat {
		return m.printFile(std)
	}
	if m.dryRun {
		if err := folder.Try(s.Dir); err != nil {
			return usageError("--out %s: %w", s.Dir, err)
		}
		if err := s.Look(); err != nil {
			return refusal(err)
		}
		_, err := fmt.Fprintln(std.out, m.describe(s))
		return err
	}
	document, err := openLive(ctx, std, s, m.serve, m.baseline)
	if err != nil {
		return err
	}
	defer document.end(ctx)
	runner, err := place()
	if err != nil {
		return err
	}
	defer func() {
		if err := runner.Close(); err != nil {
			errs.notef("%v", err)
		}
	}()
	var bar *progress
	events := m.events(std, s, &bar)
	document.follow(&events)
	begun, err := s.Run(ctx, runner, events)
	if !begun {
		return refusal(err)
	}
	bar.finish()
	return m.conclude(std, s, err)
}

// events prints on stderr what a run does; the first trial begins its progress line.
func (m *measurement) events(std stdio, s *session.Session, bar **progress) session.Events {
	return session.Events{
		Torn: std.torn,
		Begin: func() {
			std.notef("%s", m.describe(s))
			*bar = newProgress(std, time.Now)
			(*bar).resume(resultsOf(s))
		},
		Activity: func(a plan.Activity) {
			switch {
			case *bar == nil:
				std.notef("%s", activity(a))
			case slices.Contains([]plan.Step{plan.StepUnjudged, plan.StepBusy, plan.StepSlow, plan.StepListens, plan.StepProfile, plan.StepSliced}, a.Step):
				(*bar).notice(a, phrase.If(a.Step == plan.StepBusy && a.Waited == 0, m.patience(), ""))
			default:
				(*bar).activity(a)
			}
		},
		Progress: func(p plan.Progress) { (*bar).report(p) },
	}
}

func (s stdio) torn(path string, bytes int64) {
	s.notef("%s: its last line is incomplete (%d bytes) and is ignored", path, bytes)
}

// refusal makes a wrong Spec, a results folder that cannot be used, and an experiment that does not
// exist usage errors.
func refusal(err error) error {
	if refused, ok := errors.AsType[*session.Refusal](err); ok {
		return usageError("%w", refused)
	}
	if wrong, ok := errors.AsType[*plan.FieldError](err); ok {
		return usageError("%w", wrong)
	}
	if unknown, ok := errors.AsType[*lab.UnknownError](err); ok {
		return usageError("%w", unknown)
	}
	return err
}

// errNoneValid is that trials ran, and none can be used. The report has their reasons.
var errNoneValid = errors.New("no trial was valid, so nothing was measured")

// conclude reports what the journal holds, also of a run that did not come to its end: a finished
// trial is never lost.
func (m *measurement) conclude(std stdio, s *session.Session, runErr error) error {
	have := resultsOf(s)
	if wrong := (*plan.FieldError)(nil); errors.As(runErr, &wrong) && len(have.Trials) == 0 {
		return refusal(runErr)
	}
	if busy, ok := errors.AsType[*plan.BusyError](runErr); ok { // what it has is its result
		more := ""
		if !busy.Settled {
			more = fmt.Sprintf("; stop them and run %s to continue%s", m.continued(s), m.patience())
		}
		std.notef("%v%s", busy, more)
		runErr = nil
	}
	if f := have.Failure(); f != nil {
		return whyFailed(std, f, runErr)
	}
	if runErr != nil {
		defer m.remind(std, s, runErr, len(have.Trials))
	}
	if len(have.Trials) == 0 {
		return asInterrupted(runErr)
	}
	r := judgedResult(have)
	var refused error
	if m.baseline != "" {
		_, refused = compareWith(m.baseline, have, r)
	}
	paths, err := page.Write(have.Dir, r)
	// On a disk that is full the terminal still has the result.
	err = errors.Join(showResult(std, r, paths, m.printed.json()), refused, err)
	if err != nil || runErr != nil {
		return errors.Join(asInterrupted(runErr), err)
	}
	if m.gate {
		return gateError(r.Gate)
	}
	if !have.Measured() {
		return errNoneValid
	}
	return nil
}

// remind prints what a run that did not come to its end leaves, and how to continue.
func (m *measurement) remind(std stdio, s *session.Session, err error, trials int) {
	_, over := errors.AsType[*plan.OverBudgetError](err)
	switch {
	case errors.Is(err, plan.ErrHopeless):
		std.notef("the trials and their logs are in %s; fix the cause, then start over with another --out", s.Dir)
	case over: // the error says how to go on
		std.notef("finished trials kept in %s: %d", s.Dir, trials)
	case trials > 0:
		std.notef("finished trials kept in %s: %d; %s resumes it", s.Dir, trials, m.continued(s))
	}
}

func (m *measurement) continued(s *session.Session) string {
	return cmp.Or(m.again, "the same command with --out "+s.Dir)
}
