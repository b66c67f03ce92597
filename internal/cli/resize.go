package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/resize"
)

type resizeOptions struct {
	measurement
	steps []plan.Limited
}

func newResize(std stdio) *cobra.Command {
	o := newResizeOptions()
	return o.bind(std, &cobra.Command{
		Use:   "resize --limits STEPS [flags] [-- COMMAND ARG…]",
		Short: "Rehearse a change of the CPU limit, and name what does not follow",
		Long: `Start a server under a CPU limit, change the limit while the server is under load, as a
resize in place or a VPA's startup boost does, and report after each step which GOMAXPROCS
it runs with, how long that took to follow, its latency, throttling and threads, and what
did not follow, with the reason and a fix.

First procfit starts the server once under each of the limits: what such a fresh start has
and the resized server does not, was set at the start and did not follow. A step offers
--rate, and at its end for some seconds as much as the server carries.

Without a command, procfit rehearses with its built-in practice server. Changing a limit
needs a cgroup, as --limit of procfit sweep does.

Exit codes: 0 everything followed; 1 something did not; 2 usage; 3 failure; 130
interrupted.`,
		Example: `  procfit resize --limits '0s:1 10s:2'
  procfit resize --limits '0s:2 30s:8 60s:2' --url http://127.0.0.1:{port}/ -- ./server -addr :{port}
  procfit resize --limits '0s:4 60s:500m' --rate 200 --url http://127.0.0.1:{port}/ -- ./server -addr :{port}`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), std, args) },
	}, o.Fields)
}

func newResizeOptions() *resizeOptions {
	o := &resizeOptions{measurement: newMeasurement("resize")}
	o.spec.OwnProcs = true
	names := slices.Concat(except(programFields, "prepare", "beside", "timeout", "any-program"), []string{"build"}, except(loadFields, "rate", "trial-time", "max-errors", "load"), callFields, []string{"seed", "cpus"})
	o.spec.Parts["timeout"], o.spec.Parts["trial-time"] = []string{"ready", "stop", "request"}, []string{"warmup"}
	fields := field.Take(o.spec.Fields(), append(field.Named(names...),
		field.Field{Name: "rate", Help: "req/s in each step (default half of what the smallest limit carries)"},
		field.Field{Name: "max-errors", Help: "a load is not compared if a greater share of its requests fails"},
		field.Field{Name: "trial-time", Help: "load before the first step: warmup=1s (default warmup=500ms)"},
		field.Field{Name: "timeout"})...)
	steps := field.Field{
		Name: "limits", Holds: "STEPS", Often: true, Group: field.Compare, Help: "from when, which CPU limit: '0s:2 30s:8 60s:2'",
		More: "The last limit holds as long as the one before it. 500m is half a CPU.", Value: field.Parsed(&o.steps, "", plan.ParseSteps),
	}
	o.Fields = slices.Concat([]field.Field{steps}, fields, field.Take(o.own(), field.Field{Name: "dry-run"}), o.printed.fields("print the rehearsal as an object"))
	return o
}

func (o *resizeOptions) run(ctx context.Context, std stdio, args []string) error {
	o.command = args
	if err := o.check(); err != nil {
		return err
	}
	if !o.Has("limits") {
		return usageError("resize needs --limits, from when which CPU limit holds; try: procfit resize --limits '0s:1 10s:2'")
	}
	spec, err := o.toSpec(std)
	if err != nil {
		return err
	}
	if err := o.setTarget(&spec, std); err != nil {
		return err
	}
	if !spec.Target.IsServer() {
		return usageError("resize needs a server under load: name its address with --url, as in --url http://127.0.0.1:{port}/")
	}
	s, err := o.here(std, spec)
	if err != nil {
		return err
	}
	if o.dryRun {
		_, err := fmt.Fprintln(std.out, o.describe(s))
		return err
	}
	return o.rehearse(ctx, o.printed.std(std), s)
}

func (o *resizeOptions) describe(s *session.Session) string {
	var limits []float64
	var words []string
	for _, step := range o.steps {
		words = append(words, fmt.Sprintf("%s for %s", number.BareCPUs(step.CPUs), number.Chosen(step.For)))
		if !slices.Contains(limits, step.CPUs) {
			limits = append(limits, step.CPUs)
		}
	}
	last := o.steps[len(o.steps)-1]
	takes := last.At + last.For + time.Duration(len(limits)+1)*(s.Spec.Load.Warmup+local.FreshTakes)
	facts := []string{
		fmt.Sprintf("%s: a fresh start under each of %s", s.Header.Name, phrase.Count(len(limits), "CPU limit")),
		"then a start whose limit is " + phrase.And(words), "about " + number.Minutes(takes),
	}
	for _, limit := range limits {
		facts = append(facts, beyondCPUs(limit, s)...)
	}
	return factLines(facts)
}

func (o *resizeOptions) rehearse(ctx context.Context, std stdio, s *session.Session) error {
	spec, err := s.Filled()
	if err != nil {
		return refusal(err)
	}
	tell := func(a plan.Activity) { std.notef("%s", activity(a)) }
	h := s.Header
	r, err := local.Rehearse(ctx, spec, local.Config{Environ: os.Environ(), Host: h.TargetHost}, o.steps, tell)
	if err = refusal(asInterrupted(err)); err != nil {
		if r == nil || len(r.Steps) == 0 {
			return err
		}
		r.Unfinished = std.secrets.Quoted(err.Error())
	}
	r.Name, r.Started, r.Spec, r.Tool, r.Target, r.Load = h.Name, h.Started, h.Spec, h.Tool, h.Target, h.Load
	r.Judge()
	if err := cmp.Or(o.print(std, r), err); err != nil {
		return err
	}
	if n := len(r.Laggards); n > 0 {
		return &exitError{exitGate, fmt.Errorf("%s did not follow the CPU limit", phrase.CountOf(n, "thing", "things"))}
	}
	return nil
}

func (o *resizeOptions) print(std stdio, r *resize.Rehearsal) error {
	if o.printed.json() {
		return printJSON(std, r)
	}
	return text.Render(std.out, page.Resize(r), std.page(nil))
}
