package kube

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Options are what a sweep in a cluster takes in addition to its Spec.
type Options struct {
	Access
	Object    string // deployment/api, or the name of a manifest
	Container string // of the pod; empty: the first, or what its annotation says
	Node      string // that the targets run on; empty: the one with the most CPUs
	Image     string // of procfit, for the load and the evidence; empty: neither comes from a pod
	Canary    bool   // the pods take part in the Services of their original
	Stdin     io.Reader
	Title     string // what the object is called; empty: as it was named
}

// RefusedError is that the subject's pods cannot be copied, or that what is needed for
// it is not allowed. Nothing was created.
type RefusedError struct {
	What    string
	Reasons []string
}

func (e *RefusedError) Error() string {
	return e.What + ": " + phrase.Semicolons(e.Reasons)
}

// Target are what a sweep's pods will be, settled before any of them is created.
type Target struct {
	cluster   *api
	options   Options
	subject   Subject
	container string
	port      int // that the container declares first; 0: none
	cut       cut
	places    places
	token     string // that the agents of this run ask for

	Quota      *float64 // the CPU limit of the template, or what admission makes of it; nil: none
	NoObserver string   // why nothing looks at the target from next to it; empty: something does
	Terms      []Term
	Dropped    []string   // labels that something selects pods by
	Serving    Serving    // of a canary's
	Left       []Leftover // of earlier runs
	Notes      []string   // what else a user should know of the copies
}

// Inspect reads the subject and says whether and how its pods can be copied.
func Inspect(ctx context.Context, o Options) (*Target, error) {
	ref, err := parseReference(o.Object)
	if err != nil {
		return nil, err
	}
	c, err := open(o.Access)
	if err != nil {
		return nil, err
	}
	s := &Target{cluster: c, options: o, token: rand.Text(), cut: cut{drop: map[string]bool{}}}
	if ref.file != "" {
		if s.subject, err = readManifest(ctx, ref.file, o.Stdin); err != nil {
			return nil, err
		}
		if err := s.inNamespace(s.subject.Namespace); err != nil {
			return nil, err
		}
	}
	mayList, err := s.permitted(ctx, ref)
	if err != nil {
		return nil, err
	}
	if err := c.CheckNamespace(ctx, c.Namespace); err != nil {
		return nil, err
	}
	if ref.file == "" {
		if s.subject, err = c.subject(ctx, ref); err != nil {
			return nil, err
		}
	}
	one, err := s.subject.measured(o.Container)
	if err != nil {
		return nil, err
	}
	s.container, s.cut.container, s.port = one.Name, one.Name, declaredPort(one)
	place := s.findSelectors
	if o.Canary {
		place = s.findServing
	}
	for _, step := range []func(context.Context) error{s.checkCopyable, place, s.readEnvFrom} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	if s.places, err = c.places(ctx, o.Node, &s.subject.Template.Spec, mayList); err != nil {
		return nil, err
	}
	s.cut.node = s.places.target.hostname
	if err := s.readQuota(ctx); err != nil {
		return nil, err
	}
	s.Terms = s.subject.Terms()
	if s.subject.Indexed {
		s.Notes = append(s.Notes, "the Job numbers its pods; procfit's pods have no JOB_COMPLETION_INDEX")
	}
	s.Left, err = c.leftovers(ctx, time.Now())
	return s, err
}

// inNamespace goes to the namespace that a manifest names, and refuses another one that the user
// names, as kubectl does.
func (s *Target) inNamespace(name string) error {
	if asked := s.options.Namespace; name != "" && asked != "" && asked != name {
		return plan.Wrong("namespace", " %q: %s is a manifest for the namespace %s: use --namespace %[3]s, or change the manifest", asked, s.object(), name)
	}
	s.cluster.Namespace = cmp.Or(name, s.cluster.Namespace)
	return nil
}

// readQuota has the API server try a pod that is as the template has it: where that has no CPU limit,
// admission gives the user's pods one, by a LimitRange for example.
func (s *Target) readQuota(ctx context.Context) error {
	c := s.cut
	c.run = "rehearsal"
	p, got := s.subject.pod(c, "procfit-rehearsal", difference{unchanged: true}), corev1.Pod{}
	if err := s.cluster.dryRun(ctx, p, &got); apierrors.IsForbidden(err) { // a quota, say; the rehearsal tries what is measured
		got = *p
	} else if err != nil {
		return fmt.Errorf("the API server rejects a pod like those of %s: %w", s.object(), err)
	}
	if c := named(got.Spec.Containers, s.container); c != nil {
		s.Quota = quantity(c.Resources.Limits)
	}
	return nil
}

