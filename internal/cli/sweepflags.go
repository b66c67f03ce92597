package cli

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// sweepOptions are the flags of procfit sweep.
type sweepOptions struct {
	flags
	spec *plan.Flags

	out, baseline, live string
	gate, dryRun, json  bool
	kube                kubeOptions
	yes                 bool
	command             []string
}

// newSweepOptions makes them flags of the command.
func newSweepOptions(std stdio, cmd *cobra.Command) *sweepOptions {
	o := &sweepOptions{spec: plan.NewFlags()}
	o.bind(std, cmd, slices.Concat(o.spec.Fields(), o.outputFields(), o.kube.fields(), field.In(field.Kube, toggle("yes", &o.yes, "with --kube: make the pods without asking; with --attach: allow methods other than GET and HEAD", field.OfAsking))))
	return o
}

func (o *sweepOptions) outputFields() []field.Field {
	compare := field.In(field.Compare,
		field.Field{Name: "baseline", Holds: "directory", Help: "results directory of an earlier sweep on this host, to compare ratios with", Value: field.Text(&o.baseline), Not: "against attach", Aside: "it is another journal"},
		toggle("gate", &o.gate, "with --against or --baseline: exit with 1 if the new one is proven worse by more than the margins", "it decides the exit code alone"),
	)
	return append(compare, field.In(field.Output,
		outField(&o.out, "results/NAME-TIME"),
		field.Field{Name: "live", Holds: "address", Help: "serve the report here while the sweep runs: :0 for this machine alone at a free port, or HOST:PORT", Value: field.Text(&o.live), Aside: field.OfOutput},
		toggle("json", &o.json, "print result.json instead of the report", field.OfOutput),
		toggle("dry-run", &o.dryRun, "print the plan and its cost, and stop", field.OfAsking),
	)...)
}

func outField(p *string, normal string) field.Field {
	return field.Field{Name: "out", Holds: "directory", Help: "results directory; a run in it that has not ended is continued (default " + normal + ")", Value: field.Text(p), Aside: field.OfOutput}
}

// toggle is a switch of the command line, of which the header has nothing.
func toggle(name string, p *bool, help, aside string) field.Field {
	return field.Field{Name: name, Help: help, Value: field.Switch(p), Aside: aside}
}

// resolve turns the flags into a session, or says which of them is wrong.
func (o *sweepOptions) resolve(ctx context.Context, std stdio) (*session.Session, error) {
	spec, err := settle(o.spec, std)
	spec.Load.Stretch = !o.has("duration")
	if err != nil {
		return nil, err
	}
	if o.has("kube") {
		return o.resolveKube(ctx, std, spec)
	}
	if err := o.setTarget(&spec, std); err != nil {
		return nil, err
	}
	if err := o.setAttached(&spec); err != nil {
		return nil, err
	}
	if err := o.setBudget(&spec); err != nil {
		return nil, err
	}
	err = spec.Validate()
	if err == nil {
		err = local.Check(spec, false)
	}
	if err != nil {
		return nil, refusal(err)
	}
	s := session.New(spec, session.Options{
		Dir: o.out, Tool: o.tool("sweep"), Host: session.ThisHost(), Baseline: o.baseline, Environ: os.Environ(), Started: time.Now(),
	})
	if err := checkBudget(s); err != nil {
		return nil, err
	}
	return s, o.checkGate(s, std)
}

// tool is this procfit, as it was called.
func (o *sweepOptions) tool(words ...string) journal.Tool {
	words = append(words, o.args()...)
	if len(o.command) > 0 {
		words = slices.Concat(words, []string{"--"}, o.command)
	}
	return tool(words)
}

func tool(args []string) journal.Tool {
	return journal.Tool{Version: version(), GoVersion: runtime.Version(), Args: args}
}

// setTarget settles the program: the user's, a package to build, or the built-in
// service.
func (o *sweepOptions) setTarget(spec *plan.Spec, std stdio) error {
	t := &spec.Target
	var err error
	if t.URL, spec.Load.Requests, err = readMix(o.spec.URLs, o.spec.Requests, std); err != nil {
		return err
	}
	t.Command = o.command
	if o.has("attach") {
		return nil // which says itself what is wrong with it
	}
	if len(o.command) == 0 && t.Build == "" && t.URL == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		t.BuiltIn = builtIn
		t.Command = []string{self, "lab", "serve", builtIn, "--addr", "127.0.0.1:" + plan.PortPlaceholder}
		t.URL = "http://127.0.0.1:" + plan.PortPlaceholder + "/"
	}
	if t.Kind() == journal.KindServer {
		return nil
	}
	// A long program runs once; a short one often enough to tell its time.
	switch {
	case o.has("duration"):
		t.RunFor = spec.Load.Duration
	case t.Kind() == journal.KindBatch:
		t.RunFor = batchTime
	}
	if !o.has("warmup") {
		spec.Load.Warmup = 0
	}
	return nil
}

const (
	// builtIn is the practice service that a sweep without a command measures.
	builtIn = "cpuserver"
	// batchTime is what the runs of one trial use where --duration is not given.
	batchTime = time.Second
	// fewestBlocks is what a gate needs to be judged at all.
	fewestBlocks = 3
)

// checkGate looks at what the sweep is to be compared with, before it takes its
// time.
func (o *sweepOptions) checkGate(s *session.Session, std stdio) error {
	against := s.Spec.Target.Against != nil
	switch {
	case o.gate && !against && o.baseline == "":
		return usageError("--gate needs something to compare with: --against 'OLD COMMAND' or --baseline DIR")
	case o.gate && s.Spec.Budget == nil && o.spec.Repeats < fewestBlocks:
		return usageError("--gate with --repeats %d: fewer than %d blocks prove nothing", o.spec.Repeats, fewestBlocks)
	case o.baseline == "":
		return nil
	}
	old, notes, err := s.CheckBaseline()
	if errors.Is(err, os.ErrNotExist) {
		return usageError("--baseline: %w; name the results directory of an earlier sweep", err)
	}
	if err != nil {
		return refusal(err)
	}
	for _, n := range notes {
		switch n {
		case session.BaselineCommand:
			std.notef("the baseline measured another command: %q, now %q", old.Target.Command, s.Header.Target.Command)
		case session.BaselineLoad:
			std.notef("the baseline was measured under another load")
		case session.BaselineBeside:
			std.notef("beside the baseline another program ran, or none: --beside is not the same")
		}
	}
	return nil
}
