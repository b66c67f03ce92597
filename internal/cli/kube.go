package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// kubeOptions are the flags for a cluster.
type kubeOptions struct {
	on       string // the object
	options  kube.Options
	loadFrom string
	clean    bool
	canary   canaryOptions

	copies *kube.Copies // once they are settled
}

// ofWay is why the header has nothing of a field of clusters.
const ofWay = "it is how the cluster is reached, and not what is measured"

func (o *kubeOptions) fields() []field.Field {
	object := field.Field{Name: "kube", Holds: "object", Help: "measure pods like those of this object: deployment/api, statefulset/, daemonset/, pod/, job/, cronjob/ or a manifest.yaml", Value: field.Text(&o.on), Header: "target.object target.sha256"}
	o.loadFrom = "pod"
	of := &o.options
	return field.In(field.Kube, slices.Concat([]field.Field{object}, o.access(), []field.Field{
		{Name: "container", Holds: "name", Help: "the container whose GOMAXPROCS is swept (default the first)", Value: field.Text(&of.Container), Needs: "kube", Header: "target.container"},
		{Name: "parallel", Help: "measure on several identical nodes at the same time, a block on each", Value: field.Switch(&of.Parallel), Needs: "kube", Header: "plan.nodes"},
		{Name: "load-from", Holds: "pod", Help: "where the load comes from: pod, or local (through the API server, which is then measured too)", Value: field.Choice(&o.loadFrom, "pod", "local"), Needs: "kube", Header: "load.arrangement"},
		{Name: "resize", Help: "change the CPU limit of running pods to --quota, instead of making pods with it", Value: field.Switch(&of.Resize), Needs: "kube", Aside: "a trial has the limits that its pod had"},
	}, o.canary.fields())...)
}

// access are the fields of all that runs in a cluster.
func (o *kubeOptions) access() []field.Field {
	of := &o.options
	return []field.Field{
		{Name: "namespace", Short: "n", Holds: "name", Help: "the namespace (default the context's)", Value: field.Text(&of.Namespace), Needs: "kube", Header: "target.namespace"},
		{Name: "context", Holds: "name", Help: "the context of the kubeconfig", Value: field.Text(&of.Context), Needs: "kube", Aside: ofWay},
		{Name: "kubeconfig", Holds: "file", Help: "the kubeconfig file (default as kubectl's)", Value: field.Text(&of.Kubeconfig), Needs: "kube", Aside: ofWay},
		{Name: "node", Holds: "name", Help: "the node that the pods run on (default the one with the most CPUs); with --parallel several: n1,n2", Value: field.Text(&of.Node), Needs: "kube", Header: "plan.nodes"},
		{Name: "image", Holds: "image", Help: "image of procfit for load and evidence; procfit image makes one", Value: field.Text(&of.Image), Needs: "kube", Aside: "a trial has the image that measured it"},
		{Name: "clean", Help: "with --kube: remove what runs of procfit have left in the namespace, and stop", Value: field.Switch(&o.clean), Aside: field.OfAsking},
	}
}

// anyPod is a host that there cannot be (RFC 2606).
const anyPod = "pod.invalid"

// checkValues looks at what goes together; quotas says that --quota is given.
func (k *kubeOptions) checkValues(quotas bool) error {
	local := k.loadFrom == "local"
	switch {
	case k.on == "":
		return usageError("--kube: want an object, as in --kube deployment/api, or --clean")
	case !local && k.options.Image == "":
		return usageError("--kube needs --image, a procfit that the nodes can run: procfit image makes one; --load-from local does without, for a first try")
	case local && k.options.Parallel:
		return usageError("--parallel with --load-from local: the loads would share one way through the API server; leave one of them out")
	case k.options.Resize && !quotas:
		return usageError("--resize needs --quota, the limits to change to")
	}
	return nil
}

// whereabouts are the targets' nodes.
func whereabouts(nodes []string) string {
	if len(nodes) == 1 {
		return "node " + nodes[0] + ", one trial at a time"
	}
	return "nodes " + phrase.And(nodes) + ", one trial at a time on each"
}

