package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/host/cluster"
)

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
	cpus int
	crio bool
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
			cpus := n.Status.Capacity.Cpu()
			r.nodes[n.Name] = node{int(cpus.Value()), strings.HasPrefix(n.Status.NodeInfo.ContainerRuntimeVersion, "cri-o:")}
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
	what := "list the pods of all namespaces"
	if r.o.Namespace != "" {
		what = "list the pods of namespace " + r.o.Namespace
	}
	return explain(what, err)
}

// crioSkip with the value "true" has CRI-O inject no GOMAXPROCS into a pod.
const crioSkip = "skip-gomaxprocs.crio.io"

func (r *reading) pod(p *core.Pod) error {
	r.pods++
	on := r.nodes[p.Spec.NodeName]
	seen := r.live.of(p)
	w, key, err := ofPod(p, on.cpus, seen)
	if err != nil {
		return err
	}
	if on.crio && (seen.whole.IsZero() || sandboxed(p)) && p.Annotations[crioSkip] != "true" {
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

// readConfigs gives every ConfigMap with an entry that may be a variable of the runtime:
// one that has GO in its name, or is drawn on by a key of any name. One without is given where
// a pod names it, and so is one that is not there and need not be: neither sets anything.
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

// The same object is given for each size of a node.
func once(r *check.Report) {
	seen := map[check.Finding]bool{}
	r.Findings = slices.DeleteFunc(r.Findings, func(f check.Finding) bool {
		f.Change = nil
		again := seen[f] && f.Container == ""
		seen[f] = true
		return again
	})
}
