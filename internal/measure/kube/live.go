package kube

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
)

// Live is one pod in whose program values are to be tried, by an ephemeral container that runs
// procfit. It is settled before anything is created.
type Live struct {
	Pod, Container, Node string
	Port                 int // where the program listens; 0: it is the container's first process
	target               *Target
	pod                  *corev1.Pod
	added                corev1.EphemeralContainer
}

const (
	liveName = "procfit-live"
	// traces is the capability without which nobody may change another user's process.
	traces corev1.Capability = "SYS_PTRACE"
	// liveBack is within which time the program has its value back if procfit is gone.
	liveBack = time.Minute
	// liveIdle is how long the container waits for the next question. The last one may stay open
	// for a quarter of a minute where nothing says that its connection is gone.
	liveIdle = liveBack - 20*time.Second
)

// InspectLive finds a pod of the object, and says what of the cluster refuses an experiment in it:
// the API server tries the container without creating it.
func InspectLive(ctx context.Context, o Options) (*Live, error) {
	ref, err := parseReference(o.Object)
	if err != nil {
		return nil, err
	}
	if ref.file != "" {
		return nil, &RefusedError{o.Object, []string{"it is a file: values are tried in a pod that runs, as of deployment/NAME or pod/NAME"}}
	}
	c, err := open(o.Access)
	if err != nil {
		return nil, err
	}
	t := &Target{cluster: c, options: o, token: rand.Text()}
	lacks, err := c.Missing(ctx, liveRights(ref))
	switch {
	case err != nil:
		return nil, err
	case len(lacks) > 0:
		return nil, t.notAllowed(lacks)
	}
	if err := c.CheckNamespace(ctx, c.Namespace); err != nil {
		return nil, err
	}
	if t.subject, err = c.subject(ctx, ref); err != nil {
		return nil, err
	}
	l := &Live{target: t}
	if l.pod, err = l.ready(ctx); err != nil {
		return nil, err
	}
	one, err := Subject{Template: corev1.PodTemplateSpec{ObjectMeta: l.pod.ObjectMeta, Spec: l.pod.Spec}}.measured(o.Container)
	if err != nil {
		return nil, err
	}
	l.Pod, l.Container, l.Node, l.Port = l.pod.Name, one.Name, l.pod.Spec.NodeName, declaredPort(one)
	if reasons := l.refusals(l.sandbox(ctx)); reasons != nil {
		return nil, &RefusedError{"no values can be tried in pod " + l.Pod, reasons}
	}
	l.added = l.container()
	return l, l.rehearse(ctx)
}

// liveRights are those without which there is no experiment.
func liveRights(of reference) []cluster.Right {
	must, _ := rights(of, false)
	kept := []string{"pods", "pods/portforward", of.resource}
	must = slices.DeleteFunc(must, func(r cluster.Right) bool {
		return !slices.Contains(kept, r.Resource) || r.Resource == "pods" && r.Verb != "get" && r.Verb != "list"
	})
	return append(must, rightObserver)
}

// ready is the first pod of the object, by name, that is ready.
func (l *Live) ready(ctx context.Context) (*corev1.Pod, error) {
	s := l.target.subject
	o := metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(s.Selector)}
	if s.Kind == "Pod" {
		o = metav1.ListOptions{FieldSelector: "metadata.name=" + s.Name}
	} else if s.Selector == nil || len(s.Selector.MatchLabels)+len(s.Selector.MatchExpressions) == 0 {
		return nil, &RefusedError{l.target.object(), []string{"which pods are its own is not known: name one, as pod/NAME"}}
	}
	var pods corev1.PodList
	if err := l.target.cluster.list(ctx, l.target.cluster.Core, "pods", o, &pods); err != nil {
		return nil, err
	}
	sorting.Stable(pods.Items, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	for i, p := range pods.Items {
		if isReady(&p) && p.DeletionTimestamp == nil && p.Labels[labelRun] == "" && (s.Kind != "Pod" || p.Name == s.Name) {
			return &pods.Items[i], nil
		}
	}
	return nil, &RefusedError{l.target.object(), []string{fmt.Sprintf("none of its %s is ready", phrase.Count(len(pods.Items), "pod"))}}
}

// sandbox is what runs the pod's containers: the handler of its runtime class, or that class where
// the handler may not be read; empty: the usual runtime.
func (l *Live) sandbox(ctx context.Context) string {
	class := l.pod.Spec.RuntimeClassName
	if class == nil {
		return ""
	}
	var found struct{ Handler string }
	b, err := l.target.cluster.Core.Get().AbsPath("/apis/node.k8s.io/v1/runtimeclasses/" + *class).DoRaw(ctx)
	if err != nil || json.Unmarshal(b, &found) != nil || found.Handler == "" {
		return *class
	}
	return found.Handler
}

// refusals are why no values can be tried in the pod, whatever the API server says.
func (l *Live) refusals(sandbox string) (list []string) {
	refuse := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	p := l.pod.Spec
	if strings.Contains(sandbox, "runsc") || strings.Contains(sandbox, "gvisor") {
		refuse("gVisor runs it (runtime class handler %s), which lets no process change another one", sandbox)
	}
	if p.OS != nil && p.OS.Name == corev1.Windows {
		refuse("it runs on Windows, where procfit changes no program")
	}
	if shared := p.ShareProcessNamespace != nil && *p.ShareProcessNamespace; l.Port == 0 && (shared || p.HostPID) {
		refuse("its containers share their processes, and container %q declares no port by which to find the program: add containerPort", l.Container)
	}
	if p.HostNetwork && l.Port != 0 {
		refuse("hostNetwork: who listens at port %d may be another pod's program", l.Port)
	}
	for _, one := range l.pod.Status.EphemeralContainerStatuses {
		if strings.HasPrefix(one.Name, liveName) && one.State.Running != nil {
			refuse("its container %q runs: another experiment, or one that ends within %s", one.Name, number.Chosen(liveBack))
		}
	}
	for _, one := range l.pod.Status.ContainerStatuses {
		if one.Name == l.Container && one.State.Running == nil {
			refuse("its container %q does not run", l.Container)
		}
	}
	return list
}