// resolveKube settles a sweep in a cluster. Nothing is made yet.
func (o *sweepOptions) resolveKube(ctx context.Context, std stdio, spec plan.Spec) (*session.Session, error) {
	k := &o.kube
	local := k.loadFrom == "local"
	if err := k.checkValues(o.has("quota")); err != nil {
		return nil, err
	}
	k.options.Object, k.options.Stdin = k.on, std.in
	copies, err := kube.Settle(ctx, k.options)
	if err != nil {
		return nil, err
	}
	k.copies = copies
	urls := make([]string, len(o.spec.URLs))
	for i, u := range o.spec.URLs { // a host that parses stands for the pods meanwhile
		urls[i] = strings.ReplaceAll(u, plan.PodPlaceholder, anyPod)
	}
	url, mix, err := readMix(urls, o.spec.Requests, std)
	if err != nil {
		return nil, err
	}
	spec.Load.Requests = mix
	spec.Target.Command = o.command // which a Spec of pods refuses
	if copies.Batch() {
		if err := o.settleBatch(&spec); err != nil {
			return nil, err
		}
	}
	spec.Target.Pods, spec.Target.URL = copies.Pods(local), copies.URL()
	if url != "" {
		spec.Target.URL = strings.Replace(url, anyPod, plan.PodPlaceholder, 1)
	}
	if own := copies.Quota(); own != nil && !o.has("quota") {
		spec.Quotas = []*float64{own}
	}
	for _, q := range spec.Quotas {
		if k.options.Resize && (q == nil || copies.Quota() == nil) {
			return nil, usageError("--resize cannot add a CPU limit to a pod or take it away: give --quota numbers, and the object a limit")
		}
	}
	if err := o.setBudget(&spec); err != nil {
		return nil, err
	}
	if err := spec.Validate(); err != nil {
		return nil, refusal(err)
	}
	host, loadHost := copies.Hosts()
	so := session.Options{Dir: o.out, Tool: o.tool("sweep"), Host: host, Baseline: o.baseline, Environ: copies.Environ(), Started: time.Now()}
	if spec.Target.Pods.LoadElsewhere && !local && !copies.Batch() {
		so.LoadHost = &loadHost
	}
	s := session.New(spec, so)
	if err := checkBudget(s); err != nil {
		return nil, err
	}
	return s, o.checkGate(s, std)
}

// settleBatch makes a trial one run of a Job.
func (o *sweepOptions) settleBatch(spec *plan.Spec) error {
	k := &o.kube
	switch {
	case k.loadFrom == "local":
		return usageError("--load-from local: a Job gets no load, and --image, a procfit that the nodes can run, is what watches it")
	case k.options.Resize:
		return usageError("--resize is for pods that stay: a Job is made with each limit")
	case !o.has("warmup"):
		spec.Load.Warmup = 0
	}
	if o.has("duration") {
		spec.Target.RunFor = spec.Load.Duration
	}
	return nil
}

// consent shows what is about to be made, has the API server try it, and asks.
func (o *sweepOptions) consent(ctx context.Context, std stdio, copies *kube.Copies, p journal.Plan, tell func()) error {
	rehearsal, err := copies.Rehearse(ctx, p)
	tellRehearsal(std, rehearsal)
	if err != nil {
		return err
	}
	tell()
	if o.dryRun {
		return nil
	}
	return o.agreed(std)
}

func tellRehearsal(std stdio, r kube.Rehearsal) {
	for _, w := range r.Warnings {
		std.notef("the API server warns: %s", phrase.Clean(w))
	}
	for _, c := range r.Changes {
		std.notef("admission changes the pods: %s", phrase.Clean(c))
	}
}

// agreed asks, where --yes does not say it.
func (o *sweepOptions) agreed(std stdio) error {
	switch {
	case o.yes:
		return nil
	case !onTerminal(std):
		return usageError("pods are made only with --yes, or after a question on a terminal")
	}
	fmt.Fprint(std.err, "procfit: make them? [y/N] ")
	answer, err := bufio.NewReader(std.in).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); err != nil || a != "y" && a != "yes" {
		return &exitError{exitInterrupted, errors.New("nothing was made")}
	}
	return nil
}

