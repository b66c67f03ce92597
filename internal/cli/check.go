package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/cluster"
	"github.com/procfit/procfit/internal/check/output"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/rule"
)

func newCheck(std stdio) *cobra.Command {
	o := checkOptions{severity: rule.Info, out: printed(output.Formats()...)}
	o.out.files = true
	cmd := &cobra.Command{
		Use:   "check [flags] [PATH… | -]",
		Short: "Find wrong GOMAXPROCS in manifests, Go source and binaries",
		Long: `Report which GOMAXPROCS each Go program in your files will use, and what is wrong with
it. The rules are those for running processes; procfit explain PF003 prints one.

A PATH is a file or a folder; the default is the current folder. - is standard input, for
the output of helm template or kustomize build. procfit skips .git, vendor, node_modules,
testdata and what git ignores, unless you name them.

--fix - is a filter: the manifests go from standard input to standard output with the safe
fixes, the report goes to standard error. No other file is changed.

A comment with a reason suppresses a finding:

  # procfit:ignore PF004 the value is measured

Exit codes: 0 no finding of severity warning or error; 1 findings; 2 usage; 3 something
could not be checked, or there was nothing to check; 130 interrupted.`,
		Example: `  procfit check
  procfit check ./...
  procfit check --go 1.24 deploy/
  procfit check deploy/ bin/api
  helm template chart | procfit check -
  procfit check --diff deploy/
  helm template chart | procfit check --fix -
  procfit check -o text -o sarif=procfit.sarif`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.paths = args
			return o.run(cmd.Context(), std)
		},
	}
	return o.bind(std, cmd, o.fields())
}

const checkJSON = "print procfit.check/v1: the same as -o json"

func (o *checkOptions) fields() []field.Field {
	own := []field.Field{
		{Name: "go", Holds: "VERSION", Often: true, Help: "Go version that the programs of manifests are built with, or a go.mod", Value: field.Parsed(&o.program, "", readRelease)},
		{Name: "container", Holds: "NAME", Help: "judge only containers and services of this name; may be repeated", Value: field.Texts(&o.containers)},
		{Name: "cpus", Holds: "N", Help: "CPUs of the machines that the manifests are for", Value: field.Number(&o.cpus, 1, math.MaxInt32)},
		{Name: "ignore", Holds: "RULE=REASON", Help: "suppress the findings of a rule, with a reason; may be repeated", Value: field.Several(&o.suppressed, readSuppressed)},
		{Name: "severity", Holds: "SEVERITY", Often: true, Help: "skip findings below this severity: error, warning or info", Value: field.Choice(&o.severity, rule.Severities()...)},
		often(toggle("fix", &o.fix, "write the safe fixes, and check each one")),
		{Name: "diff", Often: true, Help: "print what --fix would write, as a unified diff, and write nothing", Value: field.Switch(&o.diff), Not: "fix"},
		toggle("strict", &o.strict, "report as an error a value that depends on what is not read"),
		toggle("exit-zero", &o.exitZero, "exit with 0 even if there are findings"),
		toggle("allow-empty", &o.allowEmpty, "nothing to check does not make the exit code 3"),
		toggle("no-source", &o.noSource, "skip Go source, and what go.mod says of it"),
		{Name: "syntax", Help: "judge Go source without asking the go command what it imports", Value: field.Switch(&o.syntax), Not: "no-source"},
	}
	own = append(own, fileField(&o.file, "check.paths"))
	result := field.In(field.Output, toggle("values", &o.values, "show the value of every container, also of those without Go"))
	return slices.Concat(own, result, o.out.fields(checkJSON))
}

func (o *checkOptions) run(ctx context.Context, std stdio) error {
	if err := o.readFile(o.out.std(std)); err != nil {
		return err
	}
	if err := cmp.Or(o.fieldFlags.check(), o.checkDiff()); err != nil {
		return err
	}
	if len(o.paths) == 0 {
		o.paths, o.piped = []string{"."}, isPipe(std.in)
	}
	look := o.check
	if o.inCluster {
		look = func(ctx context.Context, std stdio) (*check.Report, error) {
			return checkPods(ctx, std, o.access, cluster.Options{Program: o.program, Expected: o.expected, Strict: o.strict})
		}
		defer boundMemory()()
	}
	shown := std // also with -q
	std = o.out.std(std)
	assumes(std, o.program.GoVersion)
	report, ended := look(ctx, std)
	if report == nil || ended != nil && ctx.Err() == nil {
		return ended
	}
	if ended != nil {
		note := "interrupted: this is what was found until then"
		if !o.noSource {
			note += "; Go source is looked at last"
		}
		report.Notes = append(report.Notes, check.Note{Path: ".", Message: note})
	}
	report = report.Suppress(o.reasons()).AtLeast(o.severity)
	if o.diff && ended == nil {
		return o.showDiff(shown, report)
	}
	options := output.Options{Version: version(), Values: o.values, Quiet: o.out.quiet, Fix: o.fix}
	if o.fix && o.stdin != nil && ended == nil {
		if _, err := shown.out.Write(fixedText(report, o.stdin)); err != nil {
			return err
		}
	}
	if o.stdin != nil {
		std.out = shown.err // standard output is for the manifests alone
	}
	err := o.out.write(std, func(w io.Writer, format string) error {
		if options.Width = 0; w == std.out && format == "text" {
			options.Width, options.Color, options.Source = columns(std.out), std.color(), o.lines
		}
		return output.Write(w, format, report, options)
	})
	return cmp.Or(err, asInterrupted(ended), o.once(o.verdict(report)))
}

// once is the exit code alone where the text on standard output has said the rest.
func (o *checkOptions) once(verdict error) error {
	if !slices.Contains(o.out.all(), printPlace{format: "text"}) {
		return verdict
	}
	if found, ok := errors.AsType[*exitError](verdict); ok && found.code == exitGate && !o.out.quiet {
		return &exitError{code: exitGate}
	}
	if nothing, ok := errors.AsType[*nothingError](verdict); ok { // -q prints notes too
		return errors.New("nothing to check" + nothing.allow)
	}
	return verdict
}
