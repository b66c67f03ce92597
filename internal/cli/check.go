package cli

import (
	"bytes"
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
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/binary"
	"github.com/procfit/procfit/internal/check/cluster"
	"github.com/procfit/procfit/internal/check/manifest"
	"github.com/procfit/procfit/internal/check/output"
	gosource "github.com/procfit/procfit/internal/check/source"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/plan/specfile"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

func newCheck(std stdio) *cobra.Command {
	o := checkOptions{severity: rule.Info, out: printed(output.Formats()...)}
	o.out.files = true
	return o.bind(std, &cobra.Command{
		Use:   "check [flags] [PATH… | -]",
		Short: "Find wrong GOMAXPROCS in manifests, Go source and binaries",
		Long: `Report which GOMAXPROCS each Go program in your files will use, and what is wrong with
it. The rules are those for running processes; procfit explain PF003 prints one.

A PATH is a file or a folder; the default is the current folder. - is standard input, for
the output of helm template or kustomize build. procfit skips .git, vendor, node_modules,
testdata, what git ignores and what --skip names, unless you name them.

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
	}, o.fields())
}

const checkJSON = "print procfit.check/v1: the same as -o json"

func (o *checkOptions) fields() []field.Field {
	own := []field.Field{
		{Name: "go", Holds: "VERSION", Often: true, Help: "Go version that the programs of manifests are built with, or a go.mod", Value: field.Parsed(&o.program, "", readRelease)},
		{Name: "container", Holds: "NAME", Help: "judge only containers and services of this name; may be repeated", Value: field.Texts(&o.containers)},
		{Name: "cpus", Holds: "N", Help: "CPUs of the machines that the manifests are for", Value: field.Number(&o.cpus, 1, math.MaxInt32)},
		{Name: "ignore", Holds: "RULE=REASON", Help: "suppress the findings of a rule, with a reason; may be repeated", Value: field.Several(&o.suppressed, readSuppressed)},
		{Name: "skip", Holds: "PATTERN", Help: "skip files and folders, as a line of a .gitignore does; may be repeated", More: "A pattern is for paths as they are printed. A file that you name is not skipped.", Value: field.Several(&o.skip, check.ParsePattern)},
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
		field.Field{Name: "severity", Holds: "SEVERITY", Often: true, Help: "skip findings below this severity: error, warning or info", Value: field.Choice(&o.severity, rule.Severities()...)},
		toggle("values", &o.values, "show the value of every container, also of those without Go"))
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

type checkOptions struct {
	fieldFlags
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
	cpus       int           // of the machines that the manifests are for; 0: not known
	program    check.Program // of every container, where --go names it
	scanned    binary.Cache
	inCluster  bool // what runs is checked, and no files
	access     cluster.Access
	suppressed []suppressed
	skip       []check.Pattern
	file       string // the procfit.yaml
	expected   []*rule.Expected
	stdin      []byte // what came on standard input, if it is to be fixed; nil: it is not
}

type suppressed struct{ rule, reason string }

// lines is what is in a file, for the lines that are shown; nil: it cannot be read any more.
func (o *checkOptions) lines(path string) []byte {
	if path == check.Stdin || o.inCluster {
		return nil
	}
	b, err := folder.NewTree(o.paths...).Read(filepath.FromSlash(path), 16<<20) // bytes; of a larger file no lines are shown
	if err != nil {
		return nil
	}
	return b
}

func readRelease(text string) (check.Program, error) {
	if filepath.Base(text) == "go.mod" {
		return check.ReadModule(nil, text)
	}
	known := check.Program{GoVersion: "go" + strings.TrimPrefix(text, "go"), From: "--go " + text}
	if known.Check() != nil {
		return check.Program{}, fmt.Errorf("%q: expected a Go version such as 1.26 or 1.26.8, or the path of a go.mod", text)
	}
	return known, nil
}

func readSuppressed(text string) (suppressed, error) {
	id, reason, _ := strings.Cut(text, "=")
	if _, ok := rule.Find(id); !ok {
		return suppressed{}, fmt.Errorf("%q: expected a rule ID and a reason, as in PF004=measured%s", text, phrase.DidYouMean(id, ruleIDs()))
	}
	if strings.TrimSpace(reason) == "" {
		return suppressed{}, fmt.Errorf("%q: give a reason, as in %s=measured", text, id)
	}
	return suppressed{id, strings.TrimSpace(reason)}, nil
}

func (o *checkOptions) reasons() map[string]string {
	reasons := map[string]string{}
	for _, s := range o.suppressed {
		reasons[s.rule] = s.reason
	}
	return reasons
}

// fileCounter shows on a terminal how many files, or pods, have been checked. They are counted by
// those that check them, while a timer may print what takes long.
type fileCounter struct {
	liveScreen
	noun string // what is counted
	next time.Time
	mu   sync.Mutex
}

func newCounter(std stdio, noun string) *fileCounter {
	return &fileCounter{liveScreen: newScreen(std.err), noun: noun, next: time.Now().Add(time.Second)}
}

// say prints what takes long, on whatever stderr is.
func (c *fileCounter) say(std stdio, message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.liveScreen.clear()
	std.notef("%s", message)
}

func (c *fileCounter) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.liveScreen.clear()
}

func (c *fileCounter) count(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); c.there() && now.After(c.next) {
		c.next = now.Add(time.Second / 4)
		c.line(phrase.Count(n, c.noun) + " checked")
	}
}

// checkers are new for each run: they hold what they have read. Those that read files
// by themselves take what is in the overlay from there.
func (o *checkOptions) checkers(overlay map[string][]byte, slow func(string)) []check.Checker {
	tree := folder.NewTree(o.paths...)
	programs := &check.Programs{Default: o.program}
	for _, e := range o.expected {
		programs.Expect("", e)
	}
	shows := func(p printPlace) bool { return p.format == "json" || p.format == "sarif" }
	changes := o.fix || o.diff || slices.ContainsFunc(o.out.all(), shows)
	of := manifest.Options{NodeCPUs: o.cpus, Programs: programs, Changes: changes, Stdin: o.stdin != nil, Strict: o.strict, Containers: o.containers, Tree: tree}
	all := []check.Checker{
		binary.New(binary.Options{Programs: programs, Cache: &o.scanned, Tree: tree, Paths: o.paths}), // before those that ask for programs
	}
	if o.noSource {
		return append(all, manifest.New(of))
	}
	source := gosource.New(gosource.Options{Overlay: overlay, Environ: os.Environ(), Syntax: o.syntax, Slow: slow, Tree: tree})
	of.Sets = source.Sets
	return append(all, manifest.New(of), source)
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

// nothingError is that there was nothing to check, why, and how that is allowed.
type nothingError struct{ why, allow string }

func (e *nothingError) Error() string { return "nothing to check: " + e.why + e.allow }

func (o *checkOptions) nothing(r *check.Report) error {
	allow := "; with --allow-empty the exit code is 0"
	if o.piped {
		allow = "; for manifests on standard input: procfit check -"
	}
	if o.inCluster {
		return fmt.Errorf("no pods to check in %s%s", cmp.Or(o.access.Namespace, "the cluster"), allow)
	}
	if len(r.Notes) > 0 {
		where := phrase.Clean(r.Notes[0].Path)
		if where == check.Stdin {
			where = "standard input"
		}
		return &nothingError{where + ": " + r.Notes[0].Message, allow}
	}
	if len(r.Others) > 0 {
		return fmt.Errorf("nothing to check: %s: %s%s", phrase.Clean(phrase.And(r.Others)), check.NoManifest, allow)
	}
	source := ""
	if !o.noSource {
		source = "*.go, go.mod, "
	}
	return fmt.Errorf("no files to check in %s (looked for *.yaml, *.yml, *.json, %sDockerfile, *.service, *.container, Go programs and image archives)%s", phrase.Clean(strings.Join(o.paths, ", ")), source, allow)
}

func isPipe(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// readFile sets what the section check of a procfit.yaml sets and no flag does; in a
// cluster, what the section cluster says of it too.
// The file of a repository names nothing outside of it, and no kubeconfig, which can run commands:
// who runs procfit may not have read it.
func (o *checkOptions) readFile(std stdio) error {
	tree := folder.NewTree(".")
	if _, err := tree.Resolve(specfile.Name); o.file == "" && errors.Is(err, folder.ErrOutside) {
		return usageError("%s is a link out of the folder and its repository; to read it, add --file %[1]s", specfile.Name)
	}
	file, err := openFile(std, o.file)
	if err != nil || file == nil {
		return err
	}
	given, hasPaths := slices.Clone(o.Names), len(o.paths) > 0
	return o.apply(std, file, func(row field.Field) bool {
		switch {
		case row.Group != field.Check && (row.Group != field.Kube || !o.inCluster):
			return true
		case row.Name == pathsField:
			return hasPaths || o.inCluster
		case row.Name == specfile.ExpectedField:
			return false
		}
		has := slices.ContainsFunc(o.fieldFlags.Fields, func(one field.Field) bool { return one.Name == row.Name })
		return !has || slices.Contains(given, row.Name) // kube check has not all
	}, func(name, text string) error {
		if name == pathsField || name == "go" {
			if _, err := tree.Resolve(strings.TrimSuffix(text, "/...")); errors.Is(err, folder.ErrOutside) {
				return fmt.Errorf("%q is outside of the folder and its repository: give it on the command line", text)
			}
		}
		if name == "kubeconfig" && o.file == "" {
			return fmt.Errorf("%q can run commands: give it as --kubeconfig %s, or name this file as --file %s", text, text, specfile.Name)
		}
		switch name {
		case pathsField:
			o.paths = append(o.paths, text)
			return nil
		case specfile.ExpectedField:
			return o.expectedRow().Value.Set(text)
		}
		return o.set(name, text)
	})
}

// check runs over the files, and again for each round of fixes.
func (o *checkOptions) check(ctx context.Context, std stdio) (*check.Report, error) {
	if slices.Contains(o.paths, check.Stdin) && (o.fix || o.diff) { // which a second run reads again
		b, err := folder.ReadAll(ctx, std.in, check.MostStdin)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		o.stdin = append([]byte{}, b...)
	}
	progress := newCounter(std, "file")
	defer progress.clear()
	slow := func(message string) { progress.say(std, message) }
	run := func(ctx context.Context, overlay map[string][]byte) (*check.Report, error) {
		in := std.in
		if o.stdin != nil {
			in = bytes.NewReader(o.stdin)
		}
		report, err := check.Run(ctx, check.Options{Paths: o.paths, Skip: o.skip, Stdin: in, Checkers: o.checkers(overlay, slow), Overlay: overlay, Progress: progress.count})
		if report != nil {
			report = report.Suppress(o.reasons())
		}
		return report, err
	}
	if o.fix || o.diff {
		return check.Fixer{Check: run, Least: o.severity, Write: o.fix, Stdin: o.stdin}.Run(ctx)
	}
	return run(ctx, nil)
}

// fixedText is what --fix - writes. Documents that cannot be read stay as they are.
func fixedText(r *check.Report, stdin []byte) []byte {
	for _, f := range r.Fixed {
		if f.Path == check.Stdin {
			return f.After
		}
	}
	return stdin
}

// checkDiff refuses what --diff does not print: a report.
func (o *checkOptions) checkDiff() error {
	if !o.diff {
		return nil
	}
	if o.values {
		return usageError("--diff prints a diff, and no values: use only one of --diff and --values")
	}
	for _, to := range o.out.all() {
		if to.format != "text" || to.file != "" {
			return usageError("--diff prints a diff, and no report: use only one of --diff and -o %s", to.format)
		}
	}
	return nil
}

// showDiff prints what --fix would write. What cannot be read or fixed goes to stderr.
func (o *checkOptions) showDiff(std stdio, r *check.Report) error {
	for _, f := range r.Fixed {
		name := f.Path
		if name == check.Stdin {
			name = "stdin"
		}
		text := diff.Diff(name, f.Before, name, f.After)
		if isTerminal(std.out) { // patch(1), behind a pipe, needs the bytes
			text = []byte(phrase.CleanLines(string(text)))
		}
		if _, err := std.out.Write(text); err != nil {
			return err
		}
	}
	failed := &check.Report{Notes: r.Notes, Problems: r.Problems}
	if err := output.Write(std.err, "text", failed, output.Options{Quiet: true}); err != nil {
		return err
	}
	switch {
	case len(r.Fixed) > 0 || o.out.quiet || len(r.Problems) > 0:
	case len(r.Findings) > 0:
		std.notef("no safe fix for %s; without --diff, procfit check shows what to do", phrase.Count(len(r.Findings), "finding"))
	default:
		std.notef("nothing to fix: no finding")
	}
	rest := o.verdict(r)
	if len(r.Fixed) == 0 || rest == nil && o.exitZero {
		return rest
	}
	text := phrase.Count(len(r.Fixed), "file") + " would be fixed"
	if rest == nil {
		return &exitError{exitGate, errors.New(text)}
	}
	if found, ok := errors.AsType[*exitError](rest); ok {
		return &exitError{found.code, fmt.Errorf("%s; %w would remain", text, found.err)}
	}
	return fmt.Errorf("%s; %w", text, rest)
}
