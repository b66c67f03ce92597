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
	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/program/toolchain"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page"
)

// measurement is what the commands that measure share: their flags, what they measure, and
// the way from a session to its report.
type measurement struct {
	flags
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

// ownNamed are some of them.
func (m *measurement) ownNamed(names ...string) []field.Field {
	return field.Take(m.own(), field.Named(names...)...)
}

func often(f field.Field) field.Field {
	f.Often = true
	return f
}

func outField(p *string, normal string) field.Field {
	return field.Field{
		Name: "out", Holds: "DIR", Often: true, Help: "results directory (default " + normal + ")", More: "An unfinished run in it is resumed.",
		Value: field.Text(p),
	}
}

// toggle is a switch.
func toggle(name string, p *bool, help string) field.Field {
	return field.Field{Name: name, Help: help, Value: field.Switch(p)}
}

// asked is what the user asked for, without its credentials, which nothing that is written
// may have.
func (m *measurement) asked(std stdio) spec.Spec {
	s, found := m.Spec(m.name, m.operands, m.command)
	std.secrets.Found(found)
	return s
}

// sessionOptions are what a session of the measurement takes.
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
	o.Host, o.Baseline, o.Environ = session.ThisHost(), cmp.Or(m.baseline, m.like), os.Environ()
	s := session.New(wanted, o)
	return s, checkBudget(s)
}

// checkGo refuses Go versions that there are not, before anything is built.
func checkGo(ctx context.Context, versions []string) error {
	err := toolchain.Go{Path: "go"}.Check(ctx, versions...)
	if err != nil && ctx.Err() == nil {
		return usageError("--go %w", err)
	}
	return err
}

// onThisMachine measures a session here.
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
	}, nil)
}

// measure has a session measured, unless only its plan is asked for, and reports it.
// unclosed gets what a runner has left behind.
func (m *measurement) measure(ctx context.Context, std stdio, s *session.Session, place func() (plan.Runner, error), unclosed func(error)) error {
	std = m.printed.std(std)
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
		_, err := fmt.Fprintln(std.out, describe(s))
		return err
	}
	document, err := openLive(ctx, std, s, m.serve)
	if err != nil {
		return err
	}
	defer document.end(ctx)
	runner, err := place()
	if err != nil {
		return err
	}
	defer func() {
		if err := runner.Close(); err != nil && unclosed != nil {
			unclosed(err)
		}
	}()
	var bar *progress
	events := sweepEvents(std, s, &bar)
	document.follow(&events)
	begun, err := s.Run(ctx, runner, events)
	if !begun {
		return refusal(err)
	}
	bar.finish()
	return m.conclude(std, s, err)
}

// sweepEvents prints on stderr what a run does; its progress line begins with the first
// trial.
func sweepEvents(std stdio, s *session.Session, bar **progress) session.Events {
	return session.Events{
		Torn: std.torn,
		Begin: func() {
			std.notef("%s", describe(s))
			*bar = newProgress(std, time.Now)
			(*bar).resume(resultsOf(s))
		},
		Activity: func(a plan.Activity) {
			switch {
			case *bar == nil:
				std.notef("%s", activity(a))
			case slices.Contains([]plan.Step{plan.StepUnjudged, plan.StepBusy, plan.StepSlow, plan.StepUnprofiled, plan.StepProfile}, a.Step):
				(*bar).notice(a)
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

// refusal makes a wrong Spec, and a results folder that is not to be used, usage
// errors.
func refusal(err error) error {
	var refused *session.Refusal
	var wrong *plan.FieldError
	switch {
	case errors.As(err, &refused):
		return usageError("%w", refused)
	case errors.As(err, &wrong):
		return usageError("%w", wrong)
	}
	return err
}

// errNoneValid is that trials ran, and none can be used. The report has their reasons.
var errNoneValid = errors.New("no trial was valid, so nothing was measured")

// conclude reports what the journal holds, whether or not the run came to its
// end, since a finished trial is never lost.
func (m *measurement) conclude(std stdio, s *session.Session, runErr error) error {
	have := resultsOf(s)
	if wrong := (*plan.FieldError)(nil); errors.As(runErr, &wrong) && len(have.Trials) == 0 {
		return refusal(runErr)
	}
	var busy *plan.BusyError
	if errors.As(runErr, &busy) { // what it has is its result
		std.notef("%v; stop them and run %s to continue; --timeout quiet=10m waits longer, --timeout quiet=0s measures anyway", busy, m.continued(s))
		runErr = nil
	}
	if f := have.Failure(); f != nil {
		return failed(std, s.Dir, f, runErr)
	}
	if runErr != nil {
		defer m.remind(std, s, runErr, len(have.Trials))
	}
	if len(have.Trials) == 0 {
		return interrupted(runErr)
	}
	r, paths, err := publish(have, m.baseline)
	// On a disk that is full the terminal still has the result.
	if err = errors.Join(show(std, r, paths, m.printed.json()), err); err != nil {
		return errors.Join(interrupted(runErr), err)
	}
	if runErr != nil {
		return interrupted(runErr)
	}
	if m.gate {
		return gateError(r.Gate)
	}
	if !have.Measured() {
		return errNoneValid
	}
	return nil
}

// failed writes the page of a sweep that has no verdict, and is its error. It explains why
// the run ended, unless something else ended it.
func failed(std stdio, dir string, f *page.Failure, runErr error) error {
	paths, err := page.WriteFailure(dir, f)
	text := f.Text()
	for _, path := range paths {
		text += "\n→ " + path
	}
	why := errors.Join(errors.New(text), err)
	switch {
	case runErr == nil || errors.Is(runErr, plan.ErrHopeless):
		return why
	case errors.Is(runErr, context.Canceled):
		std.notef("%v", why)
		return interrupted(runErr)
	}
	return errors.Join(why, runErr)
}

// gateError is the gate's answer as an exit code: a gate that could not be judged
// is a failure, not a pass.
func gateError(g *verdict.Gate) error {
	switch {
	case g == nil:
		return errors.New("the comparison cannot be judged: nothing was compared")
	case slices.ContainsFunc(g.Checks, func(c verdict.GateCheck) bool { return c.Worse }):
		return &exitError{exitGate, errors.New(phrase.Clean(page.GateAnswer(g)))}
	case !g.Pass:
		return fmt.Errorf("the comparison cannot be judged: %s", phrase.Clean(page.Unjudged(g)))
	}
	return nil
}

// interrupted words the error of a run that Ctrl-C ended.
func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return &exitError{exitInterrupted, errors.New("interrupted")}
	}
	return err
}

// remind says what is left of a run that did not come to its end, and how to go
// on.
func (m *measurement) remind(std stdio, s *session.Session, err error, trials int) {
	if errors.Is(err, plan.ErrHopeless) {
		std.notef("the trials and their logs are in %s; fix the cause, then start over with another --out", s.Dir)
		return
	}
	var over *plan.OverBudgetError
	if errors.As(err, &over) {
		std.notef("finished trials kept in %s: %d", s.Dir, trials) // the error says how to go on
		return
	}
	if trials == 0 {
		return
	}
	std.notef("finished trials kept in %s: %d; %s resumes it", s.Dir, trials, m.continued(s))
}

// continued is the command that continues a run.
func (m *measurement) continued(s *session.Session) string {
	return cmp.Or(m.again, "the same command with --out "+s.Dir)
}
