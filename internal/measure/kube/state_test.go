package kube

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/verdict/journal"
)

func waiting(reason, message string) corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}}}
}

// The status of a pod shows what is wrong with it, as the kubelet and the scheduler write
// it.
func TestTrouble(t *testing.T) {
	ended := func(code int32, signal int32, reason string) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Signal: signal, Reason: reason}}}}}
	}
	scheduled := corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/1 nodes are available: 1 Insufficient cpu."}}}
	disrupted := corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}}}
	for name, tc := range map[string]struct {
		status corev1.PodStatus
		code   journal.InvalidCode // "" for none
		words  string
		waits  bool
	}{
		"starting":     {waiting("ContainerCreating", ""), "", "", false},
		"no image":     {waiting("ImagePullBackOff", `Back-off pulling image "x"`), journal.InvalidNoPod, `ImagePullBackOff: Back-off pulling image "x"`, true},
		"no Secret":    {waiting("CreateContainerConfigError", `secret "x" not found`), journal.InvalidNoPod, `secret "x" not found`, false},
		"as root":      {waiting("CreateContainerConfigError", "container has runAsNonRoot and image will run as root"), journal.InvalidNoPod, "run as root; procfit kube image creates an image that does not", false},
		"no room":      {scheduled, journal.InvalidNoPod, "Insufficient cpu", true},
		"crashed":      {ended(2, 0, "Error"), journal.InvalidCrashed, "container app of pod p ended with code 2 (Error)", false},
		"out of RAM":   {ended(137, 9, "OOMKilled"), journal.InvalidKilled, "signal 9 (OOMKilled)", false},
		"ended well":   {corev1.PodStatus{Phase: corev1.PodSucceeded}, journal.InvalidCrashed, "pod p ended", false},
		"evicted":      {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on resource: memory."}, journal.InvalidEvicted, "low on resource", false},
		"being pushed": {disrupted, journal.InvalidEvicted, "EvictionByEvictionAPI", false},
		"restarted":    {corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "app", RestartCount: 1}}}, journal.InvalidPodChanged, "container app of pod p was restarted", false},
		"no room then": {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfcpu", Message: "Node didn't have enough resource"}, journal.InvalidNoPod, "OutOfcpu", false},
	} {
		got := troubleOf(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: tc.status})
		switch {
		case got == nil && tc.code == "":
		case got == nil || got.code != tc.code || got.waits != tc.waits || !strings.Contains(got.reason, tc.words):
			t.Errorf("%s: %+v, want %s %q", name, got, tc.code, tc.words)
		}
	}
	going := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0)}}}
	if got := troubleOf(going); got == nil || got.code != journal.InvalidEvicted {
		t.Errorf("deleted by another: %+v", got)
	}
}

func TestRunning(t *testing.T) {
	for _, ready := range []bool{true, false} {
		if got := running(&corev1.Pod{Status: atWork(corev1.ContainerStatus{Ready: ready})}); got != ready {
			t.Errorf("one whose container is ready %v: %v", ready, got)
		}
	}
}

// The kubelet's word on resources counts before the spec's, which is only asked for.
func TestEvidence(t *testing.T) {
	half := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec:       corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}}},
		Status: corev1.PodStatus{QOSClass: corev1.PodQOSBurstable, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "side", RestartCount: 1}, {Name: "app", ImageID: "sha256:1", RestartCount: 2, Resources: &corev1.ResourceRequirements{Limits: half}},
		}},
	}
	e := evidence(p, "app")
	if e.Node != "n" || e.ImageID != "sha256:1" || e.Restarts != 3 || e.CPULimit == nil || *e.CPULimit != 0.5 || e.CPURequest != nil || e.QoSClass != "Burstable" {
		t.Errorf("%+v", e)
	}
}