// container is procfit next to the program, as root with the right to trace: another user's
// process can be changed by nobody else. The profile of the container runtime allows that, what
// the pod itself has may not.
func (l *Live) container() corev1.EphemeralContainer {
	return corev1.EphemeralContainer{TargetContainerName: l.Container, EphemeralContainerCommon: corev1.EphemeralContainerCommon{
		Name: liveName + "-" + strings.ToLower(rand.Text()[:5]), Image: l.target.options.Image, ImagePullPolicy: corev1.PullIfNotPresent,
		Args: []string{AgentCommand, "--idle=" + liveIdle.String()}, Env: []corev1.EnvVar{{Name: procsVariable, Value: "1"}, l.target.tokenVariable()},
		SecurityContext: &corev1.SecurityContext{
			RunAsUser: new(int64(0)), RunAsNonRoot: new(false), Capabilities: &corev1.Capabilities{Add: []corev1.Capability{traces}},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}}
}

// rehearse has the API server try the container: what admission refuses, and what it takes away.
func (l *Live) rehearse(ctx context.Context) error {
	var got corev1.Pod
	err := l.target.cluster.attach(ctx, l.Pod, l.added, &got)
	switch text := fmt.Sprint(err); {
	case err == nil:
	case strings.Contains(text, "PodSecurity"):
		return &RefusedError{"the pod security level of namespace " + l.target.cluster.Namespace + " forbids " + string(traces), []string{
			text, "only the level privileged allows it; kube canary does not need this right",
		}}
	case apierrors.IsNotFound(err):
		return &RefusedError{"the API server has no ephemeral containers, or pod " + l.Pod + " is gone", []string{text}}
	default:
		return fmt.Errorf("the API server rejects procfit's container in pod %s: %w", l.Pod, err)
	}
	i := slices.IndexFunc(got.Spec.EphemeralContainers, func(e corev1.EphemeralContainer) bool { return e.Name == l.added.Name })
	if i < 0 {
		return &RefusedError{"admission in namespace " + l.target.cluster.Namespace, []string{"it removes procfit's container"}}
	}
	var reasons []string
	s := got.Spec.EphemeralContainers[i].SecurityContext
	if s == nil || s.Capabilities == nil || !slices.Contains(s.Capabilities.Add, traces) || slices.Contains(s.Capabilities.Drop, traces) {
		reasons = append(reasons, "it takes "+string(traces)+" from procfit's container")
	}
	if s != nil && s.SeccompProfile != nil && s.SeccompProfile.Type == corev1.SeccompProfileTypeLocalhost {
		reasons = append(reasons, "it gives procfit's container the seccomp profile "+*s.SeccompProfile.LocalhostProfile+", which may forbid ptrace")
	}
	if s == nil || s.RunAsUser == nil || *s.RunAsUser != 0 {
		reasons = append(reasons, "it lets procfit's container run as another user than root, who has no capabilities")
	}
	if reasons != nil {
		return &RefusedError{"admission in namespace " + l.target.cluster.Namespace, reasons}
	}
	return nil
}

// Manifest is the container, as the API server is sent it.
func (l *Live) Manifest() ([]byte, error) {
	shown := l.added
	shown.Env = nil // the token
	return yaml.Marshal(shown)
}

// Try adds the container to the pod, and has it try values by the arguments of procfit live.
func (l *Live) Try(ctx context.Context, args []string, tell func(line string)) (agent.Tried, error) {
	c := l.target.cluster
	if err := c.attach(ctx, l.Pod, l.added, nil); err != nil {
		return agent.Tried{}, fmt.Errorf("procfit's container in pod %s: %w", l.Pod, err)
	}
	line, err := c.tunnel(l.Pod)
	if err != nil {
		return agent.Tried{}, err
	}
	defer line.close()
	gone := false
	client := &agent.Client{Transport: line.transport(agent.Port), Token: l.target.token, Patience: agent.Patience, Renew: line.close, Gone: func(ctx context.Context) error {
		var p corev1.Pod
		switch err := c.get(ctx, c.Core, "pods", l.Pod, &p); {
		case apierrors.IsNotFound(err):
			gone = true
			return fmt.Errorf("pod %s is gone", l.Pod)
		case err != nil:
			return nil // the API server may come back
		}
		return failedToRun(&p, l.added.Name)
	}}
	defer func() { _ = client.End(context.WithoutCancel(ctx)) }() // else it ends by itself
	t, err := client.Try(ctx, args, tell)
	return t, l.triedIn(err, gone)
}

// triedIn is an error of the container, and what becomes of the value if its connection is lost.
func (l *Live) triedIn(err error, gone bool) error {
	if err == nil {
		return nil
	}
	if _, lost := errors.AsType[*agent.LostError](err); lost && !gone {
		return fmt.Errorf("the connection to procfit's container in pod %s is lost: %w; its program gets its value back by itself, within a minute of the last answer", l.Pod, err)
	}
	return fmt.Errorf("procfit's container in pod %s: %w", l.Pod, err)
}
