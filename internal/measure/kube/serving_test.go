package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/paired"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// A canary's pods keep the labels that Services select by, and not the controller's.
func TestPodOfCanary(t *testing.T) {
	s := subject(t, deployment)
	p := s.pod(cut{container: "app", run: "r", role: roleCanary, node: "n1", deadline: time.Hour}, "x", difference{procs: new(2)})
	own := labels.Set(p.Labels)
	if own["app"] != "api" || own["tier"] != "web" || own["team"] != "shop" || own["pod-template-hash"] != "" || own[labelRole] != roleCanary || own[labelRun] != "r" {
		t.Errorf("labels: %v", own)
	}
	if p.Spec.ActiveDeadlineSeconds == nil || *p.Spec.ActiveDeadlineSeconds != 3600 || p.Spec.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("deadline %v, restart policy %s", p.Spec.ActiveDeadlineSeconds, p.Spec.RestartPolicy)
	}
	if got := graceOf(p); got != endGrace {
		t.Errorf("grace %d where the template has none", got)
	}
	p.Spec.TerminationGracePeriodSeconds = new(int64(45))
	if got := graceOf(p); got != 45 {
		t.Errorf("grace %d, want the template's", got)
	}
	p.Labels[labelRole] = roleTarget
	if got := graceOf(p); got != endGrace {
		t.Errorf("grace of a target %d: it serves nobody", got)
	}
}

func labelled(of string, status corev1.ConditionStatus) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}}}
	for pair := range strings.SplitSeq(of, ",") {
		k, v, _ := strings.Cut(pair, "=")
		p.Labels[k] = v
	}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
	return p
}

// atWork is a pod that runs, with one container.
func atWork(c corev1.ContainerStatus) corev1.PodStatus {
	c.State.Running = &corev1.ContainerStateRunning{}
	return corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{c}}
}

func TestEndpoints(t *testing.T) {
	going := labelled("app=api", corev1.ConditionTrue)
	going.DeletionTimestamp = &metav1.Time{}
	runs := func(p corev1.Pod, image string) corev1.Pod {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "side", ImageID: "side@sha256:9"}, {Name: "app", ImageID: image}}
		return p
	}
	pods := []corev1.Pod{
		runs(labelled("app=api", corev1.ConditionTrue), "mirror/shop/api@sha256:1"), runs(labelled("app=api", corev1.ConditionFalse), "shop/api@sha256:2"), labelled("app=api,x=y", corev1.ConditionTrue), labelled("app=api", corev1.ConditionFalse), going,
		labelled("app=other", corev1.ConditionTrue),
		labelled("app=api,"+labelManager+"="+manager+","+labelRun+"=r", corev1.ConditionFalse),
	}
	theirs, ours, images := endpoints(pods, labels.SelectorFromSet(labels.Set{"app": "api"}), "app")
	if theirs != 2 || ours != 1 || !slices.Equal(images, []string{"sha256:1"}) {
		t.Errorf("%d of theirs, %d of ours, images %q; want 2, 1, that of the one that is ready", theirs, ours, images)
	}
}

// A canary whose tag names another image by now is refused as soon as that is known: it would serve
// an image that nobody has rolled out.
func TestRolledOut(t *testing.T) { synctest.Test(t, rolledOut) }

