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
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/manifest"
	"github.com/procfit/procfit/internal/host/cluster"
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
	files     []*check.File   // of ConfigMaps, autoscalers and workloads
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
	whole, err := r.resolve(ctx)
	if err != nil {
		return nil, err
	}
	whole.Files, whole.Noun = r.pods, "pod"
	whole.Notes = append(whole.Notes, r.notes...)
	return whole, nil
}

func (r *reading) resolve(ctx context.Context) (*check.Report, error) {
	if err := r.readConfigs(ctx); err != nil {
		return nil, err
	}
	if err := r.readScalers(ctx); err != nil {
		return nil, err
	}
	byPath := map[string]*workload{}
	for key, w := range r.workloads {
		file := w.path(key)
		byPath[file] = w
		r.files = append(r.files, check.NewFile(file, w.object))
	}
	programs := &check.Programs{Default: r.o.Program}
	for _, e := range r.o.Expected {
		programs.Expect("", e)
	}
	for _, c := range r.o.Programs {
		programs.Add(c)
	}
	node := func(file string) (cpus int, pods string) {
		if w := byPath[file]; w != nil {
			return w.size.cpus, w.size.pods
		}
		return 0, ""
	}
	m := manifest.New(manifest.Options{Node: node, Programs: programs, Strict: r.o.Strict})
	whole, err := check.Run(ctx, check.Options{Checkers: []check.Checker{judging{m, byPath}}, Files: r.files})
	if err != nil {
		return nil, err
	}
	return check.Merge(placed(whole, byPath)), nil // several pods, or their autoscaler, may now have one finding
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

// Access says which cluster, and as whom, as kubectl's flags do.
type Access = cluster.Access

// use is what one reader may use: as much as a busy controller.
var use = cluster.Use{Agent: "procfit check", PerSecond: 200, Protobuf: true}

// Client reads a cluster.
type Client struct{ *cluster.Client }

// Connect makes a client; it does not talk to the cluster yet.
func Connect(a Access) (*Client, error) {
	c, err := cluster.Connect(a, use)
	if err != nil {
		return nil, err
	}
	return &Client{c}, nil
}

func (c *Client) list(ctx context.Context, namespace, resource string, o meta.ListOptions, into runtime.Object) error {
	return c.Explain(c.Core.Get().NamespaceIfScoped(namespace, namespace != "").Resource(resource).VersionedParams(&o, c.Parameters).Do(ctx).Into(into))
}

func (c *Client) get(ctx context.Context, group, namespace, path string, o meta.ListOptions) ([]byte, error) {
	at := []string{"apis", group}
	if namespace != "" {
		at = append(at, "namespaces", namespace)
	}
	b, err := c.Core.Get().AbsPath(append(at, path)...).SetHeader("Accept", "application/json").VersionedParams(&o, c.Parameters).DoRaw(ctx)
	return b, c.Explain(err)
}

// requestsAtOnce are those of several objects, or through the API server, which passes each on to a node.
const requestsAtOnce = 8

// pageSize is in objects. A page of pods takes some 10 MB here while it is read.
const pageSize = 250

// If a list lasts so long that the server forgets its place, it is begun again, with restart.
func pages(ctx context.Context, restart func(), page func(context.Context, meta.ListOptions) (next string, err error)) error {
	o := meta.ListOptions{Limit: pageSize}
	for again := 0; ; {
		next, err := page(ctx, o)
		switch {
		case apierrors.IsResourceExpired(err) && o.Continue != "" && again < 2:
			again++
			o.Continue = ""
			restart()
			continue
		case err != nil:
			return err
		case next == "":
			return nil
		}
		o.Continue = next
	}
}

func explain(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s: not allowed: %w; the role procfit-check in deploy/kubernetes/check.yaml has the permissions", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

type node struct {
	size
	crio, windows bool
}

// size is of a node; a zero size is not known.
type size struct {
	cpus int
	pods string // the amount of CPU that it has for pods, which a resourceFieldRef without a limit becomes
}

// Without permission, values that follow from a node are reported in words.
func (r *reading) readNodes(ctx context.Context) error {
	r.nodes = map[string]node{}
	err := pages(ctx, func() {}, func(ctx context.Context, o meta.ListOptions) (string, error) {
		var list core.NodeList
		if err := r.client.list(ctx, "", "nodes", o, &list); err != nil {
			return "", err
		}
		for _, n := range list.Items {
			of := size{cpus: int(n.Status.Capacity.Cpu().Value())}
			if pods := n.Status.Allocatable.Cpu(); !pods.IsZero() {
				of.pods = pods.String()
			}
			info := n.Status.NodeInfo
			r.nodes[n.Name] = node{of, strings.HasPrefix(info.ContainerRuntimeVersion, "cri-o:"), info.OperatingSystem == string(core.Windows)}
		}
		return list.Continue, nil
	})
	if apierrors.IsForbidden(err) {
		r.note("no permission to list nodes: values that depend on the CPUs of a node are described in words")
		return nil
	}
	return explain("list the nodes", err)
}

func (r *reading) readPods(ctx context.Context) error {
	restart := func() {
		r.workloads, r.pods, r.configs, r.crio = map[string]*workload{}, 0, map[string]bool{}, 0
	}
	restart()
	err := pages(ctx, restart, func(ctx context.Context, o meta.ListOptions) (string, error) {
		// What has ended gets nothing any more.
		o.FieldSelector = "status.phase!=Succeeded,status.phase!=Failed"
		var list core.PodList
		if err := r.client.list(ctx, r.o.Namespace, "pods", o, &list); err != nil {
			return "", err
		}
		for i := range list.Items {
			if err := r.pod(&list.Items[i]); err != nil {
				return "", err
			}
		}
		if r.o.Progress != nil {
			r.o.Progress(r.pods)
		}
		return list.Continue, nil
	})
	return explain("list the pods of "+phrase.If(r.o.Namespace != "", "namespace "+r.o.Namespace, "all namespaces"), err)
}

// crioSkip with the value "true" has CRI-O inject no GOMAXPROCS into a pod.
const crioSkip = "skip-gomaxprocs.crio.io"

func (r *reading) pod(p *core.Pod) error {
	r.pods++
	on := r.nodes[p.Spec.NodeName]
	seen := r.live.of(p)
	w, key, err := ofPod(p, on, seen)
	if err != nil {
		return err
	}
	if on.crio && w.injectable() && (seen.whole.IsZero() || sandboxed(p)) && p.Annotations[crioSkip] != "true" {
		r.crio++
	}
	r.drawsOnConfigs(p)
	if known := r.workloads[key]; known != nil {
		known.pods++
		maps.Copy(known.revisions, w.revisions)
		return nil
	}
	r.workloads[key] = w
	return nil
}

func (r *reading) drawsOnConfigs(p *core.Pod) {
	add := func(name string, optional *bool) {
		r.configs[p.Namespace+"/"+name] = r.configs[p.Namespace+"/"+name] || optional == nil || !*optional
	}
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for _, from := range c.EnvFrom {
			if of := from.ConfigMapRef; of != nil {
				add(of.Name, of.Optional)
			}
		}
		for _, e := range c.Env {
			if strings.HasPrefix(e.Name, "GO") && e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil {
				add(e.ValueFrom.ConfigMapKeyRef.Name, e.ValueFrom.ConfigMapKeyRef.Optional)
			}
		}
	}
}

// mostConfig is the longest entry that may be a variable.
const mostConfig = 1024

// readConfigs gives every ConfigMap with an entry that may be a variable of the runtime, and those
// that a pod names: one without such an entry, or that need not be there, sets nothing.
func (r *reading) readConfigs(ctx context.Context) error {
	if len(r.configs) == 0 {
		return nil
	}
	before, there := len(r.files), map[string]bool{}
	add := func(namespace, name string, data map[string]string) error {
		b, err := json.Marshal(map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata{Name: name, Namespace: namespace}, "data": data,
		})
		if err != nil {
			return fmt.Errorf("ConfigMap %s/%s: %w", namespace, name, err)
		}
		r.files = append(r.files, check.NewFile(namespace+"/ConfigMap."+name+".json", b))
		return nil
	}
	restart := func() {
		r.files = r.files[:before]
		clear(there)
	}
	err := pages(ctx, restart, func(ctx context.Context, o meta.ListOptions) (string, error) {
		var list core.ConfigMapList
		if err := r.client.list(ctx, r.o.Namespace, "configmaps", o, &list); err != nil {
			return "", err
		}
		for _, c := range list.Items {
			kept := c.Data
			maps.DeleteFunc(kept, func(_, value string) bool { return len(value) > mostConfig })
			there[c.Namespace+"/"+c.Name] = true
			if _, named := r.configs[c.Namespace+"/"+c.Name]; len(kept) == 0 && !named {
				continue
			}
			if err := add(c.Namespace, c.Name, kept); err != nil {
				return "", err
			}
		}
		return list.Continue, nil
	})
	if apierrors.IsForbidden(err) {
		r.note("no permission to list ConfigMaps: variables that come from them are not known")
		return nil
	}
	for key, must := range r.configs {
		if namespace, name, _ := strings.Cut(key, "/"); err == nil && !must && !there[key] {
			err = add(namespace, name, nil)
		}
	}
	return explain("list the ConfigMaps", err)
}

