// Package pods runs the experiment of document 004 where the document did: in a cluster,
// as many pods behind one load.
//
// Its sweeps are those of every other place, with pods of package kube as their targets.
// Besides them it follows the document's own fix: the manifest as it was before, the same
// after check's fix, and of each what check promises, what kubectl describe shows, and
// what a pod made of it runs with.
//
// The program is procfit's own, whatever Go that is built with: what one of an older Go
// would run with is what check reports, and is not observed.
package pods

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/lab/run"
	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/phrase"
)

// ID is the experiment that can be run so.
const ID = "k8sbench"

//go:embed k8sbench.yaml
var app []byte

// Manifest is the document's app, as it was before its fix, in an image of procfit.
func Manifest(image string) []byte {
	return bytes.Replace(app, []byte("mansoor1/golang-bench:0.2"), []byte(image), 1)
}

// Lab is the experiment in a cluster.
type Lab struct {
	Copies *kube.Target

	options  kube.Options
	check    Check
	host     string // who runs it
	manifest []byte
	given    bool // by the user, and not the document's
}

// Open settles whether and how the manifest's pods can be made, or those of the document's
// own app where it is nil. Nothing is made.
func Open(ctx context.Context, o kube.Options, host string, manifest []byte, check Check) (*Lab, error) {
	l := &Lab{options: o, check: check, host: host, manifest: manifest, given: manifest != nil}
	if !l.given {
		l.manifest = Manifest(o.Image)
	}
	var err error
	if l.Copies, err = l.inspect(ctx, l.manifest); err != nil {
		return nil, err
	}
	if l.Copies.URL() == "" {
		return nil, fmt.Errorf("the manifest of %s declares no containerPort, which the load needs", ID)
	}
	return l, nil
}

func (l *Lab) inspect(ctx context.Context, manifest []byte) (*kube.Target, error) {
	o := l.options
	o.Object, o.Stdin, o.Title = "-", bytes.NewReader(manifest), "article 004's app"
	return kube.Inspect(ctx, o)
}

// Machine is the cluster as a place for trials.
func (l *Lab) Machine() run.Machine {
	return run.Machine{
		Check: func(plan.Spec, bool) error { return nil }, // a Spec of pods says itself what it cannot have
		Target: func(s *plan.Spec, st lab.Stage) {
			s.Target.BuiltIn, s.Target.Command, s.Load.Shared = "", nil, false
			s.Target.Pods, s.Target.URL = l.Copies.Pods(false), strings.TrimSuffix(l.Copies.URL(), "/")+"/"+st.Path
		},
		Look: l.look,
		Runner: func(s *session.Session, _ map[string]local.Program) (plan.Runner, error) {
			return l.Copies.Runner(s.Spec, kube.Config{CreateLog: s.CreateLog, Host: l.host, Image: kube.ImageOf(s.Journal().Trials)}), nil
		},
	}
}

// The files of what was looked at.
const (
	before    = "before.yaml"
	after     = "manifest.yaml"
	manifests = "manifest.txt"
)

// Checked is what check says of a manifest that has one program.
type Checked struct {
	Procs    *int     // nil where it is not a number that is known
	Text     string   // the same in words
	Source   string   // where it comes from, in words
	Findings []string // the rules that fire
}

// Check checks a manifest as procfit check --go 1.24 does, with --fix if it is to be fixed:
// 1.24 is the last Go whose runtime reads no limit, like that of the document.
type Check func(ctx context.Context, file string, fix bool) (Checked, error)

const patience = 2 * time.Minute // for a pod to be ready

// look follows the document's fix.
func (l *Lab) look(ctx context.Context, e lab.Experiment, dir *folder.Dir) ([]lab.RanFile, error) {
	for _, name := range []string{before, after} {
		if err := dir.Replace(name, folder.Shared, l.manifest); err != nil {
			return nil, err
		}
	}
	first, err := l.stand(ctx, filepath.Join(dir.Path(), before), false)
	if err != nil {
		return nil, err
	}
	then, err := l.stand(ctx, filepath.Join(dir.Path(), after), true)
	if err != nil {
		return nil, err
	}
	if err := dir.Replace(manifests, folder.Shared, []byte(l.words(first, then))); err != nil {
		return nil, err
	}
	return []lab.RanFile{
		{Title: "what the manifest promises, and what its pods ran with", Path: path.Join(e.ID, manifests)},
		{Title: "the manifest before the fix", Path: path.Join(e.ID, before)},
		{Title: "the manifest after it", Path: path.Join(e.ID, after)},
	}, nil
}

// stance is a manifest with what is reported of it and what became of it.
type stance struct {
	text     []byte
	promised Checked
	seen     kube.Observed
}

// stand checks or fixes a manifest, and makes a pod of it.
func (l *Lab) stand(ctx context.Context, file string, fix bool) (s stance, err error) {
	if s.promised, err = l.check(ctx, file, fix); err != nil {
		return s, err
	}
	if s.text, err = folder.ReadRegular(file, kube.MostManifest); err != nil {
		return s, err
	}
	copies, err := l.inspect(ctx, s.text)
	if err != nil {
		return s, err
	}
	s.seen, err = copies.RunUnchanged(ctx, l.host, patience)
	return s, err
}

func (l *Lab) words(first, then stance) string {
	var b strings.Builder
	what := "article 004's app with a CPU limit and without GOMAXPROCS"
	if l.given {
		what = "the given manifest"
	}
	fmt.Fprintf(&b, "%s: %s\n", before, what)
	first.write(&b)
	fmt.Fprintf(&b, "\n%s: the same after procfit check --fix --go 1.24\n\n", after)
	changed := string(diff.Diff(before, first.text, after, then.text))
	if changed == "" {
		b.WriteString("    no change\n")
	}
	for line := range strings.Lines(changed) {
		if !strings.HasPrefix(line, "diff ") {
			b.WriteString("    " + line)
		}
	}
	b.WriteString("\n")
	then.write(&b)
	return b.String()
}

func (s stance) write(b *strings.Builder) {
	promise := fmt.Sprintf("GOMAXPROCS %s, %s", s.promised.Text, s.promised.Source)
	if s.promised.Findings != nil {
		promise += " (" + phrase.And(s.promised.Findings) + ")"
	}
	fmt.Fprintf(b, "  procfit check, for Go 1.24: %s\n", phrase.Clean(promise))
	if s.seen.Environment == "" {
		fmt.Fprintf(b, "  kubectl describe:  Environment:  <none>\n")
	} else {
		fmt.Fprintf(b, "  kubectl describe:  Environment:\n                       GOMAXPROCS:  %s\n", phrase.Clean(s.seen.Environment))
	}
	fmt.Fprintf(b, "  its pod ran with:  %s\n", phrase.Clean(s.live()))
}

// live is what the pod ran with, next to what was promised.
func (s stance) live() string {
	r := s.seen.Reading
	if r.Err != nil {
		return "not known: " + r.Err.Error()
	}
	text := fmt.Sprintf("GOMAXPROCS %d on node %s", r.Procs, s.seen.Pod.Node)
	if r.GoVersion != "" {
		text += ", read from its memory, with " + r.GoVersion
	} else {
		text += ", from its own metrics"
	}
	switch promised := s.promised.Procs; {
	case promised == nil && s.seen.Environment == "":
		return text + ": this runtime reads the CPU limit; that of Go 1.24 does not"
	case promised == nil:
		return text
	case *promised == r.Procs:
		return text + ", as promised"
	}
	return text + ", not as promised"
}