func rolledOut(t *testing.T) {
	for name, tc := range map[string]struct {
		image string
		ready bool
		want  journal.InvalidCode
	}{
		"the same": {"shop/api@sha256:1", true, ""}, "another that is not ready yet": {"shop/api@sha256:2", false, journal.InvalidPodChanged},
		"another": {"shop/api@sha256:2", true, journal.InvalidPodChanged}, "not reported": {"", true, journal.InvalidPodChanged},
	} {
		r := on(t, &server{status: func() corev1.PodStatus {
			return atWork(corev1.ContainerStatus{Name: "app", ImageID: tc.image, Ready: tc.ready})
		}}, plan.Default())
		r.Serving.images = []string{"sha256:0", "sha256:1"}
		if _, err := r.await(t.Context(), "p", time.Second); codeOf(err) != tc.want || (err == nil) != (tc.want == "") {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// A canary's pod is compared once Services send it requests, which is later than its containers are
// ready where it has a readiness gate. No Service selects a sweep's, so that nothing opens the gate.
func TestReadinessGate(t *testing.T) { synctest.Test(t, readinessGate) }

func readinessGate(t *testing.T) {
	for name, tc := range map[string]struct {
		role string
		open int // at the answer of this number; 0: never
		want journal.InvalidCode
	}{
		"a canary": {roleCanary, 3, ""}, "a canary whose gate stays closed": {roleCanary, 0, journal.InvalidNeverReady}, "a sweep": {"", 0, ""},
	} {
		asked := 0
		r := on(t, &server{status: func() corev1.PodStatus {
			asked++
			p := atWork(corev1.ContainerStatus{Name: "app", Ready: true})
			p.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ReadinessGatesNotReady", Message: "the status of pod readiness gate is not True"}}
			if asked == tc.open {
				p.Conditions[0] = corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
			}
			return p
		}}, plan.Default())
		r.cut.role = tc.role
		_, err := r.await(t.Context(), "p", time.Second)
		if codeOf(err) != tc.want || (err == nil) != (tc.want == "") || tc.open > 0 && asked != tc.open || err != nil && !strings.Contains(err.Error(), "ReadinessGatesNotReady: the status of pod readiness gate") {
			t.Errorf("%s: %v after %d answers, want %q", name, err, asked, tc.want)
		}
	}
}

// A program that sets its GOMAXPROCS in the middle of a canary ends it: it is compared with the
// control as what it is called.
func TestMark(t *testing.T) {
	for procs, want := range map[int]string{2: "", 8: "GOMAXPROCS 8: the target ran with GOMAXPROCS=2 instead of 8"} {
		r := on(t, &server{}, plan.Default())
		r.from, r.Setting = unanswering{}, journal.Setting{Label: fmt.Sprint(procs), Procs: &procs}
		m, err := (&group{run: r}).mark(t.Context())
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) || *m.ObservedProcs[0] != 2 {
			t.Errorf("%d: %v, want %q", procs, err, want)
		}
	}
}

// The pods of a round may take as long to end as their template allows: until the next round runs, the record
// says that the canary is alive.
func TestAliveBetweenRounds(t *testing.T) {
	const grace = 10 * time.Minute
	var alive time.Time
	gone := metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound}
	s := &server{answer: func(q *http.Request) any {
		switch {
		case strings.Contains(q.URL.Path, "/configmaps"):
			return recordOf(q, &alive)
		case q.Method == http.MethodDelete && time.Until(alive) < grace:
			t.Errorf("pods are removed by a canary that counts as alive for %s", time.Until(alive))
		case q.Method == http.MethodPost: // as far as this test goes
			return metav1.Status{TypeMeta: gone.TypeMeta, Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden}
		}
		return gone
	}}
	spec := plan.Default()
	spec.Target.Grace = grace
	r := on(t, s, spec)
	r.quiet = time.Minute
	c := &Canaries{runner: r.runner, groups: []*group{{run: r}}}
	if err := c.Apply(t.Context(), []journal.Setting{{Label: "1", Procs: new(1), Replicas: 1}}); err == nil || alive.IsZero() {
		t.Errorf("%v, alive until %s", err, alive)
	}
}

// silent is an agent that never answers.
type silent struct{}

func (silent) RoundTrip(q *http.Request) (*http.Response, error) {
	<-q.Context().Done()
	return nil, q.Context().Err()
}

// A canary ends at once at a container's end, also while its agents are asked in vain.
func TestHarmWhileAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r := on(t, &server{answer: func(q *http.Request) any {
			if strings.Contains(q.URL.Path, "/configmaps") {
				return corev1.ConfigMap{TypeMeta: metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "procfit-r"}}
			}
			p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Error"}}
			return corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Items: []corev1.Pod{p}}
		}}, plan.Default())
		r.fleet[0].observer = &agent.Client{Transport: silent{}, Patience: observerPatience, Renew: func() {}, Gone: func(context.Context) error { return nil }}
		_, err := (&Canaries{runner: r.runner, groups: []*group{{run: r}}}).Slice(t.Context())
		end := (*paired.EndError)(nil)
		if took := time.Since(began); !errors.As(err, &end) || end.Code != journal.EndHarm || took > 2*time.Second {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

func TestAdopters(t *testing.T) {
	selector := func(of string) *metav1.LabelSelector {
		return must.Get(metav1.ParseToLabelSelector(of))(t)
	}
	own := labels.Set{"app": "api", "tier": "web"}
	sets := []controller{
		{"replicaset", "api-1", selector("app=api,pod-template-hash=1"), "api"},
		{"replicaset", "by-hand", selector("app=api"), ""},
		{"replicaset", "expressed", selector("tier in (web,db)"), ""},
		{"replicaset", "others", selector("app=other"), "other"},
		{"replicaset", "none", nil, ""},
	}
	got := adopters(own, sets)
	if len(got) != 2 || !strings.Contains(got[0], "replicaset/by-hand would adopt its pods, since it selects app=api") || !strings.Contains(got[1], "expressed") {
		t.Errorf("%q", got)
	}
	subject := Subject{Kind: "Deployment", Name: "named"}
	for name, want := range map[string]bool{"named": true, "api": true, "other": false, "absent": false} {
		if got := scales(scaled{Kind: "Deployment", Name: name}, subject, own, sets); got != want {
			t.Errorf("the autoscaler of %s counts them: %v", name, got)
		}
	}
	if scales(scaled{Kind: "StatefulSet", Name: "api"}, subject, own, sets) {
		t.Error("a StatefulSet of the name is taken for the Deployment")
	}
	if sets[0].selector.MatchLabels[appsv1.DefaultDeploymentUniqueLabelKey] != "1" {
		t.Error("a selector was changed")
	}
}

func TestEffect(t *testing.T) {
	for want, list := range map[journal.Effect][]budgetSpec{
		journal.EffectBlocked: {{MaxUnavailable: new(intstr.FromInt32(1))}, {MinAvailable: new(intstr.FromString("50%"))}},
		journal.EffectRelaxed: {{MinAvailable: new(intstr.FromInt32(2))}, {}},
	} {
		for _, b := range list {
			if got := effect(b); got != want {
				t.Errorf("%+v: %s, want %s", b, got, want)
			}
		}
	}
}

func TestCondition(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	over := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 0, Reason: "Completed"}}
	always := corev1.ContainerRestartPolicyAlways
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		ended  string
		taken  string
		ready  bool
	}{
		"well": {func(p *corev1.Pod) {}, "", "", true},
		"an init that is over": {func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "init"}}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", State: over}}
		}, "", "", true},
		"a sidecar that is over": {func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "side", RestartPolicy: &always}}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "side", State: over}}
		}, "ended", "", true},
		"a crash": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2, Reason: "Error"}}
		}, "ended with code 2", "", true},
		"unready": {func(p *corev1.Pod) {
			p.Status.Conditions[0] = corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ContainersNotReady"}
		}, "", "", false},
		"evicted": {func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"})
		}, "", "the cluster removed pod", true},
	} {
		p := labelled("app=api", corev1.ConditionTrue)
		p.Name, p.Status.Phase = "x", corev1.PodRunning
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: running}}
		c.change(&p)
		got := condition("1", &p)
		if got.Setting != "1" || got.Pod != "x" || got.Ready != c.ready || (got.Ended == "") != (c.ended == "") || !strings.Contains(got.Ended, c.ended) || (got.Taken == "") != (c.taken == "") || !strings.Contains(got.Taken, c.taken) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