func (r *reading) note(message string) {
	r.notes = append(r.notes, check.Note{Path: "cluster", Message: message})
}

// KEDA's ScaledObjects make HorizontalPodAutoscalers.
var scalers = []struct{ group, resource, kind string }{
	{"autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"},
	{"autoscaling.k8s.io/v1", "verticalpodautoscalers", "VerticalPodAutoscaler"},
}

// scaler is what is kept of one: a file's object, in the folder of its namespace.
type scaler struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Metadata   metadata        `json:"metadata"`
	Spec       json.RawMessage `json:"spec"`
}

// readScalers gives every autoscaler. A cluster without VerticalPodAutoscalers has none.
func (r *reading) readScalers(ctx context.Context) error {
	for _, of := range scalers {
		before := len(r.files)
		err := pages(ctx, func() { r.files = r.files[:before] }, func(ctx context.Context, o meta.ListOptions) (string, error) {
			b, err := r.client.get(ctx, of.group, r.o.Namespace, of.resource, o)
			if err != nil {
				return "", err
			}
			var list struct {
				Metadata struct{ Continue string }
				Items    []scaler
			}
			if err := json.Unmarshal(b, &list); err != nil {
				return "", fmt.Errorf("the list is not valid JSON: %w", err)
			}
			for _, item := range list.Items {
				item.APIVersion, item.Kind = of.group, of.kind
				b, err := json.Marshal(item)
				if err != nil {
					return "", fmt.Errorf("%s %s/%s: %w", of.kind, item.Metadata.Namespace, item.Metadata.Name, err)
				}
				r.files = append(r.files, check.NewFile(item.Metadata.Namespace+"/"+of.kind+"."+item.Metadata.Name+".json", b))
			}
			return list.Metadata.Continue, nil
		})
		switch {
		case apierrors.IsForbidden(err):
			r.note("no permission to list " + of.resource + ": whether they can work with the GOMAXPROCS of their pods is not known")
		case apierrors.IsNotFound(err): // the cluster does not have this kind
		case err != nil:
			return explain("list the "+of.resource, err)
		}
	}
	return nil
}