// permitted says what is not allowed, before anything is created.
func (s *Target) permitted(ctx context.Context, subject reference) (mayList bool, err error) {
	must, better := rights(subject, s.options.Canary)
	lacks, err := s.cluster.Missing(ctx, slices.Concat(must, better))
	if err != nil {
		return false, err
	}
	if needed := slices.DeleteFunc(slices.Clone(lacks), func(r cluster.Right) bool { return !slices.Contains(must, r) }); len(needed) > 0 {
		return false, s.notAllowed(needed)
	}
	s.Serving.Unseen = slices.DeleteFunc(slices.Clone(lacks), func(r cluster.Right) bool { return r != rightHPAs && r != rightPDBs })
	if slices.Contains(lacks, rightObserver) {
		s.NoObserver = rightObserver.String() + " is not allowed"
	}
	if s.options.Image == "" {
		s.NoObserver = "no --image of procfit was given"
	}
	return !slices.ContainsFunc(lacks, func(r cluster.Right) bool { return r.Resource == "nodes" && r.Verb == "list" }), nil
}

// notAllowed names the rights that are missing, and the roles that have them.
func (s *Target) notAllowed(lacks []cluster.Right) error {
	roles := "a role with these permissions: deploy/kubernetes/sweep.yaml"
	if s.options.Canary {
		roles = "roles with these permissions: deploy/kubernetes/sweep.yaml and deploy/kubernetes/canary.yaml"
	}
	return &RefusedError{fmt.Sprintf("not allowed in namespace %s (%s)", s.cluster.Namespace, roles), phrase.Each(lacks, cluster.Right.String)}
}

// checkCopyable refuses what a copy would take from its original.
func (s *Target) checkCopyable(ctx context.Context) error {
	claims := map[string]*corev1.PersistentVolumeClaim{}
	names := s.subject.claims()
	if len(names) > 0 {
		lacks, err := s.cluster.Missing(ctx, []cluster.Right{{Verb: "get", Resource: "persistentvolumeclaims"}})
		switch {
		case err != nil:
			return err
		case lacks != nil:
			return s.notAllowed(lacks)
		}
	}
	for _, name := range names {
		claims[name] = &corev1.PersistentVolumeClaim{}
		err := s.cluster.get(ctx, s.cluster.Core, "persistentvolumeclaims", name, claims[name])
		if err != nil && !apierrors.IsNotFound(err) { // else the pod will say so
			return fmt.Errorf("the claim %q: %w", name, err)
		}
	}
	if reasons := s.subject.refusals(claims); reasons != nil {
		return &RefusedError{s.object() + " cannot be copied", reasons}
	}
	return nil
}

// findSelectors finds the labels by which a Service or the controller would take a copy
// for a pod of its own.
func (s *Target) findSelectors(ctx context.Context) error {
	var services corev1.ServiceList
	if err := s.cluster.list(ctx, s.cluster.Core, "services", metav1.ListOptions{}, &services); err != nil {
		return err
	}
	var err error
	if s.cut.drop, err = s.subject.selectedBy(services.Items); err != nil {
		return err
	}
	s.Dropped = slices.Sorted(maps.Keys(s.cut.drop))
	return nil
}

// selectedBy are those of the template's labels by which its controller or one of the Services selects its pods.
func (s Subject) selectedBy(services []corev1.Service) (map[string]bool, error) {
	own, err := metav1.LabelSelectorAsSelector(s.Selector)
	if err != nil {
		return nil, fmt.Errorf("the selector of %s/%s: %w", strings.ToLower(s.Kind), s.Name, err)
	}
	selectors := []labels.Selector{own}
	for _, one := range services {
		selectors = append(selectors, labels.SelectorFromSet(one.Spec.Selector))
	}
	keys, has := map[string]bool{}, labels.Set(s.Template.Labels)
	for _, selector := range selectors {
		asked, _ := selector.Requirements()
		for _, r := range asked {
			if has.Has(r.Key()) && selector.Matches(has) {
				keys[r.Key()] = true
			}
		}
	}
	return keys, nil
}

