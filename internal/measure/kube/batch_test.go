package kube

import (
	"context"
	"encoding/json"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

const cronJob = `
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      completionMode: Indexed
      template:
        metadata: {labels: {job-name: nightly, batch.kubernetes.io/controller-uid: "7", team: shop}}
        spec:
          restartPolicy: OnFailure
          initContainers: [{name: fetch, image: "fetch:v1"}]
          containers:
          - {name: import, image: "import:v1", resources: {limits: {cpu: 1, memory: 64Mi}}, securityContext: {runAsNonRoot: true}}
`

// A Job's pods run once, with procfit next to the program from before its start, and stay
// of the class that they are of.
func TestBatchTarget(t *testing.T) {
	s := &Target{subject: subject(t, cronJob), container: "import", options: Options{Image: "procfit:v1"}}
	if !s.subject.Batch || !s.subject.Indexed || s.subject.Kind != "CronJob" || s.URL() != "" {
		t.Errorf("%+v", s.subject)
	}
	p := s.target(cut{container: "import", run: "r"}, "copy", difference{procs: new(2)}, nil)
	if p.Labels["team"] != "shop" || p.Labels["job-name"] != "" || p.Spec.RestartPolicy != corev1.RestartPolicyNever || env(p)["GOMAXPROCS"] != "2" {
		t.Errorf("%+v", p)
	}
	eye := p.Spec.InitContainers[len(p.Spec.InitContainers)-1]
	if len(p.Spec.InitContainers) != 2 || eye.Name != observerName || *eye.RestartPolicy != corev1.ContainerRestartPolicyAlways || !*p.Spec.ShareProcessNamespace || eye.Args[1] != "--watch" {
		t.Errorf("the container beside it: %+v", eye)
	}
	if eye.SecurityContext.RunAsUser != nil || eye.Resources.Limits.Cpu().IsZero() {
		t.Errorf("it runs as %v with limits %v: want the image's user, and a class of its own not to change the pod's", eye.SecurityContext.RunAsUser, eye.Resources.Limits)
	}
	p = s.target(cut{container: "import"}, "copy", difference{}, &owner{7, 8})
	if got := p.Spec.InitContainers[1].SecurityContext; *got.RunAsUser != 7 || *got.RunAsGroup != 8 {
		t.Errorf("once it is known as whom the program runs: %+v", got)
	}
}

// What admission adds to a Job's pods would be measured as its program, or never end.
func TestInjected(t *testing.T) {
	s := &Target{subject: subject(t, cronJob), container: "import", Quota: new(1.0), options: Options{Image: "procfit:v1"}}
	setting := journal.Setting{Label: "2", Procs: new(2), QuotaCPUs: new(1.0)}
	added := corev1.Container{Name: "istio-proxy"}
	for name, tc := range map[string]struct {
		add  func(*corev1.PodSpec)
		want string
	}{
		"nothing":     {func(*corev1.PodSpec) {}, ""},
		"a container": {func(p *corev1.PodSpec) { p.Containers = append(p.Containers, added) }, "it adds containers to the Job's pods"},
		"a sidecar": {func(p *corev1.PodSpec) {
			p.InitContainers = slices.Insert(p.InitContainers, 0, added)
			p.InitContainers[0].RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}, "it adds containers to the Job's pods"},
		"an init container at the end": {func(p *corev1.PodSpec) { p.InitContainers = append(p.InitContainers, added) }, "it adds containers to the Job's pods"},
		"an init container before":     {func(p *corev1.PodSpec) { p.InitContainers = slices.Insert(p.InitContainers, 0, added) }, ""},
	} {
		p := s.target(cut{container: "import"}, "copy", s.differenceOf(setting), nil)
		tc.add(&p.Spec)
		if got := strings.Join(s.unlike(p, setting), "; "); (got == "") != (tc.want == "") || !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	s.subject.Batch = false // with a server nothing of procfit is created
	for added, want := range map[int]bool{0: false, 1: true} {
		p := s.target(cut{container: "import"}, "copy", s.differenceOf(setting), nil)
		p.Spec.ShareProcessNamespace = new(true)
		p.Spec.Containers = append(p.Spec.Containers, make([]corev1.Container, added)...)
		if got := s.unlike(p, setting); (got != nil) != want {
			t.Errorf("%d containers next to a server that shares its processes: %q", added, got)
		}
	}
}

// batchRun is a Job's trial whose agents saw this.
type batchRun struct {
	*startedRun
	ran     []agent.Ran
	outputs []load.Output
}

func (r *batchRun) RunOnce(context.Context, bool) (trial.Ran, error) {
	one := trial.Ran{Outputs: r.outputs}
	err := r.saw(&one, r.ran)
	return one, err
}

func runOf(t *testing.T, setting journal.Setting, metrics []load.Metric, outputs []load.Output, ran ...agent.Ran) journal.Trial {
	t.Helper()
	spec := plan.Default()
	spec.Target.Pods, spec.Load.Warmup, spec.Load.Metrics = &plan.Pods{Batch: true}, 0, metrics
	r := &batchRun{started(spec, setting), ran, outputs}
	r.fleet = slices.Repeat([]*replica{{name: "p"}}, len(ran))
	return must.Get(trial.Run(t.Context(), r, r.Task))(t)
}

// What the runs come to: the slowest replica's time, all replicas' CPU time, and a figure
// that the program prints.
func TestBatchFigures(t *testing.T) {
	ran := func(wall, cpu float64, procs int) agent.Ran {
		r := agent.Ran{WallSeconds: wall, Look: agent.Look{Procs: procs, Source: "symbol"}}
		r.Counted.CPUSeconds = &journal.CPUSeconds{User: cpu}
		r.Counted.MeasuredSeconds = wall
		r.Counted.Limits = []journal.OuterLimit{{CPUs: 0.5, Cgroup: journal.Cgroup{Periods: 10, ThrottledPeriods: 4}}}
		return r
	}
	setting := journal.Setting{Procs: new(2), QuotaCPUs: new(0.5), Replicas: 2}
	tr := runOf(t, setting, nil, nil, ran(4, 1, 2), ran(5, 2, 2))
	if !tr.Valid || *tr.ThroughputPerSecond != 0.4 || tr.ThroughputUnit != trial.ThroughputRuns || tr.CPUSeconds.User != 3 || tr.Cgroup.ThrottledPeriods != 8 || *tr.ObservedProcs[1] != 2 {
		t.Errorf("%+v", tr)
	}
	if tr := runOf(t, setting, nil, nil, ran(4, 1, 4)); tr.InvalidCode != journal.InvalidProcs {
		t.Errorf("at another GOMAXPROCS: %s %q", tr.InvalidCode, tr.InvalidReason)
	}
	m := must.Get(load.ParseMetric(`throughput=([\d.]+) rows/s`))(t)
	if tr := runOf(t, setting, []load.Metric{m}, []load.Output{{Head: []byte("120 rows/s\n")}}, ran(4, 1, 2)); !tr.Valid || *tr.ThroughputPerSecond != 120 {
		t.Errorf("%q: %v", tr.InvalidReason, tr.ThroughputPerSecond)
	}
	for wall, counted := range map[float64]bool{4: true, 0.2: false} { // below half a second the kernel's ticks do not show it
		busy := ran(wall, 0.1, 2)
		busy.Counted.HostUse = &journal.HostUse{OtherCPUSeconds: new(0.1)}
		if use := runOf(t, setting, nil, nil, busy).HostUse; (use.OtherCPUSeconds != nil) != counted || (use.MostOtherCPUSeconds != nil) == counted {
			t.Errorf("of a run of %g s: %+v", wall, use)
		}
	}
	injected := ran(4, 1, 2) // by its image, say
	injected.Look.Env = new("2")
	for label, want := range map[string]journal.InvalidCode{"2": "", journal.Default: journal.InvalidProcs} {
		setting := journal.Setting{Label: label, Replicas: 1}
		if want == "" {
			setting.Procs = new(2)
		}
		if tr := runOf(t, setting, nil, nil, injected); tr.InvalidCode != want || want != "" && !strings.Contains(tr.InvalidReason, "GOMAXPROCS=2 is in the environment of pod p although procfit did not set it") {
			t.Errorf("%s with the variable of the image: %s %q, want %q", label, tr.InvalidCode, tr.InvalidReason, want)
		}
	}
	blind := ran(4, 1, 2)
	blind.Counted.Error = "no counters"
	if tr := runOf(t, setting, nil, nil, blind, blind); len(tr.Warnings) != 1 || tr.Warnings[0].Code != journal.WarnCounters {
		t.Errorf("warnings %+v, want one for both replicas", tr.Warnings)
	}
}

// jobs is an API server whose pods run for a time, and end.
type jobs struct {
	runs time.Duration
	room bool // for more than one pod at a time
	look agent.Look

	mu     sync.Mutex
	starts map[string]time.Time // of the pods that there are
	alive  time.Time            // as the record says
	silent bool                 // once it was not alive by its record
}

func (j *jobs) answer(q *http.Request) any {
	j.mu.Lock()
	defer j.mu.Unlock()
	name, now := path.Base(q.URL.Path), time.Now()
	starts, there := j.starts[name]
	j.silent = j.silent || now.After(j.alive)
	switch {
	case strings.Contains(q.URL.Path, "/configmaps"):
		return recordOf(q, &j.alive)
	case q.Method == http.MethodPost:
		p := echo(q).(corev1.Pod)
		for _, before := range j.starts {
			if after := before.Add(j.runs); !j.room && after.After(now) {
				now = after
			}
		}
		j.starts[p.Name] = now
		return p
	case name == "log":
		return agent.Ran{WallSeconds: j.runs.Seconds(), Look: j.look, Counted: agent.Counted{Usage: journal.Usage{MeasuredSeconds: j.runs.Seconds(), CPUSeconds: &journal.CPUSeconds{User: 1}}}}
	case q.Method == http.MethodDelete:
		delete(j.starts, name)
		return metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess}
	case !there:
		return metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound}
	}
	p := corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
	switch p.Status.Phase = corev1.PodPending; {
	case now.Before(starts):
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/1 nodes are available: 1 Insufficient cpu."}}
	case now.Before(starts.Add(j.runs)):
		p.Status.Phase = corev1.PodRunning
	default:
		p.Status.Phase = corev1.PodSucceeded
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			StartedAt: metav1.NewTime(starts.Add(time.Second)), FinishedAt: metav1.NewTime(starts.Add(j.runs)),
		}}}}
	}
	return p
}

