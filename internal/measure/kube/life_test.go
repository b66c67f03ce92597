package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// server is an API server with one pod, p.
type server struct {
	log    []byte                  // of its container; nil: cannot be read
	status func() corev1.PodStatus // nil: it runs
	gone   bool
	// answer is to every request; nil: what there is of the pod
	answer func(*http.Request) any
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case s.answer != nil:
		json.NewEncoder(w).Encode(s.answer(r))
	case strings.HasSuffix(r.URL.Path, "/log") && s.log != nil:
		w.Write(s.log)
	case r.Method == http.MethodDelete:
		s.gone = true
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
	case s.gone || strings.HasSuffix(r.URL.Path, "/log"):
		w.WriteHeader(http.StatusNotFound)
		json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Reason: metav1.StatusReasonNotFound, Code: 404, Message: "not here"})
	default:
		p := corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}}
		p.Name, p.Status.Phase = "p", corev1.PodRunning
		if s.status != nil {
			p.Status = s.status()
		}
		json.NewEncoder(w).Encode(p)
	}
}

// RoundTrip asks the API server without a network, which a bubble of fake time could not
// wait for.
func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result(), nil
}

// on is a trial of the pod of that API server.
func on(t *testing.T, s *server, spec plan.Spec) *run {
	t.Helper()
	client := must.Get(cluster.New(&rest.Config{Host: "http://cluster", Transport: s}, "shop", cluster.Use{PerSecond: 1000}))(t)
	dir := t.TempDir()
	r := started(spec, journal.Setting{Label: "2", Procs: new(2), Replicas: 1}).run
	r.cluster, r.container = &api{client}, "app"
	r.fleet = []*replica{{name: "p", pod: &corev1.Pod{}, url: "http://10.0.0.1/", why: "nothing looks from beside it"}}
	r.config.CreateLog = func(name string) (*os.File, string, error) {
		f, err := os.Create(filepath.Join(dir, name))
		return f, f.Name(), err
	}
	return r
}

// metric is what the servers of these tests print.
func metric(t *testing.T) []load.Metric {
	t.Helper()
	return []load.Metric{must.Get(load.ParseMetric(`hits=([\d.]+) hits`))(t)}
}

// Of a pod's long output both the beginning and the end are kept, and whole lines of them.
func TestLongOutput(t *testing.T) {
	long := slicesOfLines("first 1\n", 6<<20, "last 2 hits\n")
	r := on(t, &server{log: long}, plan.Default())
	e, err := r.Stop(t.Context())
	if err != nil || e.Unread != nil || len(e.Outputs) != 1 {
		t.Fatalf("%v, %v", err, e.Unread)
	}
	o := e.Outputs[0]
	if !o.Cut || !bytes.HasPrefix(o.Head, []byte("first 1\n")) || !bytes.HasSuffix(o.Tail, []byte("last 2 hits\n")) {
		t.Errorf("cut %v: %q … %q", o.Cut, o.Head[:20], o.Tail[max(0, len(o.Tail)-20):])
	}
	b, err := os.ReadFile(r.Trial.Log)
	if err != nil || len(b) > trial.LogLimit+100 || !bytes.HasSuffix(b, []byte("last 2 hits\n")) || !bytes.Contains(b, []byte("bytes skipped]")) {
		t.Errorf("%v: the log has %d bytes", err, len(b))
	}
}

func slicesOfLines(first string, n int, last string) []byte {
	return append(append([]byte(first), bytes.Repeat([]byte("a line of 32 bytes, no figures.\n"), n/32)...), last...)
}

// loadedRun is a server's trial whose pods are there already.
type loadedRun struct{ *run }

func (*loadedRun) Prepare(context.Context, context.CancelCauseFunc) error { return nil }
func (r *loadedRun) Start(context.Context) ([]string, error)              { return []string{r.fleet[0].url}, nil }
func (*loadedRun) Check(context.Context) error                            { return nil }

// --metric of a server is read from its pods' logs.
func TestServersMetricsInCluster(t *testing.T) {
	for name, tc := range map[string]struct {
		log  []byte
		code journal.InvalidCode
	}{
		"printed": {[]byte("ready\n42 hits\n"), ""}, "not printed": {[]byte("ready\n"), journal.InvalidMetric}, "not read": {nil, journal.InvalidLost},
	} {
		spec := plan.Default()
		spec.Target.Pods, spec.Target.URL, spec.Load.Metrics = &plan.Pods{}, "http://{pod}/", metric(t)
		s := &server{log: tc.log}
		r := &loadedRun{on(t, s, spec)}
		r.from = unanswering{}
		tr, err := trial.Run(t.Context(), r, r.Task)
		if err != nil || tr.InvalidCode != tc.code || tc.code == "" && tr.Metrics["hits"].Value != 42 || !s.gone {
			t.Errorf("%s: %v, %s %q, %+v; the pod is gone: %v", name, err, tr.InvalidCode, tr.InvalidReason, tr.Metrics, s.gone)
		}
	}
}

