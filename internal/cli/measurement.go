package cli

import (
	"context"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/program/toolchain"
	"github.com/procfit/procfit/internal/spec"
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
		Value: field.Text(p),
	}
}

func toggle(name string, p *bool, help string) field.Field {
	return field.Field{Name: name, Help: help, Value: field.Switch(p)}
}

// asked is what the user asked for, without its credentials.
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
