package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/binary"
	"github.com/procfit/procfit/internal/check/manifest"
	"github.com/procfit/procfit/internal/check/output"
	gosource "github.com/procfit/procfit/internal/check/source"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
)

// checkOptions are the flags of procfit check.
type checkOptions struct {
	paths    []string
	formats  []string
	severity string
	exitZero bool
	values   bool
	noSource bool
	syntax   bool
	fix      bool
	diff     bool
	program  checkProgram
	scanned  binary.Cache
	cluster  checkCluster
}

// checkProgram is what the flags say of the programs in manifests.
type checkProgram struct {
	release  string
	nodeCPUs int
	program  check.Program // of every container, where --go tells
}

func newCheck(std stdio) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check [flags] [PATH… | -]",
		Short: "Which GOMAXPROCS the programs in your files will get, and what is wrong with it",
		Long: `Read what stands in files, and say which GOMAXPROCS each Go program there will get
and what is wrong with that, by the rules that judge running processes: procfit
explain PFnnn prints one.

A PATH is a file or a folder; none is the folder here, and - is standard input, as
from helm template or kustomize build. Not entered unless named are .git, vendor,
node_modules, testdata, and what git ignores.

A finding is answered in its file, by a comment with a reason:

  # procfit:ignore PF004 the value is measured

Exit codes: 0 nothing of severity warning or error; 1 findings; 2 usage; 3 something
could not be checked, whatever else was found; 130 interrupted, after what was found
until then. docs/CHECK.md has more.`,
		Example: `  procfit check
  procfit check ./...
  procfit check --go 1.24 deploy/
  procfit check deploy/ bin/api
  helm template chart | procfit check -
  procfit check --diff deploy/
  procfit check --format text --format sarif=procfit.sarif
  procfit check --cluster --namespace shop`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.paths = args
			return o.run(cmd.Context(), std)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.program.release, "go", "", "the Go `version` that the programs of manifests are built with, or the go.mod of their module")
	f.IntVar(&o.program.nodeCPUs, "node-cpus", 0, "the `number` of CPUs of the machines that manifests are for")
	f.StringArrayVar(&o.formats, "format", []string{"text"}, "`FORMAT` or FORMAT=FILE, may be repeated: "+strings.Join(output.Formats(), ", "))
	f.StringVar(&o.severity, "severity", string(rule.Info), "leave out findings below this `severity`: error, warning or info")
	f.BoolVar(&o.fix, "fix", false, "write the fixes that change nothing else, and prove each")
	f.BoolVar(&o.diff, "diff", false, "print what --fix would write, as a unified diff, and write nothing")
	f.BoolVar(&o.exitZero, "exit-zero", false, "findings do not make the exit code 1")
	f.BoolVar(&o.noSource, "no-source", false, "leave Go source out, and what go.mod says of it")
	f.BoolVar(&o.syntax, "syntax", false, "judge Go source by each package's own files, without asking the go command what they import")
	f.BoolVar(&o.values, "values", false, "show the value of every container, also of those that say nothing of Go")
	o.cluster.flags(f)
	return cmd
}

func (o *checkOptions) run(ctx context.Context, std stdio) error {
	targets, err := o.targets()
	if err != nil {
		return err
	}
	if o.fix && o.diff {
		return usageError("--fix and --diff exclude each other")
	}
	if o.noSource && o.syntax {
		return usageError("--no-source and --syntax exclude each other")
	}
	if !slices.Contains(rule.Severities(), rule.Severity(o.severity)) {
		return usageError("--severity %q: known are error, warning and info", o.severity)
	}
	if err := o.program.read(); err != nil {
		return err
	}
	if err := o.cluster.validate(o); err != nil {
		return err
	}
	if len(o.paths) == 0 {
		o.paths = []string{"."}
	}
	look := o.check
	if o.cluster.on {
		look = o.checkCluster
		defer boundMemory()()
	}
	report, ended := look(ctx, std)
	if report == nil || ended != nil && ctx.Err() == nil {
		return ended
	}
	if ended != nil {
		report.Notes = append(report.Notes, check.Note{Path: ".", Message: "interrupted: this is what was found until then; Go source is looked at last"})
	}
	report = report.AtLeast(rule.Severity(o.severity))
	if o.diff && ended == nil {
		return o.showDiff(std, report)
	}
	for _, t := range targets {
		if err := o.write(t, std, report); err != nil {
			return err
		}
	}
	return cmp.Or(interrupted(ended), o.verdict(report))
}

// read understands the flags.
func (p *checkProgram) read() error {
	if p.nodeCPUs < 0 || p.nodeCPUs > math.MaxInt32 {
		return usageError("--node-cpus %d: want a positive number of CPUs", p.nodeCPUs)
	}
	if p.release == "" {
		return nil
	}
	if filepath.Base(p.release) == "go.mod" {
		known, err := check.ReadModule(p.release)
		if err != nil {
			return usageError("--go: %w", err)
		}
		p.program = known
		return nil
	}
	known := check.Program{GoVersion: "go" + strings.TrimPrefix(p.release, "go"), From: "--go " + p.release}
	if err := known.Check(); err != nil {
		return usageError("--go: %w", err)
	}
	p.program = known
	return nil
}