// refusing is an agent that cannot do what it is asked.
type refusing struct{}

func (refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	http.Error(w, "unknown measurement: the agent was restarted in the meantime", http.StatusNotFound)
	return w.Result(), nil
}

// A container next to the target that refuses a look leaves GOMAXPROCS unproven, or to the
// target's own metric; it is not a load that could not be offered.
func TestRefusedLook(t *testing.T) {
	spec := plan.Default()
	spec.Target.Pods, spec.Target.URL = &plan.Pods{}, "http://{pod}/"
	for name, tc := range map[string]struct {
		from generator
		want journal.WarningCode
	}{"a metric": {unanswering{}, ""}, "no metric": {mute{}, journal.WarnProcsUnproven}} {
		r := &loadedRun{on(t, &server{log: []byte("\n")}, spec)}
		r.fleet[0].observer = &agent.Client{Transport: refusing{}}
		r.from = tc.from
		tr, err := trial.Run(t.Context(), r, r.Task)
		if err != nil || !tr.Valid {
			t.Errorf("%s: %v, %s %q", name, err, tr.InvalidCode, tr.InvalidReason)
		}
		unproven := 0
		for _, w := range tr.Warnings {
			if w.Code == journal.WarnProcsUnproven && strings.Contains(w.Detail, "was restarted in the meantime") {
				unproven++
			}
		}
		if (unproven == 1) != (tc.want != "") {
			t.Errorf("%s: warnings %+v", name, tr.Warnings)
		}
	}
}

// mute offers load and finds no metrics.
type mute struct{ unanswering }

func (mute) Fetch(context.Context, string) (agent.Answer, error) {
	return agent.Answer{Status: 404}, nil
}

func codeOf(err error) journal.InvalidCode {
	if f, failed := errors.AsType[*trial.Failure](err); failed {
		return f.Code
	}
	return ""
}

// The load's agent that refuses is a load that could not be offered.
func TestRefusedLoad(t *testing.T) {
	r := on(t, &server{}, plan.Default())
	r.from = &remote{Client: &agent.Client{Transport: refusing{}}}
	_, _, err := r.Offer(t.Context(), load.Options{}, false)
	if code := codeOf(err); code != journal.InvalidLoad || !strings.Contains(err.Error(), "the load generator could not start: unknown measurement") {
		t.Errorf("%s: %v", code, err)
	}
}

// A load generator's pod that does not come to run, or ends, is reported as that: it says
// nothing of the target, and a run that continues tries the trial again.
func TestLoadPodFailed(t *testing.T) {
	ended := corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{Name: "load", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Signal: 9, Reason: "OOMKilled"}}}}}
	var status corev1.PodStatus
	s := &server{status: func() corev1.PodStatus { return status }}
	for name, tc := range map[string]struct {
		status corev1.PodStatus
		words  string
	}{
		"not started": {waiting("CreateContainerConfigError", "container has runAsNonRoot"), "CreateContainerConfigError: container has runAsNonRoot"},
		"ended":       {ended, "killed by signal 9 (OOMKilled)"},
		"evicted":     {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}, "the cluster removed pod"},
	} {
		status = tc.status
		r := on(t, s, plan.Default())
		_, err := r.Start(t.Context())
		if code := codeOf(err); code != journal.InvalidLoad || !strings.HasPrefix(err.Error(), "the load generator's pod: ") || !strings.Contains(err.Error(), tc.words) || !r.Trial.NotStarted {
			t.Errorf("%s: %s: %v; not started: %v", name, code, err, r.Trial.NotStarted)
		}
	}
	status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"}
	r := on(t, s, plan.Default())
	must.OK(t, r.ensureLoad(t.Context()))
	if err := r.load.Gone(t.Context()); err != nil {
		t.Errorf("while it runs: %v", err)
	}
	status = ended
	if err := r.load.Gone(t.Context()); codeOf(err) != journal.InvalidLoad || !strings.HasPrefix(err.Error(), "the load generator's pod: container load of pod") {
		t.Errorf("once it has ended: %v", err)
	}
}

