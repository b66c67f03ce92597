package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/binary"
	"github.com/procfit/procfit/internal/check/cluster"
	"github.com/procfit/procfit/internal/check/manifest"
	"github.com/procfit/procfit/internal/check/output"
	gosource "github.com/procfit/procfit/internal/check/source"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/maxprocs/facts"
)

// checkOptions are the flags of procfit check.
type checkOptions struct {
	flags
	out        printing
	paths      []string
	piped      bool // no path is named, and standard input is a pipe
	severity   rule.Severity
	exitZero   bool
	strict     bool
	containers []string
	allowEmpty bool
	values     bool
	noSource   bool
	syntax     bool
	fix        bool
	diff       bool
	program    checkProgram
	scanned    binary.Cache
	cluster    checkCluster
	suppressed []suppressed
	file       string // the procfit.yaml
	expected   []*rule.Expected
	stdin      []byte      // what came on standard input, if it is to be fixed; nil: it is not
	crio       *facts.CRIO // nil: findings are asked for
}

// suppressed is a rule whose findings are suppressed everywhere.
type suppressed struct{ rule, reason string }

// checkProgram is what the flags say of the programs in manifests.
type checkProgram struct {
	cpus    int           // of the machines; 0: not known
	program check.Program // of every container, where --go names it
}

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
  procfit check --crio 1 --cpus 64 deploy/
  procfit check -o text -o sarif=procfit.sarif`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.paths = args
			return o.run(cmd.Context(), std)
		},
	}
	o.bind(std, cmd, o.fields())
	return cmd
}

func (o *checkOptions) fields() []field.Field {
	own := []field.Field{
		{Name: "go", Holds: "VERSION", Often: true, Help: "Go version that the programs of manifests are built with, or a go.mod", Value: field.Parsed(&o.program.program, "", readRelease)},
		{Name: "container", Holds: "NAME", Help: "judge only containers and services of this name; may be repeated", Value: field.Texts(&o.containers)},
		{Name: "cpus", Holds: "N", Help: "CPUs of the machines that the manifests are for", Value: field.Number(&o.program.cpus, 1, math.MaxInt32)},
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
	result := field.In(field.Output,
		toggle("values", &o.values, "show the value of every container, also of those without Go"),
		o.crioField(),
	)
	return slices.Concat(own, result, o.out.fields(checkJSON))
}

func (o *checkOptions) run(ctx context.Context, std stdio) error {
	given := slices.Clone(o.Names) // without those of the procfit.yaml, which is for findings too
	if err := o.readFile(o.out.std(std)); err != nil {
		return err
	}
	if err := cmp.Or(o.flags.check(), o.checkCRIO(given), o.checkDiff()); err != nil {
		return err
	}
	if len(o.paths) == 0 {
		o.paths, o.piped = []string{"."}, isPipe(std.in)
	}
	look := o.check
	if o.cluster.on {
		look = func(ctx context.Context, std stdio) (*check.Report, error) {
			return checkPods(ctx, std, o.cluster.access, cluster.Options{Program: o.program.program, Expected: o.expected, CRIO: o.crio, Strict: o.strict})
		}
		defer boundMemory()()
	}
	shown := std // also with -q
	std = o.out.std(std)
	assumes(std, o.program.program.GoVersion)
	report, ended := look(ctx, std)
	if report == nil || ended != nil && ctx.Err() == nil {
		return ended
	}
	if ended != nil {
		note := "interrupted: this is what was found until then"
		if o.looksAtSource() {
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
	if o.crio != nil {
		return cmp.Or(interrupted(ended), o.writeImpact(std, report, options))
	}
	err := o.out.write(std, func(w io.Writer, format string) error {
		if options.Width = 0; w == std.out && format == "text" {
			options.Width, options.Color, options.Source = width(std), std.color(), o.lines
		}
		return output.Write(w, format, report, options)
	})
	if err != nil {
		return err
	}
	return cmp.Or(interrupted(ended), o.once(o.verdict(report)))
}

// lines is what is in a file, for the lines that are shown; nil: it cannot be read any more.
func (o *checkOptions) lines(path string) []byte {
	if path == check.Stdin || o.cluster.on {
		return nil
	}
	b, err := folder.NewTree(o.paths...).Read(filepath.FromSlash(path), mostOfSource)
	if err != nil {
		return nil
	}
	return b
}

// mostOfSource is the size of a file, in bytes, up to which lines of it are shown.
const mostOfSource = 16 << 20

// once is the exit code alone where the text on standard output has said what made it so.
func (o *checkOptions) once(verdict error) error {
	var found *exitError
	if errors.As(verdict, &found) && found.code == exitGate && !o.out.quiet && slices.Contains(o.out.all(), place{format: "text"}) {
		return &exitError{code: exitGate}
	}
	return verdict
}

// readRelease is the program that --go describes.
func readRelease(text string) (check.Program, error) {
	if filepath.Base(text) == "go.mod" {
		return check.ReadModule(text)
	}
	known := check.Program{GoVersion: "go" + strings.TrimPrefix(text, "go"), From: "--go " + text}
	if known.Check() != nil {
		return check.Program{}, fmt.Errorf("%q: expected a Go version such as 1.26 or 1.26.8, or the path of a go.mod", text)
	}
	return known, nil
}

// readSuppressed reads PF004=reason.
func readSuppressed(text string) (suppressed, error) {
	id, reason, _ := strings.Cut(text, "=")
	if _, ok := rule.Find(id); !ok {
		var known []string
		for _, r := range rule.All() {
			known = append(known, r.ID)
		}
		return suppressed{}, fmt.Errorf("%q: expected a rule ID and a reason, as in PF004=measured%s", text, phrase.DidYouMean(id, known))
	}
	if strings.TrimSpace(reason) == "" {
		return suppressed{}, fmt.Errorf("%q: give a reason, as in %s=measured", text, id)
	}
	return suppressed{id, strings.TrimSpace(reason)}, nil
}

// reasons are those of the rules that are suppressed.
func (o *checkOptions) reasons() map[string]string {
	reasons := map[string]string{}
	for _, s := range o.suppressed {
		reasons[s.rule] = s.reason
	}
	return reasons
}

// counter shows on a terminal how many files, or pods, have been checked.
type counter struct {
	std  stdio
	out  *os.File // nil: nobody watches
	noun string   // what is counted
	next time.Time
}

func newCounter(std stdio, noun string) *counter {
	f, ok := std.err.(*os.File)
	if !ok || !terminal.Escapes(f) {
		return &counter{std: std}
	}
	return &counter{std, f, noun, time.Now().Add(time.Second)}
}

// say prints what takes long, on whatever stderr is.
func (c *counter) say(message string) {
	c.clear()
	c.std.notef("%s", message)
}

func (c *counter) count(n int) {
	if now := time.Now(); c.out != nil && now.After(c.next) {
		c.next = now.Add(time.Second / 4)
		fmt.Fprintf(c.out, "\r%s checked\x1b[K", phrase.Count(n, c.noun))
	}
}

func (c *counter) clear() {
	if c.out != nil {
		fmt.Fprint(c.out, "\r\x1b[K")
	}
}

// checkers are new for each run: they hold what they have read. Those that read files
// by themselves take what is in the overlay from there.
func (o *checkOptions) checkers(overlay map[string][]byte, slow func(string)) []check.Checker {
	tree := folder.NewTree(o.paths...)
	programs := &check.Programs{Default: o.program.program}
	for _, e := range o.expected {
		programs.Expect("", e)
	}
	all := []check.Checker{
		binary.New(binary.Options{Programs: programs, Cache: &o.scanned, Tree: tree, Paths: o.paths}), // before those that ask for programs
		manifest.New(manifest.Options{NodeCPUs: o.program.cpus, Programs: programs, Changes: o.changes(), Stdin: o.stdin != nil, CRIO: o.crio, Strict: o.strict, Containers: o.containers, Tree: tree}),
	}
	if o.looksAtSource() {
		all = append(all, gosource.New(gosource.Options{Overlay: overlay, Environ: os.Environ(), Syntax: o.syntax, Slow: slow, Bounds: gosource.DefaultBounds(), Tree: tree}))
	}
	return all
}

// looksAtSource reports whether Go source is judged: a floor of CRI-O is for pods alone.
func (o *checkOptions) looksAtSource() bool { return !o.noSource && o.crio == nil }

// changes reports whether the changes of findings are needed.
func (o *checkOptions) changes() bool {
	has := func(p place) bool { return p.format == "json" || p.format == "sarif" }
	return o.crio == nil && (o.fix || o.diff || slices.ContainsFunc(o.out.all(), has))
}

// verdict is the exit code, with what made it so: what could not be checked goes
// before what was found, and both are reported.
func (o *checkOptions) verdict(r *check.Report) error {
	bad := r.Count(rule.Error) + r.Count(rule.Warning)
	found := phrase.Count(bad, "finding") + " of severity warning or error"
	switch {
	case len(r.Problems) > 0 && bad > 0:
		return fmt.Errorf("%s; %s", r.Failed(), found)
	case len(r.Problems) > 0:
		return errors.New(r.Failed())
	case bad > 0 && !o.exitZero:
		return &exitError{exitGate, fmt.Errorf("%s", found)}
	case r.Files == 0 && !o.allowEmpty:
		return o.nothing(r)
	}
	return nil
}

// isPipe reports whether something may be piped in.
func isPipe(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// nothing is the error of a run that had nothing to check.
func (o *checkOptions) nothing(r *check.Report) error {
	allow := "; with --allow-empty the exit code is 0"
	if o.piped {
		allow = "; for manifests on standard input: procfit check -"
	}
	if o.cluster.on {
		return fmt.Errorf("no pods to check in %s%s", cmp.Or(o.cluster.access.Namespace, "the cluster"), allow)
	}
	if len(r.Notes) > 0 {
		where := phrase.Clean(r.Notes[0].Path)
		if where == check.Stdin {
			where = "standard input"
		}
		return fmt.Errorf("nothing to check: %s: %s%s", where, r.Notes[0].Message, allow)
	}
	if len(r.Others) > 0 {
		return fmt.Errorf("nothing to check: %s: %s%s", phrase.Clean(phrase.And(r.Others)), check.NoManifest, allow)
	}
	source := ""
	if o.looksAtSource() {
		source = "*.go, go.mod, "
	}
	return fmt.Errorf("no files to check in %s (looked for *.yaml, *.yml, *.json, %sDockerfile, *.service, *.container, Go programs and image archives)%s", phrase.Clean(strings.Join(o.paths, ", ")), source, allow)
}