// recordOf answers for the record of a run, and keeps until when that says that the run is alive.
func recordOf(q *http.Request, alive *time.Time) (m corev1.ConfigMap) {
	json.NewDecoder(q.Body).Decode(&m) // of a GET there is none
	if q.Method == http.MethodPut {
		*alive, _ = time.Parse(time.RFC3339, m.Annotations[aliveUntil])
	}
	m.Kind, m.APIVersion, m.Name = "ConfigMap", "v1", path.Base(q.URL.Path)
	return m
}

// on is a trial of that server's pods, none of which there is yet.
func (j *jobs) on(t *testing.T, replicas int, ready, most time.Duration) *run {
	t.Helper()
	j.starts = map[string]time.Time{}
	spec := plan.Default()
	spec.Target.Pods, spec.Target.RunTimeout, spec.Target.ReadyTimeout = &plan.Pods{Batch: true}, most, ready
	r := on(t, &server{answer: j.answer}, spec)
	r.fleet, r.Setting.Replicas = nil, replicas
	r.subject = Subject{Batch: true, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app"}}}}}
	r.cut.container, r.cut.deadline = "app", r.life()
	j.alive = r.alive() // as Prepare writes it
	return r
}

// Replicas are measured at the same time: if they ran one after the other, their runs per second would be
// those of both at once.
func TestReplicasAtOnce(t *testing.T) {
	const runs = 20 * time.Second
	for name, tc := range map[string]struct {
		room  bool
		ready time.Duration
		code  journal.InvalidCode
		took  time.Duration
	}{
		"room for both":       {true, time.Minute, "", runs},
		"one after the other": {false, time.Minute, journal.InvalidNoPod, 2 * runs},
		"no room in time":     {false, runs / 2, journal.InvalidNoPod, runs / 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				r := (&jobs{runs: runs, room: tc.room, look: agent.Look{Procs: 2, Source: "symbol"}}).on(t, 2, tc.ready, time.Minute)
				one, err := r.RunOnce(t.Context(), true)
				if codeOf(err) != tc.code || (err == nil) != (tc.code == "") || r.Trial.NotStarted != (tc.code == journal.InvalidNoPod) || err == nil && (one.Wall != runs || len(one.Readings) != 2) {
					t.Errorf("%v, not started: %v, %+v; want %s", err, r.Trial.NotStarted, one, tc.code)
				}
				if took := time.Since(began); took < tc.took || took > tc.took+time.Second {
					t.Errorf("it took %s, want %s", took, tc.took)
				}
			})
		})
	}
}