func TestChooseNodes(t *testing.T) {
	const unschedulable, arm = "c9", "d9"
	for name, tc := range map[string]struct{ nodes, named, want string }{
		"the largest":          {"b4 a8", "", "a b"},
		"by name else":         {"b4 a4", "", "a b"},
		"the named":            {"a8 b4", "b", "b a"},
		"one alone":            {"a8", "", "a a"},
		"not ready":            {"a8! b4 " + unschedulable, "", "b b"},
		"another architecture": {arm + " a8 b4", "a", "a b"},
		"no other of it":       {arm + " a8", "a", "a a"},
		"named and gone":       {"a8! b4", "a", `--node "a"`},
		"none":                 {"", "", "no node is ready"},
	} {
		nodes := nodesOf(tc.nodes)
		for i := range nodes {
			nodes[i].Spec.Unschedulable = nodes[i].Name == unschedulable[:1]
			if nodes[i].Name == arm[:1] {
				nodes[i].Status.NodeInfo.Architecture = "arm64"
			}
		}
		p, err := chooseNodes(nodes, &corev1.PodSpec{}, tc.named)
		got := p.target.name + " " + p.load.name
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	one := nodesOf("a8")
	one[0].Labels = map[string]string{corev1.LabelHostname: "host-a"}
	p, err := chooseNodes(one, &corev1.PodSpec{}, "")
	if h := p.target.host; err != nil || h.EffectiveCPUs != 8 || h.Hostname != "a" || p.target.hostname != "host-a" {
		t.Errorf("%+v, %v", p.target, err)
	}
}

// A node whose taint the pods do not tolerate, as that of a control plane, is not chosen: they
// would wait there for good.
func TestUntainted(t *testing.T) {
	taint := func(key, value string, effect corev1.TaintEffect) corev1.Taint {
		return corev1.Taint{Key: key, Value: value, Effect: effect}
	}
	control := taint("node-role.kubernetes.io/control-plane", "", corev1.TaintEffectNoSchedule)
	for name, tc := range map[string]struct {
		taints      []corev1.Taint
		tolerations []corev1.Toleration
		want        bool
	}{
		"none":             {nil, nil, true},
		"a control plane":  {[]corev1.Taint{control}, nil, false},
		"tolerated":        {[]corev1.Taint{control}, []corev1.Toleration{{Key: control.Key, Operator: corev1.TolerationOpExists}}, true},
		"any is tolerated": {[]corev1.Taint{control}, []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, true},
		"by value":         {[]corev1.Taint{taint("pool", "gpu", corev1.TaintEffectNoExecute)}, []corev1.Toleration{{Key: "pool", Value: "gpu"}}, true},
		"another value":    {[]corev1.Taint{taint("pool", "gpu", corev1.TaintEffectNoExecute)}, []corev1.Toleration{{Key: "pool", Value: "web"}}, false},
		"one of two":       {[]corev1.Taint{control, taint("pool", "gpu", corev1.TaintEffectNoSchedule)}, []corev1.Toleration{{Key: "pool", Operator: corev1.TolerationOpExists}}, false},
		"preferred":        {[]corev1.Taint{taint("pool", "gpu", corev1.TaintEffectPreferNoSchedule)}, nil, true},
		"ready just now":   {[]corev1.Taint{taint(corev1.TaintNodeNotReady, "", corev1.TaintEffectNoSchedule)}, nil, true},
	} {
		n := corev1.Node{Spec: corev1.NodeSpec{Taints: tc.taints}}
		if got := len(untainted([]corev1.Node{n}, tc.tolerations)) == 1; got != tc.want {
			t.Errorf("%s: may be chosen %v", name, got)
		}
	}
}

// The slowest pod may be the one that could not be read.
func TestMeasuredOfPods(t *testing.T) {
	pod := agent.Counted{SchedLatencyP99Seconds: new(0.001), Meter: &agent.Metered{Requests: 10, P50Seconds: new(0.01), P99Seconds: new(0.02)}}
	idle := agent.Counted{SchedLatencyP99Seconds: new(0.002), Meter: &agent.Metered{}}
	for name, c := range map[string]struct {
		pods []agent.Counted
		want int // metrics
	}{
		"each":          {[]agent.Counted{pod, idle}, 5},
		"none":          {nil, 0},
		"no Meter":      {[]agent.Counted{pod, {SchedLatencyP99Seconds: new(0.001)}}, 1},
		"nothing known": {[]agent.Counted{pod, {}}, 0},
	} {
		got := map[string]journal.Metric{}
		if measured(got, c.pods); len(got) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Throttling is that of the group whose limit the setting sets; every other limit is reported
// apart.
func TestSum(t *testing.T) {
	one := agent.Counted{Usage: journal.Usage{MeasuredSeconds: 1, CPUSeconds: &journal.CPUSeconds{User: 0.25, System: 0.25}, ThreadsMax: new(5), HostUse: &journal.HostUse{OtherCPUSeconds: new(1.5)}},
		Limits: []journal.OuterLimit{{CPUs: 0.5, Cgroup: journal.Cgroup{Periods: 10, ThrottledPeriods: 4, ThrottledSeconds: 0.1}}, {CPUs: 2}}}
	one.Limits = append(one.Limits, one.Limits[0]) // the pod's, as large
	u := sum([]agent.Counted{one, one}, new(0.5))
	if u.Cgroup == nil || u.Cgroup.Periods != 20 || u.Cgroup.ThrottledPeriods != 8 || len(u.OuterLimits) != 2 || u.CPUSeconds.Total() != 1 || *u.ThreadsMax != 10 || *u.HostUse.OtherCPUSeconds != 1 {
		t.Errorf("%+v, others %v", u, *u.HostUse.OtherCPUSeconds)
	}
	if u.Memory != nil || u.GC != nil {
		t.Errorf("what was not counted: %+v, %+v", u.Memory, u.GC)
	}
	idle := one
	idle.HostUse = &journal.HostUse{OtherCPUSeconds: new(0.49)} // the kernel's ticks are coarser than its processes' time
	if others := *sum([]agent.Counted{idle, idle}, nil).HostUse.OtherCPUSeconds; others != 0 {
		t.Errorf("others used %g s", others)
	}
	seen := one
	seen.Memory, seen.GC = &journal.Memory{PeakRSSBytes: 7}, &journal.GC{Cycles: 3, SpanSeconds: 1}
	if u := sum([]agent.Counted{seen, seen}, nil); u.Memory == nil || u.Memory.PeakRSSBytes != 14 || u.GC == nil || u.GC.Cycles != 6 {
		t.Errorf("of both: %+v, %+v", u.Memory, u.GC)
	}
	if u := sum([]agent.Counted{seen, one}, nil); u.Memory != nil || u.GC != nil {
		t.Errorf("of one alone: %+v, %+v", u.Memory, u.GC)
	}
	unread := one
	unread.Limits = one.Limits[1:2]
	if u := sum([]agent.Counted{one, unread}, new(0.5)); u.Cgroup != nil || len(u.OuterLimits) != 2 {
		t.Errorf("the throttling of one alone: %+v", u.Cgroup)
	}
	waited := one
	waited.RunQueueWaitSeconds = new(0.5)
	if u := sum([]agent.Counted{waited, one}, nil); u.RunQueueWaitSeconds != nil {
		t.Errorf("the wait of one alone: %g s", *u.RunQueueWaitSeconds)
	}
	if u := sum([]agent.Counted{one}, nil); u.Cgroup != nil || len(u.OuterLimits) != 3 {
		t.Errorf("without a quota: %+v", u)
	}
}

func TestProcsIn(t *testing.T) {
	for name, tc := range map[string]struct {
		page string
		want int
	}{
		"served":   {"# TYPE go_sched_gomaxprocs_threads gauge\ngo_sched_gomaxprocs_threads 4\n", 4},
		"untyped":  {"go_sched_gomaxprocs_threads 2\n", 2},
		"absent":   {"go_goroutines 4\n", 0},
		"a half":   {"go_sched_gomaxprocs_threads 1.5\n", 0},
		"of many":  {"go_sched_gomaxprocs_threads{pod=\"a\"} 1\ngo_sched_gomaxprocs_threads{pod=\"b\"} 2\n", 0},
		"no page":  {"<html>", 0},
		"negative": {"go_sched_gomaxprocs_threads -1\n", 0},
	} {
		got, ok := procsIn(strings.NewReader(tc.page))
		if got != tc.want || ok != (tc.want > 0) {
			t.Errorf("%s: %d, %v", name, got, ok)
		}
	}
}

// Where admission undoes what a setting asks for, that is reported; what runs is held to it
// too.
func TestUnlike(t *testing.T) {
	own := 0.5 // the template's
	s := &Target{subject: subject(t, deployment), container: "app", Quota: &own, cut: cut{container: "app", run: "r"}}
	for name, tc := range map[string]struct {
		setting journal.Setting
		change  func(c *corev1.Container)
		want    string // "" for none
	}{
		"as asked":         {journal.Setting{Label: "2", Procs: new(2), QuotaCPUs: &own}, func(*corev1.Container) {}, ""},
		"unset as asked":   {journal.Setting{Label: journal.Default, QuotaCPUs: new(2.0)}, func(*corev1.Container) {}, ""},
		"no limit":         {journal.Setting{Label: "1", Procs: new(1)}, func(*corev1.Container) {}, ""},
		"another value":    {journal.Setting{Label: "2", Procs: new(2), QuotaCPUs: &own}, func(c *corev1.Container) { c.Env[0].Value = "8" }, "GOMAXPROCS is 8 instead of 2"},
		"a value at unset": {journal.Setting{Label: journal.Default, QuotaCPUs: &own}, func(c *corev1.Container) { c.Env = append(c.Env, corev1.EnvVar{Name: procsVariable, Value: "4"}) }, "GOMAXPROCS is 4 instead of default"},
		"a limit at none": {journal.Setting{Label: "1", Procs: new(1)}, func(c *corev1.Container) {
			c.Resources.Limits[corev1.ResourceCPU] = resource.MustParse("700m")
		}, "the CPU limit is 0.7 instead of none"},
	} {
		p := s.subject.pod(s.cut, "copy", s.differenceOf(tc.setting))
		tc.change(&p.Spec.Containers[0])
		if got := strings.Join(s.unlike(p, tc.setting), "; "); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func FuzzProcsIn(f *testing.F) {
	f.Add("# TYPE go_sched_gomaxprocs_threads gauge\ngo_sched_gomaxprocs_threads 4\n")
	f.Add("go_sched_gomaxprocs_threads NaN\n")
	f.Add("go_sched_gomaxprocs_threads 1e300\n")
	f.Add("# TYPE go_sched_gomaxprocs_threads histogram\ngo_sched_gomaxprocs_threads_sum 4\n")
	f.Fuzz(func(t *testing.T, page string) {
		if n, ok := procsIn(strings.NewReader(page)); ok && n < 1 {
			t.Errorf("%q is %d", page, n)
		}
	})
}
