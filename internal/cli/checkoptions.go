package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/binary"
	"github.com/procfit/procfit/internal/check/cluster"
	"github.com/procfit/procfit/internal/check/manifest"
	gosource "github.com/procfit/procfit/internal/check/source"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

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
	b, err := folder.NewTree(o.paths...).Read(filepath.FromSlash(path), 16<<20)
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

// fileCounter shows on a terminal how many files, or pods, have been checked.
type fileCounter struct {
	liveScreen
	noun string // what is counted
	next time.Time
}

func newCounter(std stdio, noun string) *fileCounter {
	return &fileCounter{newScreen(std.err), noun, time.Now().Add(time.Second)}
}

func (c *fileCounter) count(n int) {
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