func onTerminal(std stdio) bool {
	f, ok := std.in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// tell says what the pods are and what they have from their originals.
func (k *kubeOptions) tell(std stdio, s *session.Session) {
	_, loadHost := k.copies.Hosts()
	p := s.Spec.Target.Pods
	std.notef("pods like those of %s, container %s, are made in namespace %s on %s, and removed", p.Object, p.Container, p.Namespace, whereabouts(k.copies.Nodes()))
	for _, n := range k.copies.Notes {
		std.notef("%s", n)
	}
	if k.copies.Dropped != nil {
		std.notef("no Service and no controller selects them: they lack the labels %s", phrase.And(k.copies.Dropped))
	}
	tellTerms(std, k.copies.Terms)
	tellLeft(std, k.copies.Left)
	switch {
	case p.Batch:
		std.notef("each runs once to its end, with a container of procfit beside the program that sees its processes")
		return
	case k.loadFrom == "local":
		std.notef("the load comes through the API server, which is measured too: for a first try, and not for a verdict")
	case !p.LoadElsewhere && len(p.Nodes) > 0:
		std.notef("the load comes from the targets' own nodes, as there is no other: it takes CPU time from them, which shows in the latency")
	case !p.LoadElsewhere:
		std.notef("the load comes from the targets' own node, as there is no other: it takes CPU time from them, which shows in the latency")
	case len(p.Nodes) > 0:
		std.notef("the load comes from %s", phrase.And(k.copies.LoadNodes()))
	default:
		std.notef("the load comes from node %s", loadHost.Hostname)
	}
	if why := k.copies.Eyeless(); why != "" {
		std.notef("nothing on the node watches the targets (%s): GOMAXPROCS is known only where they serve go_sched_gomaxprocs_threads, and throttling is not known", why)
	}
}

func tellTerms(std stdio, terms []kube.Term) {
	if terms != nil {
		std.notef("each shares these with its original, and acts on them as it does:")
	}
	for _, t := range terms {
		std.notef("  %s", termWords(t))
	}
}

func tellLeft(std stdio, runs []kube.Leftover) {
	for _, l := range runs {
		if l.Alive {
			std.notef("run %s of %s, begun on %s, may be at work in the namespace: two runs disturb each other", l.Run, l.Object, l.Host)
		} else {
			std.notef("run %s of %s, begun on %s, ended without removing its pods: they go first", l.Run, l.Object, l.Host)
		}
	}
}

func termWords(t kube.Term) string {
	words := map[kube.TermKind]string{
		kube.TermSecret: "the Secret", kube.TermConfigMap: "the ConfigMap", kube.TermClaim: "the volume claim", kube.TermServiceAccount: "the service account",
		kube.TermPriority: "the priority class, which may evict others:", kube.TermAddress: "an address:", kube.TermHostPath: "the node's folder, to read:",
	}
	s := words[t.Kind] + " " + t.Name
	if t.Detail != "" {
		s += " " + t.Detail
	}
	return phrase.Clean(s)
}

// cleanKube removes what is left of runs.
func (k *kubeOptions) cleanKube(ctx context.Context, std stdio) error {
	runs, pods, err := kube.Clean(ctx, k.options.Access)
	if err != nil {
		return err
	}
	for _, r := range runs {
		how := "had ended"
		if r.Alive {
			how = "may have been at work"
		}
		std.notef("run %s of %s, begun on %s, %s", r.Run, r.Object, r.Host, how)
	}
	_, err = fmt.Fprintf(std.out, "removed %s of %s\n", phrase.Count(pods, "pod"), phrase.Count(len(runs), "run"))
	return err
}

// runner measures a session's pods.
func (k *kubeOptions) runner(s *session.Session) plan.Runner {
	return k.copies.Runner(s.Spec, kube.Config{CreateLog: s.CreateLog, Host: session.ThisHost().Hostname, FromHere: k.loadFrom == "local", Image: kube.ImageOf(s.Journal().Trials)})
}