// readEnvFrom refuses GOMAXPROCS in the ConfigMaps that the container takes as a whole.
// Secrets are not read.
func (s *Target) readEnvFrom(ctx context.Context) error {
	one, _ := s.subject.measured(s.container)
	for _, f := range one.EnvFrom {
		name := configMapOf(f)
		if name == "" {
			if f.SecretRef != nil {
				s.Notes = append(s.Notes, fmt.Sprintf("procfit does not read the Secret %s, from which the container takes variables; if it sets %s, the running pod shows the value", f.SecretRef.Name, procsVariable))
			}
			continue
		}
		var m corev1.ConfigMap
		err := s.cluster.get(ctx, s.cluster.Core, "configmaps", name, &m)
		if err != nil && !apierrors.IsNotFound(err) { // else the pod will say so
			return fmt.Errorf("the ConfigMap %q: %w", name, err)
		}
		key, named := strings.CutPrefix(procsVariable, f.Prefix)
		if _, has := m.Data[key]; named && has {
			return &RefusedError{s.object() + " cannot be copied", []string{fmt.Sprintf("the container takes its variables from the ConfigMap %s, which sets %s, so the default cannot be measured: set it in env instead", name, procsVariable)}}
		}
	}
	return nil
}

func declaredPort(c *corev1.Container) int {
	for _, p := range c.Ports {
		if p.Protocol == "" || p.Protocol == corev1.ProtocolTCP {
			return int(p.ContainerPort)
		}
	}
	return 0
}

// object is what is copied, as the user names it.
func (s *Target) object() string {
	if s.options.Title != "" {
		return s.options.Title
	}
	if s.subject.File != "" {
		return s.subject.File
	}
	return strings.ToLower(s.subject.Kind) + "/" + s.subject.Name
}

// URL is an address to load where none was given; empty: the container declares no port.
func (s *Target) URL() string {
	if s.port == 0 || s.subject.Batch {
		return ""
	}
	return fmt.Sprintf("http://%s:%d/", plan.PodPlaceholder, s.port)
}

// Hosts are the nodes of the targets and of the load.
func (s *Target) Hosts() (target, load journal.Host) {
	return s.places.target.host, s.places.load.host
}

// Pods is the target of a Spec. local says that the load is to come from this machine.
func (s *Target) Pods(local bool) *plan.Pods {
	return &plan.Pods{
		Object: s.object(), Namespace: s.cluster.Namespace, Container: s.container, SHA256: s.subject.sum(),
		LoadElsewhere: s.places.load != s.places.target, LoadFromHere: local, Batch: s.subject.Batch,
	}
}

// Batch tells a Job, whose pods run and end.
func (s *Target) Batch() bool { return s.subject.Batch }

// Environ are the container's variables whose values are in the template.
func (s *Target) Environ() (list []string) {
	one, _ := s.subject.measured(s.container)
	for _, e := range one.Env {
		if e.ValueFrom == nil {
			list = append(list, e.Name+"="+e.Value)
		}
	}
	return list
}

// Rehearse has the API server try one pod of each kind without creating it: admission,
// quotas and limits have their say, before anything is there. loaded says that a pod of ours
// offers the load. It returns the server's warnings.
func (s *Target) Rehearse(ctx context.Context, plan journal.Plan, loaded bool) (warnings []string, err error) {
	var refused []string
	c := s.cut
	c.run = "rehearsal"
	for _, setting := range representative(plan.Settings) {
		if setting.Procs == nil && s.subject.expandsProcs(s.container) {
			return nil, &RefusedError{s.object() + " cannot be measured at the default", []string{fmt.Sprintf("container %q uses $(GOMAXPROCS) in its command or in another variable, which Kubernetes does not replace without GOMAXPROCS: write a number there", s.container)}}
		}
		var got corev1.Pod
		if err := s.cluster.dryRun(ctx, s.target(c, "procfit-rehearsal", s.differenceOf(setting), nil), &got); err != nil {
			return nil, fmt.Errorf("the API server rejects a pod with GOMAXPROCS %s: %w", setting.Label, err)
		}
		for _, one := range s.unlike(&got, setting) {
			if !slices.Contains(refused, one) {
				refused = append(refused, one)
			}
		}
	}
	if loaded && !s.subject.Batch {
		var got corev1.Pod
		if err := s.cluster.dryRun(ctx, s.loadPod(c, "procfit-rehearsal-load"), &got); err != nil {
			return nil, fmt.Errorf("the API server rejects the load generator's pod: %w", err)
		}
		for _, one := range got.Spec.Containers {
			if limit, ok := one.Resources.Limits[corev1.ResourceCPU]; ok { // ours has none
				refused = append(refused, fmt.Sprintf("the load generator gets a CPU limit of %s, which would throttle it", limit.String()))
			}
		}
	}
	if refused != nil {
		err = &RefusedError{"admission in namespace " + s.cluster.Namespace + " changes the pods", refused}
	}
	return s.cluster.Warnings(), err
}