// A Job whose first run only shows as whom its program runs is run twice in one trial. Its record says to the
// end that it is alive: another sweep would remove its pods.
func TestAliveWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		j := &jobs{runs: 9 * time.Minute, look: agent.Look{Error: "permission denied", UID: new(int64(1000)), GID: new(int64(1000))}}
		r := j.on(t, 1, 30*time.Second, 10*time.Minute)
		if _, err := r.RunOnce(t.Context(), true); err != nil || j.silent || time.Since(began) < 2*j.runs {
			t.Errorf("after %s: %v; it did not count as alive: %v", time.Since(began), err, j.silent)
		}
	})
}

func TestExited(t *testing.T) {
	pod := func(state corev1.ContainerState) *corev1.Pod {
		p := &corev1.Pod{}
		p.Name, p.Status.Phase = "p", corev1.PodFailed
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: observerName, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}}}}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "a", State: state}}
		return p
	}
	for name, tc := range map[string]struct {
		state corev1.ContainerState
		code  journal.InvalidCode
		words string
	}{
		"well":    {corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}, "", ""},
		"badly":   {corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}}, journal.InvalidExit, "container a of pod p ended with code 3 (Error)"},
		"killed":  {corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Signal: 9, Reason: "OOMKilled"}}, journal.InvalidKilled, "signal 9 (OOMKilled)"},
		"unknown": {corev1.ContainerState{}, journal.InvalidLost, "does not report"},
	} {
		err := exited(pod(tc.state), "a")
		if (err == nil) != (tc.code == "") || codeOf(err) != tc.code || err != nil && !strings.Contains(err.Error(), tc.words) {
			t.Errorf("%s: %v, want %s %q", name, err, tc.code, tc.words)
		}
	}
}

// A Job whose init container fails never starts its program: the reason is the init
// container's end, and not that procfit has no output of the program.
func TestInitContainerFailed(t *testing.T) {
	s := &server{status: func() corev1.PodStatus {
		p := waiting("PodInitializing", "")
		p.Phase = corev1.PodFailed
		p.InitContainerStatuses = []corev1.ContainerStatus{{Name: "fetch", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}}}}
		return p
	}}
	spec := plan.Default()
	spec.Target.Pods = &plan.Pods{Batch: true}
	if _, err := on(t, s, spec).ended(t.Context(), "p"); codeOf(err) != journal.InvalidCrashed || err.Error() != "container fetch of pod p ended with code 1 (Error)" {
		t.Errorf("%s: %v", codeOf(err), err)
	}
}

func FuzzParseRan(f *testing.F) {
	f.Add([]byte(`{"wall_seconds":1.5,"look":{"procs":2},"counted":{"cpu_seconds":{"user":1,"system":0}}}` + "\n"))
	f.Add([]byte("noise\n{}\n"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, b []byte) {
		if ran, err := parseRan(b); err == nil && !(ran.WallSeconds > 0) {
			t.Errorf("%q is a run of %g s", b, ran.WallSeconds)
		}
	})
}
