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
	"strings"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/lab/run"
	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
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
	if l.Copies, err = l.settle(ctx, l.manifest); err != nil {
		return nil, err
	}
	if l.Copies.URL() == "" {
		return nil, fmt.Errorf("the manifest of %s declares no containerPort, which the load needs", ID)
	}
	return l, nil
}

func (l *Lab) settle(ctx context.Context, manifest []byte) (*kube.Target, error) {
	o := l.options
	o.Object, o.Stdin, o.Title = "-", bytes.NewReader(manifest), "article 004's app"
	return kube.Settle(ctx, o)
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