// representative are the unset setting and one with a number, under each quota.
func representative(settings []journal.Setting) (list []journal.Setting) {
	seen := map[string]bool{}
	for _, a := range settings {
		key := strconv.FormatBool(a.Procs == nil)
		if a.QuotaCPUs != nil {
			key += strconv.FormatFloat(*a.QuotaCPUs, 'g', -1, 64)
		}
		if !seen[key] {
			seen[key] = true
			list = append(list, a)
		}
	}
	return list
}

// differenceOf is what a setting asks of a pod.
func (s *Target) differenceOf(a journal.Setting) difference {
	return difference{procs: a.Procs, limit: !sameCPUs(s.Quota, a.QuotaCPUs), quota: a.QuotaCPUs}
}

// unlike says in what a pod is not what a setting asks for, after admission.
func (s *Target) unlike(p *corev1.Pod, a journal.Setting) (list []string) {
	if c := named(p.Spec.Containers, s.container); c != nil {
		has := journal.Default
		for _, e := range c.Env {
			if e.Name == procsVariable {
				has = e.Value
				if e.ValueFrom != nil {
					has = "set from another source"
				}
			}
		}
		if has != a.Label && !(a.Procs == nil && has == journal.Default) {
			list = append(list, fmt.Sprintf("GOMAXPROCS is %s instead of %s", has, a.Label))
		}
		if limit := quantity(c.Resources.Limits); !sameCPUs(limit, a.QuotaCPUs) {
			list = append(list, fmt.Sprintf("the CPU limit is %s instead of %s", limitWords(limit), limitWords(a.QuotaCPUs)))
		}
	}
	// A Job's program and the container that watches it are two; what starts after that one is the program to it.
	if n := len(p.Spec.InitContainers); s.subject.Batch && (len(p.Spec.Containers)+sidecars(p.Spec) > 2 || n > 0 && p.Spec.InitContainers[n-1].Name != observerName) {
		list = append(list, "it adds containers to the Job's pods, so procfit cannot find out which processes belong to the program: exclude these pods from that injection")
	}
	if !s.subject.Batch && mixed(p.Spec) {
		list = append(list, "it adds containers to pods with shareProcessNamespace, so procfit cannot find out which processes belong to the program: exclude these pods from that injection")
	}
	return list
}

func sameCPUs(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return int(*a*1000+0.5) == int(*b*1000+0.5) // as the API has them, in thousandths
}

func limitWords(cpus *float64) string {
	if cpus == nil {
		return "none"
	}
	return strconv.FormatFloat(*cpus, 'g', -1, 64)
}

// rights are those without which there is no sweep of a subject; better are those without
// which it knows less. canary says that its pods take part in a Service.
func rights(subject reference, canary bool) (must, better []cluster.Right) {
	core := func(resource string, verbs ...string) {
		for _, v := range verbs {
			must = append(must, cluster.Right{Verb: v, Resource: resource})
		}
	}
	core("pods", "create", "get", "list", "delete")
	if !canary {
		core("pods/log", "get")
	}
	core("configmaps", "create", "get", "list", "update", "delete")
	core("services", "list")
	core("pods/portforward", "get", "create")
	if subject.group != "" {
		must = append(must, cluster.Right{Verb: "get", Group: subject.group, Resource: subject.resource})
	}
	better = []cluster.Right{{Verb: "list", Resource: "nodes", Cluster: true}, rightObserver}
	if canary {
		for _, r := range []string{"replicasets", "statefulsets", "daemonsets"} {
			must = append(must, cluster.Right{Verb: "list", Group: "apps", Resource: r})
		}
		better = append(better, rightHPAs, rightPDBs)
	}
	must = append(must, cluster.Right{Verb: "get", Resource: "nodes", Cluster: true})
	return must, better
}

// rightObserver is what the evidence takes that comes from next to the target.
var rightObserver = cluster.Right{Verb: "patch", Resource: "pods/ephemeralcontainers"}

// Those by which it is known what else counts a canary's pods.
var (
	rightHPAs = cluster.Right{Verb: "list", Group: "autoscaling", Resource: "horizontalpodautoscalers"}
	rightPDBs = cluster.Right{Verb: "list", Group: "policy", Resource: "poddisruptionbudgets"}
)
