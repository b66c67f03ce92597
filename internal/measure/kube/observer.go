package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"

	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/trial"
)

const (
	observerName     = "procfit-eye"
	observerPatience = time.Minute
	// procsMetric is GOMAXPROCS as the Prometheus client's Go collector serves it, from
	// the runtime metric /sched/gomaxprocs:threads.
	procsMetric   = "go_sched_gomaxprocs_threads"
	sourceMetrics = "metrics"
)

// owner is as whom a process runs.
type owner struct{ uid, gid int64 }

// attachEarly puts an agent into a pod that has just been created. A kubelet starts what a pod
// asks for at most once a second: an agent that waits for the target to be ready costs two
// such seconds more. Before that only earlier targets show the user to run as; and next to
// an init container a kubelet does not find the target yet.
func (r *run) attachEarly(ctx context.Context, one *replica) {
	if r.NoObserver == "" && r.user != nil && !r.subject.Batch && len(one.pod.Spec.InitContainers) == 0 {
		_ = r.insert(ctx, one) // attach tries it again, and reports why it fails
	}
}

// attach puts an agent next to a target, in an ephemeral container that sees its
// processes. Where that cannot be, the reason is with the replica.
func (r *run) attach(ctx context.Context, one *replica) {
	if r.NoObserver != "" {
		one.why = r.NoObserver
		return
	}
	l, err := r.firstLook(ctx, one)
	if err == nil && l.UID != nil && l.GID != nil && r.user == nil {
		// The image alone says as whom the target runs, and the first look did: another may
		// be that.
		r.user = &owner{*l.UID, *l.GID}
		if l.Error != "" && one.observer.End(ctx) == nil {
			one.observer = nil
			_, err = r.firstLook(ctx, one)
		}
	}
	if err != nil {
		one.observer, one.why = nil, "procfit's container in the pod: "+err.Error()
	}
}

// firstLook returns the agent's first look, which shows earlier than the kubelet's report
// does that it has started.
func (r *run) firstLook(ctx context.Context, one *replica) (agent.Look, error) {
	if one.observer == nil {
		if err := r.insert(ctx, one); err != nil {
			return agent.Look{}, err
		}
	}
	return one.observer.Look(ctx, one.port)
}

func (r *run) insert(ctx context.Context, one *replica) error {
	container := r.observerContainer(one.pod, r.user)
	// It is asked before a load and after it, of a canary once in a slice, however long that
	// is; its pod has an end of its own.
	container.Args = append(container.Args, "--idle="+r.cut.deadline.String())
	if err := r.cluster.attach(ctx, one.name, container, nil); err != nil {
		return err
	}
	client := r.client(one.line, one.name)
	podGone := client.Gone
	client.Patience = observerPatience
	client.Gone = func(ctx context.Context) error {
		if p, err := r.get(ctx, one.name); err == nil {
			if err := failedToRun(p, container.Name); err != nil {
				return err
			}
		}
		return podGone(ctx)
	}
	one.observer = client
	return nil
}

// failedToRun is why an ephemeral container does not run and will not.
func failedToRun(p *corev1.Pod, name string) error {
	for _, s := range p.Status.EphemeralContainerStatuses {
		switch {
		case s.Name != name:
		case s.State.Terminated != nil:
			return fmt.Errorf("it ended with code %d (%s)", s.State.Terminated.ExitCode, detail(s.State.Terminated.Reason, s.State.Terminated.Message))
		case s.State.Waiting != nil && slices.Contains(waitingReasons, s.State.Waiting.Reason):
			return errors.New(detail(s.State.Waiting.Reason, s.State.Waiting.Message))
		}
	}
	return nil
}

