// Package cluster checks what runs in a Kubernetes cluster, by the rules and with the words of
// files.
//
// # Model
//
// Pods of one controller that are the same in what bears on GOMAXPROCS are one [workload]. It is
// written as the object that a file would hold and given to package manifest, so that a value in a
// cluster and in a file cannot be told differently, with what a file does not know: the limits in
// effect, the CPUs of the node, and, from the exporter, the release of the program.
//
// Then what runs is held against what was resolved. A live value comes from the exporter (see
// [Live]); without it, a variable that was drawn from a limit before the pod was resized is
// reported as what it may be. If a pod sets GOMAXPROCS and the template of its controller does not,
// something that admits pods has put it in.
//
// # Limits
//
//   - Everything is only read. What a missing permission leaves out is a note.
//   - Values of Secrets are not asked for. A ConfigMap counts as it is now, and not as it was when
//     a container started; only a live value shows that.
//   - Several Go programs in one container are one: the oldest, by its process number.
package cluster

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/manifest"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Options are what to check of a cluster.
type Options struct {
	Namespace string        // "": all
	Program   check.Program // of every container about which nothing else is known
	Programs  []check.Candidate
	Expected  []*rule.Expected
	Strict    bool           // as in manifest.Options
	Progress  func(pods int) // nil: nobody is called
}

type reading struct {
	o         Options
	client    *Client
	nodes     map[string]node
	live      *live
	workloads map[string]*workload // by what they have in common
	pods      int
	configs   map[string]bool // ConfigMaps, by namespace/name, that variables come from; true: one must be there
	crio      int             // pods of whose value nothing is sure
	files     []*check.File   // of ConfigMaps and autoscalers
	notes     []check.Note
}

// Run checks what runs in a cluster.
func Run(ctx context.Context, client *Client, o Options) (*check.Report, error) {
	r := &reading{o: o, client: client}
	if err := r.readNodes(ctx); err != nil {
		return nil, err
	}
	var err error
	if r.live, err = exporters(ctx, client); apierrors.IsForbidden(err) {
		// Whoever may see one namespace may not see where the exporter runs.
		r.live = &live{}
		r.note("no permission to list the pods of all namespaces, so procfit did not look for exporters")
	} else if err != nil {
		return nil, explain("look for the exporter", err)
	}
	if err := r.readPods(ctx); err != nil {
		return nil, err
	}
	if r.pods == 0 && o.Namespace != "" {
		if err := client.CheckNamespace(ctx, o.Namespace); err != nil {
			return nil, err
		}
	}
	for _, p := range r.live.problems {
		r.note("not read: " + p)
	}
	if r.crio > 0 {
		r.note(phrase.Count(r.crio, "pod") + " on nodes with CRI-O, whose min_injected_gomaxprocs can set GOMAXPROCS without showing it in the API: only the exporter can see it, and not in a sandbox or a virtual machine")
	}
	if err := r.templates(ctx); err != nil {
		return nil, err
	}
	reports, err := r.resolve(ctx)
	if err != nil {
		return nil, err
	}
	whole := check.Merge(reports...)
	once(whole)
	whole.Files, whole.Noun = r.pods, "pod"
	whole.Notes = append(whole.Notes, r.notes...)
	return whole, nil
}

func (r *reading) resolve(ctx context.Context) ([]*check.Report, error) {
	if err := r.readConfigs(ctx); err != nil {
		return nil, err
	}
	if err := r.readScalers(ctx); err != nil {
		return nil, err
	}
	sizes := map[int][]*check.File{}
	byPath := map[string]*workload{}
	for key, w := range r.workloads {
		file := w.path(key)
		byPath[file] = w
		sizes[w.cpus] = append(sizes[w.cpus], check.NewFile(file, w.object))
	}
	programs := &check.Programs{Default: r.o.Program}
	for _, e := range r.o.Expected {
		programs.Expect("", e)
	}
	for _, c := range r.o.Programs {
		programs.Add(c)
	}
	var reports []*check.Report
	for _, cpus := range slices.Sorted(maps.Keys(sizes)) {
		m := manifest.New(manifest.Options{NodeCPUs: cpus, Programs: programs, Strict: r.o.Strict})
		one, err := check.Run(ctx, check.Options{
			Checkers: []check.Checker{judging{m, byPath}},
			Files:    slices.Values(slices.Concat(r.files, sizes[cpus])),
		})
		if err != nil {
			return nil, err
		}
		reports = append(reports, placed(one, byPath))
	}
	return reports, nil
}

// placed has the namespace as the path, and no lines, which no user has.
func placed(r *check.Report, byPath map[string]*workload) *check.Report {
	move := func(p *rule.Place) *workload {
		w := byPath[p.Path]
		if w != nil {
			p.Path = w.namespace
		} else {
			p.Path = path.Dir(p.Path) // an autoscaler
		}
		p.Line, p.Column = 0, 0
		return w
	}
	for i := range r.Values {
		v := &r.Values[i]
		if w := move(&v.Place); w != nil && w.pods > 1 {
			v.Source += fmt.Sprintf("; %d pods", w.pods)
		}
	}
	for i := range r.Findings {
		move(&r.Findings[i].Place)
	}
	for i := range r.Ignored {
		move(&r.Ignored[i].Place)
	}
	for i := range r.Problems {
		p := &r.Problems[i]
		if w := byPath[p.Path]; w != nil {
			p.Path, p.Line, p.Column, p.Message = w.namespace, 0, 0, fmt.Sprintf("pod %s: %s", w.example, p.Message)
		}
	}
	return r
}
