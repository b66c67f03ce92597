package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/verdict/results"
)

type compareOptions struct{ measurement }

func newCompare(std stdio) *cobra.Command {
	o := newCompareOptions()
	return o.bind(std, &cobra.Command{
		Use:   "compare [flags] OLD NEW | OLD -- NEW ARG…",
		Short: "Compare two versions, and fail if the new one is slower",
		Long: `Run an old and a new version of a program in turns, and report whether the new one is
worse. OLD and NEW are commands, each in one quoted word; the words of NEW may come after
-- instead. With --url they are servers, and {port} in both is a free port; without it
they are batch programs, as in procfit sweep.

Pairs of trials run until a difference of more than --margin is proven or
ruled out. --procs compares at several values of GOMAXPROCS. --repeats runs a fixed
number of pairs.

OLD may also be the results directory of an earlier sweep on this host. Then only NEW
runs, and what each value gains over the default is compared with that sweep: a loss that
all values share is not seen, and exit code 0 means that none is proven worse. If both are
results directories, nothing runs and nothing is written.

Exit codes: 0 not worse; 1 NEW is proven worse by more than the margins; 2 usage; 3 the
comparison cannot be judged, or the measurement failed; 130 interrupted.`,
		Example: `  procfit compare ./batch.old ./batch.new
  procfit compare --url http://127.0.0.1:{port}/ './server.old -addr :{port}' './server -addr :{port}'
  procfit compare --url http://127.0.0.1:{port}/ --limit 1 './server.old -addr :{port}' -- ./server -addr :{port}
  procfit compare --procs default,1,2 results/main -- ./batch-job --input x
  procfit compare results/main results/branch`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), std, args, cmd.ArgsLenAtDash())
		},
	}, o.Fields)
}

func newCompareOptions() *compareOptions {
	o := &compareOptions{newMeasurement("compare")}
	o.gate = true
	o.spec.Procs, o.spec.Parts["until"] = plan.Procs{Values: []*int{nil}}, []string{"trials"}
	names := slices.Concat(programFields, except(loadFields, "rate"), callFields, cpuFields, []string{"replicas", "metric", "seed", "for", "repeats"})
	fields := field.Take(o.spec.Fields(), append(field.Named(names...),
		field.Field{Name: "procs", Help: "GOMAXPROCS values to compare at: 1,2,4 (default the program's own)"},
		field.Field{Name: "rate", Help: "req/s of the open loop", More: "auto is half of what the slower of both carries, as the first trials show."},
		field.Field{Name: "until", Help: "the most trials: trials=200 (default 80 for each setting)"},
		field.Field{Name: "margin", Help: "less throughput and more p99 that is not worse (default 5%,p99=20%)", Often: true})...)
	o.Fields = slices.Concat(fields, o.own(), o.fromFile(ofCommand))
	return o
}

func (o *compareOptions) folders(std stdio, old, current string) error {
	for _, name := range o.Names {
		if !slices.Contains([]string{"output", "json", "quiet"}, name) {
			return usageError("--%s has no effect: OLD and NEW are results directories, and nothing is measured; remove it", name)
		}
	}
	if o.printed.format() == yamlFormat {
		return usageError("-o yaml prints the settings of a measurement, and OLD and NEW are results directories: use -o text or -o json")
	}
	return sweepReport(o.printed.std(std), current, o.printed.format(), old)
}

// take reads OLD and NEW; dash is how many words come before --, or less than 0.
func (o *compareOptions) take(args []string, dash int) (err error) {
	folder := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.IsDir()
	}
	switch {
	case dash == 1 && len(args) > 1:
		o.command = args[1:]
	case dash < 0 && len(args) == 2:
		if o.command, err = load.Split(args[1]); err != nil || len(o.command) == 0 {
			return usageError("NEW %q: expected a command", secret.Text(args[1]))
		}
		if folder(args[1]) {
			return usageError("NEW %q: no %s in it; give a command, or the results directory of a sweep", args[1], results.Journal)
		}
		if err := absent("NEW", args[1]); err != nil {
			return err
		}
	case len(args) == 1 && len(o.command) > 0: // NEW is that of procfit.yaml
	case dash > 1 || len(args) > 2:
		return usageError("compare takes one OLD and one NEW, got %d words: quote each command, or give the words of NEW after --", len(args))
	default:
		return usageError("compare needs an OLD and a NEW command; try: procfit compare ./server.old ./server.new")
	}
	o.operands = args[:1]
	if folder(args[0]) {
		o.baseline = args[0]
		return nil
	}
	if err := absent("OLD", args[0]); err != nil {
		return err
	}
	if o.spec.Target.Against, err = load.Split(args[0]); err != nil || len(o.spec.Target.Against) == 0 {
		return usageError("OLD %q: expected a command, or the results directory of an earlier sweep", secret.Text(args[0]))
	}
	return nil
}

// absent refuses a word that is neither a program nor a folder, and may be meant as either.
func absent(which, word string) error {
	if _, err := exec.LookPath(word); err == nil || !errors.Is(err, os.ErrNotExist) && !errors.Is(err, exec.ErrNotFound) || word == "" || strings.ContainsAny(word, " \t\n'\"\\") {
		return nil
	}
	if _, err := os.Stat(word); err == nil {
		return nil
	}
	return usageError("%s %q: there is no results directory and no program of that name; try: procfit compare results/OLD results/NEW, or procfit compare ./server.old ./server.new", which, secret.Text(word))
}

func (o *compareOptions) run(ctx context.Context, std stdio, args []string, dash int) error {
	if len(args) == 2 && dash < 0 && results.Exist(args[0]) && results.Exist(args[1]) {
		return o.folders(std, args[0], args[1])
	}
	std = o.printed.std(std)
	if len(args) > 0 && results.Exist(args[0]) {
		o.baseline = args[0] // which the budget of a file gives way to
	}
	if err := cmp.Or(o.prepare(std), o.take(args, dash)); err != nil {
		return err
	}
	s, err := o.resolve(std)
	if err != nil {
		return err
	}
	return o.onThisMachine(ctx, std, s)
}

func (o *compareOptions) resolve(std stdio) (*session.Session, error) {
	if o.baseline != "" && !o.Has("procs") {
		if err := o.Named("procs").Value.Set("auto"); err != nil {
			return nil, err
		}
	}
	s, err := o.measurement.resolve(std)
	if err != nil {
		return nil, err
	}
	if o.baseline == "" && o.HasPart("timeout", "quiet") {
		std.notef("--timeout quiet has no effect: two commands run in pairs, and other programs slow down both of a pair, so compare does not wait for these to stop")
	}
	if s.Spec.Budget == nil && s.Spec.Repeats < fewestBlocks {
		return nil, usageError("--repeats %d: fewer than %d blocks prove nothing", s.Spec.Repeats, fewestBlocks)
	}
	return s, o.checkBaseline(s, std)
}

const fewestBlocks = 3 // which a comparison needs to be judged at all

// checkBaseline looks at the earlier sweep before this one takes its time.
func (o *compareOptions) checkBaseline(s *session.Session, std stdio) error {
	if o.baseline == "" {
		return nil
	}
	notes, err := s.CheckBaseline()
	if errors.Is(err, os.ErrNotExist) {
		return usageError("OLD %q: no %s in it; name the results directory of an earlier sweep", o.baseline, results.Journal)
	}
	if err != nil {
		return refusal(err)
	}
	noteBaseline(std, o.baseline, notes)
	return nil
}

// noteBaseline prints in what two runs that are compared differ.
func noteBaseline(std stdio, dir string, notes []string) {
	for _, n := range notes {
		std.notef("%s %s", dir, n)
	}
}