// observerContainer is the container, as the same user and with the same rights as the target: only
// so does the kernel let it read the other's memory without more.
func (s *Target) observerContainer(p *corev1.Pod, user *owner) corev1.EphemeralContainer {
	e := corev1.EphemeralContainer{TargetContainerName: s.container, EphemeralContainerCommon: corev1.EphemeralContainerCommon{
		Name: observerName, Image: s.options.Image, Args: []string{AgentCommand}, ImagePullPolicy: corev1.PullIfNotPresent,
		Env: []corev1.EnvVar{{Name: procsVariable, Value: "1"}, s.tokenVariable()}, // it shares the pod's limits: the less of it the better
	}}
	c := &corev1.SecurityContext{}
	if one := named(p.Spec.Containers, s.container); one != nil && one.SecurityContext != nil {
		c = one.SecurityContext.DeepCopy()
	}
	for _, one := range p.Status.ContainerStatuses {
		if one.Name == s.container && one.User != nil && one.User.Linux != nil {
			c.RunAsUser, c.RunAsGroup = &one.User.Linux.UID, &one.User.Linux.GID
		}
	}
	if user != nil {
		e.Name += "-" + strconv.FormatInt(user.uid, 10)
		c.RunAsUser, c.RunAsGroup = &user.uid, &user.gid
	}
	if pod := p.Spec.SecurityContext; c.RunAsUser == nil && (pod == nil || pod.RunAsUser == nil) && !neverRoot(p, c) {
		c.RunAsUser = new(int64(0)) // as an image is that says nothing
	}
	e.SecurityContext = c
	return e
}

// neverRoot reports whether a container of this context may not run as root.
func neverRoot(p *corev1.Pod, c *corev1.SecurityContext) bool {
	pod := p.Spec.SecurityContext
	return c.RunAsNonRoot != nil && *c.RunAsNonRoot || c.RunAsNonRoot == nil && pod != nil && pod.RunAsNonRoot != nil && *pod.RunAsNonRoot
}

func (r *run) look(ctx context.Context) ([]trial.Reading, []agent.Look, error) {
	readings, looks := make([]trial.Reading, len(r.fleet)), make([]agent.Look, len(r.fleet))
	for i, one := range r.fleet {
		why := one.why
		if one.observer != nil {
			l, err := one.observer.Look(ctx, one.port)
			var lost *agent.LostError
			var refused *agent.RefusedError
			switch {
			case errors.As(err, &lost), errors.As(err, &refused):
				why = err.Error()
			case err != nil:
				return nil, nil, err
			case l.Error == "" || l.NoGo:
				looks[i] = l
				readings[i] = l.Reading()
				continue
			default:
				looks[i], why = l, l.Error
			}
		}
		n, err := r.served(ctx, one)
		if err != nil {
			readings[i].Err = fmt.Errorf("%s; and %w", why, err)
			continue
		}
		readings[i] = trial.Reading{Procs: n, Source: sourceMetrics}
	}
	return readings, looks, nil
}

// served is GOMAXPROCS as the target itself serves it among its metrics.
func (r *run) served(ctx context.Context, one *replica) (int, error) {
	for _, u := range metricsURLs(one.pod, r.container, one.port) {
		a, err := r.from.Fetch(ctx, u)
		if err != nil || a.Status != 200 {
			continue
		}
		if n, ok := procsIn(strings.NewReader(a.Body)); ok {
			return n, nil
		}
	}
	return 0, fmt.Errorf("the target serves no metric %s", procsMetric)
}

// metricsURLs are where a pod may serve metrics: where its annotations say, at a port
// that is called so, and where it serves the rest.
func metricsURLs(p *corev1.Pod, container string, port int) (list []string) {
	add := func(port, path string) {
		u := fmt.Sprintf("http://%s/%s", net.JoinHostPort(p.Status.PodIP, port), strings.TrimPrefix(path, "/"))
		if !slices.Contains(list, u) {
			list = append(list, u)
		}
	}
	if at := p.Annotations["prometheus.io/port"]; at != "" {
		add(at, cmp.Or(p.Annotations["prometheus.io/path"], "metrics"))
	}
	if c := named(p.Spec.Containers, container); c != nil {
		for _, one := range c.Ports {
			if strings.Contains(one.Name, "metrics") {
				add(strconv.Itoa(int(one.ContainerPort)), "metrics")
			}
		}
	}
	add(strconv.Itoa(port), "metrics")
	return list
}

// procsIn reads the metric out of a page of the text format.
func procsIn(page io.Reader) (int, bool) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, _ := parser.TextToMetricFamilies(page) // what comes before a fault is there
	f := families[procsMetric]
	if f == nil || len(f.Metric) != 1 {
		return 0, false
	}
	v := f.Metric[0].GetGauge().GetValue() + f.Metric[0].GetUntyped().GetValue()
	if v < 1 || v != float64(int(v)) {
		return 0, false
	}
	return int(v), true
}