// check runs over the files, and again for each round of fixes.
func (o *checkOptions) check(ctx context.Context, std stdio) (*check.Report, error) {
	in := std.in
	if slices.Contains(o.paths, check.Stdin) && (o.fix || o.diff) { // which a second run reads again
		b, err := folder.ReadAll(ctx, in, check.MostStdin)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		in = bytes.NewReader(b)
	}
	progress := newCounter(std, "file")
	defer progress.clear()
	run := func(ctx context.Context, overlay map[string][]byte) (*check.Report, error) {
		if again, ok := in.(io.Seeker); ok && in != std.in {
			if _, err := again.Seek(0, io.SeekStart); err != nil {
				return nil, err
			}
		}
		return check.Run(ctx, check.Options{Paths: o.paths, Stdin: in, Checkers: o.checkers(overlay, progress.say), Overlay: overlay, Progress: progress.count})
	}
	if o.fix || o.diff {
		return check.Fixer{Check: run, Least: rule.Severity(o.severity), Write: o.fix}.Run(ctx)
	}
	return run(ctx, nil)
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

// say tells what takes long, on whatever stderr is.
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

// showDiff prints what --fix would write, and tells of the rest on stderr.
func (o *checkOptions) showDiff(std stdio, r *check.Report) error {
	for _, f := range r.Fixed {
		if _, err := std.out.Write(diff.Diff(f.Path, f.Before, f.Path, f.After)); err != nil {
			return err
		}
	}
	if err := o.verdict(r); err != nil || len(r.Fixed) == 0 || o.exitZero {
		return err
	}
	return &exitError{exitGate, fmt.Errorf("%s would be fixed", phrase.Count(len(r.Fixed), "file"))}
}

// checkers are new for each run: they hold what they have read. Those that read files
// by themselves take what is in the overlay from there.
func (o *checkOptions) checkers(overlay map[string][]byte, slow func(string)) []check.Checker {
	programs := &check.Programs{Default: o.program.program}
	all := []check.Checker{
		binary.New(binary.Options{Programs: programs, Cache: &o.scanned}), // before those that ask for programs
		manifest.New(manifest.Options{NodeCPUs: o.program.nodeCPUs, Programs: programs, Changes: o.changes()}),
	}
	if !o.noSource {
		all = append(all, gosource.New(gosource.Options{Overlay: overlay, Environ: os.Environ(), Syntax: o.syntax, Slow: slow}))
	}
	return all
}

// changes tells that somebody looks at the changes of findings.
func (o *checkOptions) changes() bool {
	has := func(f string) bool { return strings.HasPrefix(f, "json") || strings.HasPrefix(f, "sarif") }
	return o.fix || o.diff || slices.ContainsFunc(o.formats, has)
}

// outputTarget is one --format.
type outputTarget struct{ format, file string }

func (o *checkOptions) targets() ([]outputTarget, error) {
	var all []outputTarget
	for _, f := range o.formats {
		name, file, toFile := strings.Cut(f, "=")
		if !slices.Contains(output.Formats(), name) || toFile && file == "" {
			return nil, usageError("--format %q: want %s, or one of them with a file, as in sarif=procfit.sarif", f, strings.Join(output.Formats(), ", "))
		}
		if slices.ContainsFunc(all, func(t outputTarget) bool { return t.file == file }) {
			return nil, usageError("--format %q: two formats to one place; name a file for all but one, as in sarif=procfit.sarif", f)
		}
		all = append(all, outputTarget{name, file})
	}
	return all, nil
}

func (o *checkOptions) write(t outputTarget, std stdio, r *check.Report) error {
	options := output.Options{Version: version(), Values: o.values}
	if t.file == "" {
		options.Color = std.color()
		return output.Write(std.out, t.format, r, options)
	}
	f, err := os.Create(t.file)
	if err != nil {
		return fmt.Errorf("--format %s: %w", t.format, err)
	}
	err = output.Write(f, t.format, r, options)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("--format %s: %w", t.format, err)
	}
	return nil
}

// verdict is the exit code, with what made it so: what could not be checked goes
// before what was found, and both are told.
func (o *checkOptions) verdict(r *check.Report) error {
	bad := r.Count(rule.Error) + r.Count(rule.Warning)
	found := phrase.Count(bad, "finding") + " of severity warning or error"
	switch {
	case len(r.Problems) > 0 && bad > 0:
		return fmt.Errorf("%s could not be checked; %s", phrase.Count(len(r.Problems), "place"), found)
	case len(r.Problems) > 0:
		return fmt.Errorf("%s could not be checked", phrase.Count(len(r.Problems), "place"))
	case bad > 0 && !o.exitZero:
		return &exitError{exitGate, fmt.Errorf("%s", found)}
	}
	return nil
}