// A limit that admission gives to the pod that offers the load would throttle it.
func TestRehearseLoad(t *testing.T) {
	s := &server{answer: func(r *http.Request) any {
		p := echo(r).(corev1.Pod)
		if p.Labels[labelRole] == roleLoad {
			p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}
		}
		return p
	}}
	target := on(t, s, plan.Default()).Target
	target.options.Image, target.cut.container = "procfit:v1", "app"
	target.subject = subject(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: app}]}")
	for _, loaded := range []bool{true, false} {
		_, err := target.Rehearse(t.Context(), journal.Plan{Settings: []journal.Setting{{Label: "2", Procs: new(2)}}}, loaded)
		if (err != nil) != loaded || loaded && !strings.Contains(err.Error(), "CPU limit of 500m") {
			t.Errorf("with a pod that offers load %v: %v", loaded, err)
		}
	}
}

// --trial-timeout is for the program: what its image and its node take is not its time.
func TestTimeoutInCluster(t *testing.T) {
	const timeout, ready = 40 * time.Second, 2 * time.Minute
	for name, tc := range map[string]struct {
		pending, runs time.Duration
		code          journal.InvalidCode
	}{
		"long pending": {2 * timeout, timeout / 4, ""}, "pending for ever": {time.Hour, 0, journal.InvalidNoPod},
		"running as long as it may": {0, timeout, ""}, "long running": {0, time.Hour, journal.InvalidTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				status := func() corev1.PodStatus {
					switch over := time.Since(began); {
					case over < tc.pending:
						return corev1.PodStatus{Phase: corev1.PodPending}
					case over < tc.pending+tc.runs:
						return corev1.PodStatus{Phase: corev1.PodRunning}
					}
					return corev1.PodStatus{Phase: corev1.PodSucceeded}
				}
				spec := plan.Default()
				spec.Target.Pods, spec.Target.RunTimeout, spec.Target.ReadyTimeout = &plan.Pods{Batch: true}, timeout, ready
				_, err := on(t, &server{status: status}, spec).ended(t.Context(), "p")
				if code := codeOf(err); code != tc.code || (err == nil) != (code == "") {
					t.Errorf("%s: %v, want %s", code, err, tc.code)
				}
				most := min(tc.pending, ready) + min(tc.runs, timeout)
				if took := time.Since(began); took < most || took > most+2*podInterval {
					t.Errorf("it took %v, want %v", took, most)
				}
			})
		})
	}
}

// An agent that waits for the target to be ready costs two seconds of every trial: once
// the user is known, it is in the pod before anything asks whether the pod runs. It is asked before
// a load and after it, so it does not end by itself before its pod does.
func TestAttachEarly(t *testing.T) {
	known := &owner{1000, 1000}
	for name, tc := range map[string]struct {
		user  *owner
		why   string
		init  []corev1.Container
		batch bool
		want  string
	}{
		"user known": {user: known, want: "POST pods, PATCH ephemeralcontainers as 1000: agent --idle=2h0m0s"}, "user not known": {want: "POST pods"},
		"no agent": {user: known, why: "no right", want: "POST pods"}, "init container": {user: known, init: []corev1.Container{{Name: "first"}}, want: "POST pods"},
		"a Job": {user: known, batch: true, want: "POST pods"},
	} {
		var calls []string
		s := &server{answer: func(r *http.Request) any {
			kind := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
			call := r.Method + " " + kind
			var p corev1.Pod
			json.NewDecoder(r.Body).Decode(&p)
			for _, e := range p.Spec.EphemeralContainers {
				call += fmt.Sprintf(" as %d: %s", *e.SecurityContext.RunAsUser, strings.Join(e.Args, " "))
			}
			calls = append(calls, call)
			p.Kind, p.APIVersion = "Pod", "v1"
			return p
		}}
		r := on(t, s, plan.Default())
		r.fleet, r.user, r.NoObserver, r.cut.container = nil, tc.user, tc.why, "app"
		r.cut.deadline = 2 * time.Hour
		r.subject = Subject{Batch: tc.batch, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{InitContainers: tc.init, Containers: []corev1.Container{{Name: "app"}}}}}
		if err := r.start(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := strings.Join(calls, ", "); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
		if inserted := r.fleet[0].observer != nil; inserted != strings.Contains(tc.want, "PATCH") {
			t.Errorf("%s: the agent is in the pod: %v", name, inserted)
		}
	}
}

// An agent whose container failed is not waited for, and the reason is the container's.
func TestAgentFailed(t *testing.T) {
	dead := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2, Reason: "Error"}}
	r := on(t, &server{status: func() corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodRunning, EphemeralContainerStatuses: []corev1.ContainerStatus{{Name: observerName, State: dead}}}
	}}, plan.Default())
	one := r.fleet[0]
	one.line = must.Get(r.cluster.tunnel("p"))(t)
	began := time.Now()
	r.attach(t.Context(), one)
	if took := time.Since(began); one.observer != nil || !strings.Contains(one.why, "ended with code 2") || took > observerPatience/2 {
		t.Errorf("after %s: %q", took, one.why)
	}
}
