package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/test/must"
)

// api is a server that knows as much of Kubernetes' API as is asked for.
type api struct {
	pods      []core.Pod
	nodes     []core.Node
	configs   []core.ConfigMap
	objects   map[string]any    // by path
	metrics   map[string]string // of exporters, by their pod
	forbidden []string          // beginnings of paths
	expire    int               // how many places in lists are forgotten
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	for _, p := range a.forbidden {
		if strings.HasPrefix(r.URL.Path, p) {
			refuse(w, http.StatusForbidden, meta.StatusReasonForbidden, "User \"reader\" cannot do that")
			return
		}
	}
	if o, ok := a.objects[r.URL.Path]; ok {
		_ = json.NewEncoder(w).Encode(o)
		return
	}
	namespace, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/"), "/")
	switch {
	case strings.HasSuffix(r.URL.Path, "/nodes"):
		list := core.NodeList{Items: a.nodes}
		list.APIVersion, list.Kind = "v1", "NodeList"
		_ = json.NewEncoder(w).Encode(list)
	case strings.HasSuffix(r.URL.Path, "/configmaps"):
		if from, to, next, ok := a.part(w, r, len(a.configs)); ok {
			list := core.ConfigMapList{Items: a.configs[from:to]}
			list.APIVersion, list.Kind, list.Continue = "v1", "ConfigMapList", next
			_ = json.NewEncoder(w).Encode(list)
		}
	case strings.Contains(r.URL.Path, "/proxy/metrics"):
		for name, text := range a.metrics {
			if strings.Contains(r.URL.Path, "/"+name+":9877/") {
				fmt.Fprint(w, text)
				return
			}
		}
		refuse(w, http.StatusServiceUnavailable, meta.StatusReasonServiceUnavailable, "no route to it")
	case strings.HasSuffix(r.URL.Path, "/pods"):
		a.page(w, r, namespace)
	default:
		refuse(w, http.StatusNotFound, meta.StatusReasonNotFound, r.URL.Path)
	}
}

// part is where the next two of a list are, and where it continues; false: its place is forgotten.
func (a *api) part(w http.ResponseWriter, r *http.Request, n int) (from, to int, next string, ok bool) {
	if at := r.URL.Query().Get("continue"); at != "" {
		if a.expire > 0 {
			a.expire--
			refuse(w, http.StatusGone, meta.StatusReasonExpired, "too old")
			return 0, 0, "", false
		}
		fmt.Sscan(at, &from)
	}
	if to = min(from+2, n); to < n {
		next = fmt.Sprint(to)
	}
	return from, to, next, true
}

// page gives two pods at a time.
func (a *api) page(w http.ResponseWriter, r *http.Request, namespace string) {
	q := r.URL.Query()
	var chosen []core.Pod
	for _, p := range a.pods {
		exporter := p.Labels["app.kubernetes.io/name"] == "procfit-exporter"
		if (q.Get("labelSelector") == "" || exporter) && (!strings.Contains(r.URL.Path, "/namespaces/") || p.Namespace == namespace) {
			chosen = append(chosen, p)
		}
	}
	if from, to, next, ok := a.part(w, r, len(chosen)); ok {
		list := core.PodList{Items: chosen[from:to]}
		list.APIVersion, list.Kind, list.Continue = "v1", "PodList", next
		_ = json.NewEncoder(w).Encode(list)
	}
}

func refuse(w http.ResponseWriter, code int, reason meta.StatusReason, message string) {
	w.WriteHeader(code)
	s := meta.Status{Status: meta.StatusFailure, Code: int32(code), Reason: reason, Message: message}
	s.APIVersion, s.Kind = "v1", "Status"
	_ = json.NewEncoder(w).Encode(s)
}

func (a *api) check(t *testing.T, o Options) (*check.Report, error) {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	client := must.Get(cluster.New(&rest.Config{Host: server.URL}, "", use))(t)
	return Run(context.Background(), &Client{client}, o)
}

const id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// started is when the containers did: the exporter has seen them.
var started = meta.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))

// pod is one of a Deployment, with a limit and a GOMAXPROCS of these kinds.
func pod(name, limit string, env ...core.EnvVar) core.Pod {
	controller := true
	p := core.Pod{ObjectMeta: meta.ObjectMeta{Name: name, Namespace: "shop", Labels: map[string]string{"pod-template-hash": "5f6d"},
		OwnerReferences: []meta.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "api-5f6d", Controller: &controller}}}}
	c := core.Container{Name: "api", Image: "example.org/api", Env: env}
	if limit != "" {
		c.Resources.Limits = core.ResourceList{core.ResourceCPU: resource.MustParse(limit), core.ResourceMemory: resource.MustParse("64Mi")}
	}
	p.Spec.NodeName = "one"
	p.Spec.Containers = []core.Container{c}
	p.Status.Phase = core.PodRunning
	p.Status.ContainerStatuses = []core.ContainerStatus{{
		Name: "api", ContainerID: "containerd://" + id, Resources: c.Resources.DeepCopy(),
		State: core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: started}},
	}}
	return p
}

func drawn(divisor string) core.EnvVar {
	return core.EnvVar{Name: "GOMAXPROCS", ValueFrom: &core.EnvVarSource{ResourceFieldRef: &core.ResourceFieldSelector{Resource: "limits.cpu", Divisor: resource.MustParse(divisor)}}}
}

// drawing is a pod that takes variables from the ConfigMap settings, which need not be there where it is
// optional.
func drawing(p core.Pod, optional bool) core.Pod {
	p.Spec.Containers[0].EnvFrom = []core.EnvFromSource{{ConfigMapRef: &core.ConfigMapEnvSource{LocalObjectReference: core.LocalObjectReference{Name: "settings"}, Optional: &optional}}}
	return p
}

// config is a ConfigMap of the pods' namespace.
func config(name string, data map[string]string) core.ConfigMap {
	return core.ConfigMap{ObjectMeta: meta.ObjectMeta{Name: name, Namespace: "shop"}, Data: data}
}

func literal(value string) core.EnvVar { return core.EnvVar{Name: "GOMAXPROCS", Value: value} }

func resized(p core.Pod, limit string) core.Pod {
	at := meta.NewTime(started.Add(time.Hour))
	p.ManagedFields = []meta.ManagedFieldsEntry{{Manager: "kubectl", Subresource: "resize", Time: &at}}
	l := core.ResourceList{core.ResourceCPU: resource.MustParse(limit)}
	p.Spec.Containers[0].Resources.Limits = l
	p.Status.ContainerStatuses[0].Resources.Limits = l
	return p
}

func annotated(p core.Pod, key, value string) core.Pod {
	p.Annotations = map[string]string{key: value}
	return p
}

// exporterPod is one that runs on the node.
func exporterPod() core.Pod {
	p := pod("exporter-x", "")
	p.Namespace, p.Labels, p.OwnerReferences = "procfit", map[string]string{"app.kubernetes.io/name": "procfit-exporter"}, nil
	p.Spec.Containers[0].Name, p.Status.ContainerStatuses[0].Name = "exporter", "exporter"
	p.Status.ContainerStatuses[0].ContainerID = ""
	return p
}

// The exporters that could not be read are listed by their nodes, whichever answered first.
func TestProblemsInOrder(t *testing.T) {
	a := api{nodes: nodes("")}
	for i := range 12 {
		p := exporterPod()
		p.Name, p.Spec.NodeName = fmt.Sprintf("exporter-%02d", i), fmt.Sprintf("node-%02d", 11-i)
		a.pods = append(a.pods, p)
	}
	notes := phrase.Each(must.Get(a.check(t, Options{}))(t).Notes, func(n check.Note) string { return n.Message })
	if len(notes) != len(a.pods) || !slices.IsSorted(notes) || !strings.HasPrefix(notes[0], "not read: node node-00: ") {
		t.Errorf("%q", notes)
	}
}

// metrics are what an exporter says of the pods' container.
func metrics(procs int, setBy string, rules ...string) map[string]string {
	s := "# TYPE procfit_exporter_processes gauge\nprocfit_exporter_processes 1\n# TYPE procfit_exporter_processes_dropped gauge\nprocfit_exporter_processes_dropped 0\n" +
		"# TYPE procfit_exporter_processes_filtered gauge\nprocfit_exporter_processes_filtered 0\n" +
		"# TYPE procfit_exporter_processes_unreadable gauge\nprocfit_exporter_processes_unreadable{reason=\"other\"} 0\nprocfit_exporter_processes_unreadable{reason=\"time\"} 0\n"
	s += fmt.Sprintf("# TYPE procfit_process_info gauge\nprocfit_process_info{cgroup=\"/kubepods/pod1/%s\",go_version=\"go1.24.6\",gomaxprocs=\"%d\",name=\"api\",pid=\"7\",procs_source=\"symbol\",set_by=\"%s\"} 1\n", id, procs, setBy)
	s += "# TYPE procfit_process_findings gauge\n"
	for _, r := range rules {
		s += fmt.Sprintf("procfit_process_findings{name=\"api\",pid=\"7\",rule=%q,severity=\"warning\"} 1\n", r)
	}
	return map[string]string{"exporter-x": s}
}

// said are metrics with other words in them.
func said(m map[string]string, words ...string) map[string]string {
	return map[string]string{"exporter-x": strings.NewReplacer(words...).Replace(m["exporter-x"])}
}

// changed is a pod with something else in its spec.
func changed(p core.Pod, change func(*core.PodSpec)) core.Pod {
	change(&p.Spec)
	return p
}

// unlimited is a pod with another container next to the first, without a CPU limit.
func unlimited(p core.Pod) core.Pod {
	p.Spec.Containers = append(p.Spec.Containers, core.Container{Name: "side", Image: "example.org/side"})
	return p
}

func nodes(runtime string) []core.Node {
	n := core.Node{ObjectMeta: meta.ObjectMeta{Name: "one"}}
	n.Status.Capacity = core.ResourceList{core.ResourceCPU: resource.MustParse("8")}
	n.Status.NodeInfo.ContainerRuntimeVersion = runtime
	return []core.Node{n}
}

// sized are the nodes one and two with their CPUs.
func sized(one, two string) []core.Node {
	all := append(nodes(""), nodes("")...)
	all[1].Name = "two"
	for i, cpus := range []string{one, two} {
		all[i].Status.Capacity = core.ResourceList{core.ResourceCPU: resource.MustParse(cpus)}
	}
	return all
}

// reserving are nodes whose kubelet keeps some CPU time from pods.
func reserving(cpu string) []core.Node {
	n := nodes("")
	left := n[0].Status.Capacity.Cpu().DeepCopy()
	left.Sub(resource.MustParse(cpu))
	n[0].Status.Allocatable = core.ResourceList{core.ResourceCPU: left}
	return n
}

func windows() []core.Node {
	n := nodes("containerd://2.0")
	n[0].Status.NodeInfo.OperatingSystem = "windows"
	return n
}

// controller is the ReplicaSet of the pods, whose template sets these.
func controller(env ...core.EnvVar) map[string]any {
	return map[string]any{"/apis/apps/v1/namespaces/shop/replicasets/api-5f6d": map[string]any{
		"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": map[string]any{"name": "api-5f6d"},
		"spec": map[string]any{"template": map[string]any{"spec": core.PodSpec{Containers: []core.Container{{Name: "api", Image: "x", Env: env}}}}},
	}}
}

func TestRun(t *testing.T) {
	ref := drawn("1")
	const chosen = "2: chosen by the runtime of Go 1.25 or newer from the limit of 2 CPUs; an older one uses 8"
	fromConfig := core.EnvVar{Name: "GOMAXPROCS", ValueFrom: &core.EnvVarSource{ConfigMapKeyRef: &core.ConfigMapKeySelector{LocalObjectReference: core.LocalObjectReference{Name: "settings"}, Key: "procs"}}}
	for name, tc := range map[string]struct {
		api   api
		want  []string // findings
		value string   // of container api
		note  string
	}{
		"three alike are one": {
			api{pods: []core.Pod{pod("a", "1500m", drawn("0")), pod("b", "1500m", drawn("0")), pod("c", "1500m", drawn("0"))}, objects: controller(ref)},
			[]string{"PF004"}, "2: env, limits.cpu of 1500m; 3 pods", "",
		},
		"thousandths": {api{pods: []core.Pod{pod("a", "1500m", drawn("1m"))}, objects: controller(ref)}, []string{"PF021"}, "1500: env, limits.cpu of 1500m", ""},
		"the node's CPUs": {
			api{pods: []core.Pod{pod("a", "", drawn("1"))}, objects: controller(ref)}, []string{"PF017"}, "8: env, limits.cpu, without a limit the CPUs of the node", "",
		},
		"what the node has for pods": {
			api{pods: []core.Pod{pod("a", "", drawn("1")), exporterPod()}, objects: controller(ref), nodes: reserving("1500m"), metrics: metrics(7, "env")},
			[]string{"PF002", "PF017"}, "7: read by the exporter; the spec says the same: env, limits.cpu, without a limit the CPUs of the node", "",
		},
		"nodes may not be read": {
			api{pods: []core.Pod{pod("a", "", drawn("1"))}, objects: controller(ref), forbidden: []string{"/api/v1/nodes"}},
			[]string{"PF017"}, "all CPUs of the node: env, limits.cpu, without a limit the CPUs of the node", "no permission to list nodes",
		},
		"from a ConfigMap": {
			api{pods: []core.Pod{pod("a", "2", fromConfig)}, objects: controller(ref),
				configs: []core.ConfigMap{{ObjectMeta: meta.ObjectMeta{Name: "settings", Namespace: "other"}, Data: map[string]string{"procs": "4"}}, config("settings", map[string]string{"procs": "9"})}},
			[]string{"PF001"}, "9: env, ConfigMap settings", "",
		},
		"ConfigMaps whose list is forgotten once": {
			api{pods: []core.Pod{pod("a", "2", fromConfig)}, objects: controller(ref), configs: []core.ConfigMap{config("settings", map[string]string{"procs": "9"}), config("b", nil), config("c", nil)}, expire: 1},
			[]string{"PF001"}, "9: env, ConfigMap settings", "",
		},
		"an empty ConfigMap":          {api{pods: []core.Pod{drawing(pod("a", "2"), false)}, configs: []core.ConfigMap{config("settings", nil)}}, nil, chosen, ""},
		"a ConfigMap of a long entry": {api{pods: []core.Pod{drawing(pod("a", "2"), false)}, configs: []core.ConfigMap{config("settings", map[string]string{"ca.crt": strings.Repeat("x", 2*mostConfig)})}}, nil, chosen, ""},
		"an optional ConfigMap":       {api{pods: []core.Pod{drawing(pod("a", "2"), true)}}, nil, chosen, ""},
		"a ConfigMap that is gone":    {api{pods: []core.Pod{drawing(pod("a", "2"), false)}}, nil, chosen + ", unless ConfigMap settings sets GOMAXPROCS (ConfigMap settings is not among the files)", ""},
		"resized, and nobody looks": {
			api{pods: []core.Pod{resized(pod("a", "1", drawn("1")), "3")}, objects: controller(ref)},
			[]string{"PF050"}, "3: env, limits.cpu of 3, the value after a restart", "",
		},
		"resized, seen": {
			api{pods: []core.Pod{resized(pod("a", "1", drawn("1")), "3"), exporterPod()}, objects: controller(ref), metrics: metrics(1, "env")},
			[]string{"PF050"}, "1: read by the exporter; by its spec it should be 3: env, limits.cpu of 3", "",
		},
		"resized and restarted": {
			api{pods: []core.Pod{resized(pod("a", "1", drawn("1")), "3"), exporterPod()}, objects: controller(ref), metrics: metrics(3, "env")},
			nil, "3: read by the exporter; the spec says the same: env, limits.cpu of 3", "",
		},
		"resized, and the exporter only guesses": {
			api{pods: []core.Pod{resized(pod("a", "1", drawn("1")), "3"), exporterPod()}, objects: controller(ref), metrics: said(metrics(3, "env"), "symbol", "inferred")},
			[]string{"PF050"}, "3: env, limits.cpu of 3, the value after a restart", "",
		},
		"set by the command": {
			api{pods: []core.Pod{changed(pod("a", "2"), func(s *core.PodSpec) { s.Containers[0].Command = []string{"sh", "-c", "GOMAXPROCS=8 exec ./app"} })}},
			[]string{"PF001"}, "8: command", "",
		},
		"a script is started": {
			api{pods: []core.Pod{changed(pod("a", "2"), func(s *core.PodSpec) {
				s.Containers[0].Command, s.Containers[0].Args = []string{"/sbin/tini"}, []string{"--", "/entrypoint.sh"}
			})}},
			nil, "2: chosen by the runtime of Go 1.25 or newer from the limit of 2 CPUs; an older one uses 8, unless the script entrypoint.sh, which is not read, sets another", "",
		},
		"in a sandbox": {
			api{pods: []core.Pod{changed(pod("a", "2"), func(s *core.PodSpec) { s.RuntimeClassName = new("gvisor") })}},
			nil, "2: chosen by the runtime of Go 1.25 or newer from the limit of 2 CPUs; an older one uses 8, unless the sandbox of the runtime class gvisor has another number of CPUs", "",
		},
		"on Windows": {api{pods: []core.Pod{pod("a", "2", literal("2"))}, objects: controller(literal("2")), nodes: windows()}, nil, "2: env", ""},
		"misspelt": {
			api{pods: []core.Pod{pod("a", "2", core.EnvVar{Name: "gomaxprocs", Value: "2"})}},
			[]string{"PF003"}, "2: chosen by the runtime of Go 1.25 or newer from the limit of 2 CPUs; an older one uses 8", "",
		},
		"answered by an annotation": {
			api{pods: []core.Pod{annotated(resized(pod("a", "1", drawn("1")), "3"), "procfit/ignore", "PF050 it is restarted tonight")}, objects: controller(ref)},
			nil, "3: env, limits.cpu of 3, the value after a restart", "",
		},
		"another value than the expected one": {
			api{pods: []core.Pod{annotated(pod("a", "2", drawn("1")), "procfit.github.io/expected", `{"schema":"procfit.expected/v1","procs":1,"limit_cpus":2,"cpus":8,"measured":"2026-01-31"}`)}, objects: controller(ref)},
			[]string{"PF060"}, "2: env, limits.cpu of 2", "",
		},
		"the exporter has seen that the expected value is outdated": {
			api{pods: []core.Pod{pod("a", "2", drawn("1")), exporterPod()}, objects: controller(ref), metrics: metrics(2, "env", "PF061")},
			[]string{"PF061"}, "2: read by the exporter; the spec says the same: env, limits.cpu of 2", "",
		},
		"put in by a webhook": {api{pods: []core.Pod{pod("a", "2", literal("2"))}, objects: controller()}, []string{"PF004", "PF051"}, "2: env", ""},
		"its controller may not be read": {
			api{pods: []core.Pod{pod("a", "2", drawn("1"))}, forbidden: []string{"/apis/apps"}}, []string{"PF004"}, "2: env, limits.cpu of 2", "no permission to read the controllers of pods",
		},
		"put in by the container runtime": {
			api{pods: []core.Pod{pod("a", "2"), exporterPod()}, nodes: nodes("cri-o://1.36.0"), metrics: metrics(4, "env")},
			[]string{"PF050"}, "4: read by the exporter; by its spec it should be 8: chosen by the runtime of go1.24.6", "",
		},
		"set by the program": {
			api{pods: []core.Pod{pod("a", "2"), exporterPod()}, metrics: metrics(2, "code")}, nil, "2: read by the exporter; by its spec alone it would be 8: chosen by the runtime of go1.24.6", "",
		},
		"set by the program to what its runtime would choose": {
			api{pods: []core.Pod{pod("a", "2"), exporterPod()}, metrics: metrics(8, "code")}, nil, "8: read by the exporter; the spec says the same: chosen by the runtime of go1.24.6", "",
		},
		"chosen by a runtime that ignores the limit": {
			api{pods: []core.Pod{pod("a", "2"), exporterPod()}, metrics: metrics(8, "auto")}, []string{"PF006"}, "8: read by the exporter; the spec says the same: chosen by the runtime of go1.24.6", "",
		},
		"set by the program, against the variable": {
			api{pods: []core.Pod{pod("a", "2", literal("4")), exporterPod()}, objects: controller(literal("4")), metrics: metrics(2, "code")},
			[]string{"PF050"}, "2: read by the exporter; by its spec it should be 4: env", "",
		},
		"fewer CPUs than the node has": {
			api{pods: []core.Pod{pod("a", ""), exporterPod()}, metrics: metrics(6, "auto")}, nil, "6: read by the exporter; by its spec alone it would be 8: chosen by the runtime of go1.24.6", "",
		},
		"fewer CPUs than the node has, by a limit that the runtime ignores": {
			api{pods: []core.Pod{pod("a", "2"), exporterPod()}, metrics: metrics(2, "auto")}, nil, "2: read by the exporter; by its spec alone it would be 8: chosen by the runtime of go1.24.6", "",
		},
		"fewer CPUs than the node has, and the exporter reports that they are more than the limit": {
			api{pods: []core.Pod{pod("a", "2"), exporterPod()}, metrics: metrics(6, "auto", "PF006")}, []string{"PF006"}, "6: read by the exporter; by its spec alone it would be 8: chosen by the runtime of go1.24.6", "",
		},
		"set by the program, and the exporter reports that it is more than the limit": {
			api{pods: []core.Pod{pod("a", "2"), exporterPod()}, metrics: metrics(16, "code", "PF001")}, []string{"PF001"}, "16: read by the exporter; by its spec alone it would be 8: chosen by the runtime of go1.24.6", "",
		},
		"set by the program, against the variable, and the exporter reports the cause": {
			api{pods: []core.Pod{pod("a", "2", literal("4")), exporterPod()}, objects: controller(literal("4")), metrics: metrics(8, "code", "PF005", "PF001")},
			[]string{"PF005", "PF050"}, "8: read by the exporter; by its spec it should be 4: env", "",
		},
		"fewer CPUs than the node has, and more than the request": {
			api{pods: []core.Pod{requesting("a", "1"), exporterPod()}, metrics: metrics(6, "auto")}, []string{"PF018"}, "6: read by the exporter; by its spec alone it would be 8: chosen by the runtime of go1.24.6", "",
		},
		"fewer CPUs than the node has, and than expected": {
			api{pods: []core.Pod{annotated(pod("a", ""), "procfit.github.io/expected", `{"schema":"procfit.expected/v1","procs":8,"limit_cpus":null,"cpus":8,"measured":"2026-01-31"}`), exporterPod()}, metrics: metrics(6, "auto")},
			[]string{"PF060"}, "6: read by the exporter; by its spec alone it would be 8: chosen by the runtime of go1.24.6", "",
		},
		"more CPUs than the node has": {
			api{pods: []core.Pod{pod("a", ""), exporterPod()}, metrics: metrics(9, "auto")}, []string{"PF050"}, "9: read by the exporter; by its spec it should be 8: chosen by the runtime of go1.24.6", "",
		},
		"perhaps by the container runtime":           {api{pods: []core.Pod{unlimited(pod("a", "2"))}, nodes: nodes("cri-o://1.36.0")}, nil, chosen, "1 pod on nodes with CRI-O, whose min_injected_gomaxprocs"},
		"not by the container runtime under a limit": {api{pods: []core.Pod{pod("a", "2")}, nodes: nodes("cri-o://1.36.0")}, nil, chosen, ""},
		"not by the container runtime next to a value": {
			api{pods: []core.Pod{pod("a", "", drawn("1"))}, objects: controller(ref), nodes: nodes("cri-o://1.36.0")}, []string{"PF017"}, "8: env, limits.cpu, without a limit the CPUs of the node", "",
		},
		"seen by the exporter": {
			api{pods: []core.Pod{pod("a", "8"), exporterPod()}, nodes: nodes("cri-o://1.36.0"), metrics: metrics(8, "auto")}, nil, "8: read by the exporter; the spec says the same: chosen by the runtime of go1.24.6", "",
		},
		"perhaps by the container runtime, where the exporter does not see it": {
			api{pods: []core.Pod{changed(unlimited(pod("a", "2")), func(s *core.PodSpec) { s.RuntimeClassName = new("kata") }), exporterPod()}, nodes: nodes("cri-o://1.36.0"), metrics: said(metrics(2, "auto"), id, strings.Repeat("a", len(id)))},
			nil, chosen + ", unless the sandbox of the runtime class kata has another number of CPUs", "1 pod on nodes with CRI-O",
		},
		"rules of what runs": {
			api{pods: []core.Pod{pod("a", "2", drawn("1")), exporterPod()}, objects: controller(ref), metrics: metrics(2, "env", "PF012")},
			[]string{"PF012"}, "2: read by the exporter; the spec says the same: env, limits.cpu of 2", "",
		},
		"an exporter that does not answer": {
			api{pods: []core.Pod{pod("a", "2", drawn("1")), exporterPod()}, objects: controller(ref)}, []string{"PF004"}, "2: env, limits.cpu of 2", "not read: node one",
		},
		"a list that is forgotten once": {
			api{pods: []core.Pod{pod("a", "2", drawn("1")), pod("b", "2", drawn("1")), pod("c", "2", drawn("1"))}, objects: controller(ref), expire: 1},
			[]string{"PF004"}, "2: env, limits.cpu of 2; 3 pods", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.api.nodes == nil {
				tc.api.nodes = nodes("containerd://2.0")
			}
			r := must.Get(tc.api.check(t, Options{}))(t)
			var got []string
			for _, f := range r.Findings {
				got = append(got, f.Rule)
				if f.Path != "shop" || f.Object != "Deployment/api" || f.Line != 0 || f.Message == "" || f.Fix == "" {
					t.Errorf("a finding in the wrong place, or without words: %+v", f)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, tc.want) {
				t.Errorf("found %v, want %v: %+v", got, tc.want, r.Findings)
			}
			value := ""
			for _, v := range r.Values {
				if v.Container == "api" {
					value += v.Text + ": " + v.Source
				}
			}
			if value != tc.value {
				t.Errorf("value %q, want %q", value, tc.value)
			}
			if notes := fmt.Sprint(r.Notes); !strings.Contains(notes, tc.note) || (tc.note == "") != (len(r.Notes) == 0) {
				t.Errorf("notes %q, want %q", notes, tc.note)
			}
			if r.Noun != "pod" || r.Files != len(tc.api.pods) || len(r.Problems) > 0 {
				t.Errorf("%d %ss, problems %v", r.Files, r.Noun, r.Problems)
			}
		})
	}
}

// TestDiffers: the cause of another value than that of the spec, and what helps against it.
func TestDiffers(t *testing.T) {
	settings := func(procs string) []core.ConfigMap {
		return []core.ConfigMap{config("settings", map[string]string{procs: "4"})}
	}
	byKey := core.EnvVar{Name: "GOMAXPROCS", ValueFrom: &core.EnvVarSource{ConfigMapKeyRef: &core.ConfigMapKeySelector{LocalObjectReference: core.LocalObjectReference{Name: "settings"}, Key: "procs"}}}
	for name, tc := range map[string]struct {
		api       api
		setBy     string
		says, fix string
	}{
		"an edited ConfigMap":                   {api{pods: []core.Pod{drawing(pod("a", "2"), false)}, configs: settings("GOMAXPROCS")}, "env", "GOMAXPROCS comes from ConfigMap settings, which was read when its container started", "restart it"},
		"an edited ConfigMap, without a value":  {api{pods: []core.Pod{drawing(pod("a", "2"), false)}, configs: settings("GOMAXPROCS")}, "auto", "GOMAXPROCS comes from ConfigMap settings, which was read when its container started", "restart it"},
		"an edited key":                         {api{pods: []core.Pod{pod("a", "2", byKey)}, objects: controller(byKey), configs: settings("procs")}, "env", "GOMAXPROCS comes from ConfigMap settings, which was read when its container started", "restart it"},
		"an entry that a ConfigMap has no more": {api{pods: []core.Pod{drawing(pod("a", "2"), false)}, configs: settings("other")}, "env", "(min_injected_gomaxprocs of CRI-O), or a ConfigMap of envFrom set it", "restart it; if it still has GOMAXPROCS, check the configuration of the image"},
		"the image":                             {api{pods: []core.Pod{pod("a", "2")}}, "env", "the image sets it, or the container runtime adds it (min_injected_gomaxprocs of CRI-O)", "check the configuration of the image"},
		"the program":                           {api{pods: []core.Pod{drawing(pod("a", "2"), false)}, configs: settings("GOMAXPROCS")}, "code", "the program sets it itself", "remove the call, or the variable"},
		"procfit set":                           {api{pods: []core.Pod{drawing(pod("a", "2"), false)}, configs: settings("GOMAXPROCS")}, "outside", "by its spec it should be 4$", "find out why on its node"},
		"what nobody knows":                     {api{pods: []core.Pod{drawing(pod("a", "2"), false)}, configs: settings("GOMAXPROCS")}, "unknown", "by its spec it should be 4$", "find out why on its node"},
	} {
		tc.api.pods, tc.api.nodes, tc.api.metrics = append(tc.api.pods, exporterPod()), nodes(""), metrics(1, tc.setBy)
		r := must.Get(tc.api.check(t, Options{}))(t)
		if len(r.Findings) != 1 || r.Findings[0].Rule != "PF050" || !strings.Contains(r.Findings[0].Message+"$", tc.says) || !strings.HasPrefix(strings.TrimPrefix(r.Findings[0].Fix, "set it in one place only: "), tc.fix) {
			t.Errorf("%s: %+v", name, r.Findings)
		}
	}
}

// TestRollout: a pod of an earlier template is not one that something changed.
func TestRollout(t *testing.T) {
	of := func(kind, resource string, metadata, status map[string]any) map[string]any {
		return map[string]any{"/apis/apps/v1/namespaces/shop/" + resource + "/api": map[string]any{
			"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "status": status,
			"spec": map[string]any{"template": map[string]any{"spec": core.PodSpec{Containers: []core.Container{{Name: "api", Image: "x"}}}}},
		}}
	}
	set := func(generation int, revision string) map[string]any {
		return of("StatefulSet", "statefulsets", map[string]any{"name": "api", "generation": generation}, map[string]any{"observedGeneration": 2, "updateRevision": revision})
	}
	daemons := of("DaemonSet", "daemonsets", map[string]any{"name": "api", "annotations": map[string]string{"deprecated.daemonset.template.generation": "2"}}, nil)
	owned := func(name, kind, key, value string) core.Pod {
		p := pod(name, "2", literal("2"))
		p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name, p.Labels = kind, "api", map[string]string{key: value}
		return p
	}
	const revision, generation = "controller-revision-hash", "pod-template-generation"
	for name, tc := range map[string]struct {
		pods    []core.Pod
		objects map[string]any
		want    bool
	}{
		"of the template":   {[]core.Pod{owned("a", "StatefulSet", revision, "api-2")}, set(2, "api-2"), true},
		"of the one before": {[]core.Pod{owned("a", "StatefulSet", revision, "api-1")}, set(2, "api-2"), false},
		"of both":           {[]core.Pod{owned("a", "StatefulSet", revision, "api-1"), owned("b", "StatefulSet", revision, "api-2")}, set(2, "api-2"), true},
		"of one that the controller has not seen": {[]core.Pod{owned("a", "StatefulSet", revision, "api-2")}, set(3, "api-2"), false},
		"a DaemonSet":                   {[]core.Pod{owned("a", "DaemonSet", generation, "2")}, daemons, true},
		"a DaemonSet of the one before": {[]core.Pod{owned("a", "DaemonSet", generation, "1")}, daemons, false},
	} {
		a := api{pods: tc.pods, nodes: nodes(""), objects: tc.objects}
		r := must.Get(a.check(t, Options{}))(t)
		if got := slices.ContainsFunc(r.Findings, func(f check.Finding) bool { return f.Rule == "PF051" }); got != tc.want || len(r.Values) != 1 {
			t.Errorf("%s: injected %v, want %v: %+v", name, got, tc.want, r.Findings)
		}
	}
}

// TestNotGo: a container that the exporter does not name is no Go program only if it names all of
// the node.
func TestNotGo(t *testing.T) {
	const in = "/kubepods/pod1/" + id
	for name, tc := range map[string]struct {
		words  []string // to change in its metrics, and what to
		judged bool
	}{
		"all are named":                   {nil, false},
		"too many":                        {[]string{"processes_dropped 0", "processes_dropped 1"}, true},
		"others were asked for":           {[]string{"processes_filtered 0", "processes_filtered 1"}, true},
		"one is not readable":             {[]string{"\"other\"} 0", "\"other\"} 1"}, true},
		"there was no time":               {[]string{"\"time\"} 0", "\"time\"} 1"}, true},
		"a count of no type":              {[]string{"# TYPE procfit_exporter_processes_dropped gauge\n", ""}, true},
		"no scan yet":                     {[]string{"procfit_exporter_processes 1\n", ""}, true},
		"nothing of procfit":              {[]string{"procfit_", "other_"}, true},
		"one in a container without ID":   {[]string{in, in + "/inner"}, true},
		"one whose cgroup is not known":   {[]string{in, ""}, true},
		"one of the node":                 {[]string{in, "/system.slice/kubelet.service"}, false},
		"one in the scope of CRI-O, crun": {[]string{in, "/kubepods.slice/crio-" + id + ".scope/container"}, false},
	} {
		if judged := judgedUnseen(t, func(*core.Pod) {}, tc.words...); judged != tc.judged {
			t.Errorf("%s: judged %v, want %v", name, judged, tc.judged)
		}
	}
	for name, tc := range map[string]struct {
		change func(*core.Pod)
		judged bool
	}{
		"in a virtual machine":       {func(p *core.Pod) { p.Spec.RuntimeClassName = new("kata") }, true},
		"of a class of GPUs":         {func(p *core.Pod) { p.Spec.RuntimeClassName = new("nvidia") }, false},
		"of the runtime's own class": {func(p *core.Pod) { p.Spec.RuntimeClassName = new("") }, false},
		"started afterwards": {func(p *core.Pod) {
			p.Status.ContainerStatuses[0].State.Running.StartedAt = meta.NewTime(time.Now().Add(time.Minute))
		}, true},
		"started just before": {func(p *core.Pod) { p.Status.ContainerStatuses[0].State.Running.StartedAt = meta.Now() }, true},
		"not started":         {func(p *core.Pod) { p.Status.ContainerStatuses[0].State = core.ContainerState{} }, true},
	} {
		if judged := judgedUnseen(t, tc.change); judged != tc.judged {
			t.Errorf("%s: judged %v, want %v", name, judged, tc.judged)
		}
	}
}

// judgedUnseen reports whether a pod is judged whose container the exporter does not name.
func judgedUnseen(t *testing.T, change func(*core.Pod), words ...string) bool {
	t.Helper()
	other := pod("a", "2")
	other.Status.ContainerStatuses[0].ContainerID = "containerd://" + strings.Repeat("a", len(id))
	change(&other)
	a := api{pods: []core.Pod{other, exporterPod()}, nodes: nodes("containerd://2.0"), metrics: said(metrics(2, "auto"), words...)}
	r := must.Get(a.check(t, Options{Program: check.Program{GoVersion: "go1.24.6"}}))(t)
	return slices.ContainsFunc(r.Findings, func(f check.Finding) bool { return f.Path == "shop" && f.Rule == "PF006" })
}

// TestSeverities: what the exporter reports has the severity there, of several processes the worst.
func TestSeverities(t *testing.T) {
	for want, words := range map[rule.Severity][]string{
		rule.Warning: nil,
		rule.Info:    {"severity=\"warning\"", "severity=\"info\""},
		rule.Error:   {"procfit_process_findings{", "procfit_process_findings{name=\"api\",pid=\"7\",rule=\"PF012\",severity=\"error\"} 1\nprocfit_process_findings{"},
	} {
		a := api{pods: []core.Pod{pod("a", "2", drawn("1")), exporterPod()}, objects: controller(drawn("1")), nodes: nodes(""), metrics: said(metrics(2, "env", "PF012"), words...)}
		r := must.Get(a.check(t, Options{}))(t)
		if len(r.Findings) != 1 || r.Findings[0].Rule != "PF012" || r.Findings[0].Severity != want {
			t.Errorf("want PF012 %s: %+v", want, r.Findings)
		}
	}
}

// TestIgnoreOfSomeNodes: an annotation that is needed on nodes of one size is not unused on another.
func TestIgnoreOfSomeNodes(t *testing.T) {
	one := annotated(pod("a", "", literal("4")), "procfit/ignore", "PF002 measured")
	elsewhere := annotated(pod("b", "", literal("4")), "procfit/ignore", "PF002 measured")
	elsewhere.Spec.NodeName = "two"
	a := api{pods: []core.Pod{one, elsewhere}, nodes: sized("64", "4"), objects: controller(literal("4"))}
	r := must.Get(a.check(t, Options{}))(t)
	if len(r.Ignored) != 1 || slices.ContainsFunc(r.Findings, func(f check.Finding) bool { return f.Rule == "PF041" || f.Rule == "PF002" }) {
		t.Errorf("ignored %+v, found %+v", r.Ignored, r.Findings)
	}
}

// requesting is a pod with a request and no limit.
func requesting(name, request string, env ...core.EnvVar) core.Pod {
	p := pod(name, "", env...)
	p.Spec.Containers[0].Resources.Requests = core.ResourceList{core.ResourceCPU: resource.MustParse(request)}
	p.Status.ContainerStatuses[0].Resources = p.Spec.Containers[0].Resources.DeepCopy()
	return p
}

// TestScalers: autoscalers of a cluster are judged by the pods that run, once however many
// sizes their nodes have.
func TestScalers(t *testing.T) {
	list := func(items ...any) map[string]any { return map[string]any{"metadata": map[string]any{}, "items": items} }
	named := func(namespace string, spec map[string]any) any {
		return map[string]any{"metadata": map[string]any{"name": "tall", "namespace": namespace}, "spec": spec}
	}
	deployment := map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"}
	hpa := map[string]any{"scaleTargetRef": deployment, "maxReplicas": 9, "metrics": []any{
		map[string]any{"type": "Resource", "resource": map[string]any{"name": "cpu", "target": map[string]any{"type": "Utilization", "averageUtilization": 80}}}}}
	vpa := map[string]any{"targetRef": deployment}
	one := requesting("a", "1800m", core.EnvVar{Name: "GOMAXPROCS", Value: "1"})
	elsewhere := requesting("b", "1800m", core.EnvVar{Name: "GOMAXPROCS", Value: "1"})
	elsewhere.Spec.NodeName = "two"
	sizes := sized("8", "64")
	newer := changed(requesting("c", "1800m", literal("1")), func(s *core.PodSpec) { s.Containers[0].Image = "example.org/api:2" })
	able := requesting("d", "1800m", literal("2"))
	ableElsewhere := able
	ableElsewhere.Spec.NodeName = "two"
	unseen := requesting("e", "1800m", literal("1"))
	unseen.Status.ContainerStatuses[0].ContainerID = "containerd://" + strings.Repeat("a", len(id))
	rollout := requesting("a", "1800m", literal("1"))
	rollout.Labels = map[string]string{"rollouts-pod-template-hash": "5f6d"}
	dc := requesting("a", "1800m", literal("1"))
	dc.Annotations = map[string]string{"openshift.io/deployment-config.name": "api"}
	dc.OwnerReferences[0].Kind, dc.OwnerReferences[0].Name = "ReplicationController", "api-3"
	scaling := func(kind string) map[string]any {
		spec := maps.Clone(hpa)
		spec["scaleTargetRef"] = map[string]any{"kind": kind, "name": "api"}
		return list(named("shop", spec))
	}
	sidecar := requesting("a", "1800m", core.EnvVar{Name: "GOMAXPROCS", Value: "1"})
	always := core.ContainerRestartPolicyAlways
	sidecar.Spec.InitContainers = []core.Container{{Name: "proxy", Image: "p", RestartPolicy: &always}}
	const hpas, vpas = "/apis/autoscaling/v2/horizontalpodautoscalers", "/apis/autoscaling.k8s.io/v1/verticalpodautoscalers"
	for name, tc := range map[string]struct {
		api  api
		want string
		note string
	}{
		"never reached":        {api{pods: []core.Pod{one}, objects: map[string]any{hpas: list(named("shop", hpa))}}, "PF042 shop HorizontalPodAutoscaler/tall: HorizontalPodAutoscaler/tall", ""},
		"of another namespace": {api{pods: []core.Pod{one}, objects: map[string]any{hpas: list(named("other", hpa))}}, "", ""},
		"two sizes of nodes":   {api{pods: []core.Pod{one, elsewhere}, nodes: sizes, objects: map[string]any{hpas: list(named("shop", hpa))}}, "PF042 shop HorizontalPodAutoscaler/tall: HorizontalPodAutoscaler/tall", ""},
		"of two images":        {api{pods: []core.Pod{one, newer}, objects: map[string]any{hpas: list(named("shop", hpa))}}, "PF042 shop HorizontalPodAutoscaler/tall: HorizontalPodAutoscaler/tall", ""},
		"one can reach it":     {api{pods: []core.Pod{one, able}, objects: map[string]any{hpas: list(named("shop", hpa))}}, "", ""},
		"one elsewhere can":    {api{pods: []core.Pod{one, ableElsewhere}, nodes: sizes, objects: map[string]any{hpas: list(named("shop", hpa))}}, "", ""},
		"one of two is seen": {
			api{pods: []core.Pod{one, unseen, exporterPod()}, objects: map[string]any{hpas: list(named("shop", hpa))}, metrics: metrics(1, "env", "PF011")},
			"PF042 shop HorizontalPodAutoscaler/tall: HorizontalPodAutoscaler/tall", "",
		},
		"a fixed value of two images": {api{pods: []core.Pod{one, newer}, objects: map[string]any{vpas: list(named("shop", vpa))}}, "PF043 shop Deployment/api: GOMAXPROCS=1 is fixed", ""},
		"with a sidecar":              {api{pods: []core.Pod{sidecar}, objects: map[string]any{hpas: list(named("shop", hpa))}}, "", ""},
		"a fixed value":               {api{pods: []core.Pod{one}, objects: map[string]any{vpas: list(named("shop", vpa))}}, "PF043 shop Deployment/api: GOMAXPROCS=1 is fixed", ""},
		"of Argo's Rollout":           {api{pods: []core.Pod{rollout}, objects: map[string]any{hpas: scaling("Rollout")}}, "PF042 shop HorizontalPodAutoscaler/tall: Rollout/api", ""},
		"of a DeploymentConfig":       {api{pods: []core.Pod{dc}, objects: map[string]any{hpas: scaling("DeploymentConfig")}}, "PF042 shop HorizontalPodAutoscaler/tall: HorizontalPodAutoscaler/tall: DeploymentConfig/api", ""},
		"no permission":               {api{pods: []core.Pod{one}, forbidden: []string{hpas}}, "", "no permission to list horizontalpodautoscalers"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.api.nodes == nil {
				tc.api.nodes = nodes("")
			}
			r := must.Get(tc.api.check(t, Options{}))(t)
			var found []string
			for _, f := range r.Findings {
				t.Log(f.Rule, f.Path, f.Object, f.Message)
				if f.Rule == "PF042" || f.Rule == "PF043" {
					found = append(found, fmt.Sprintf("%s %s %s: %s", f.Rule, f.Path, f.Object, f.Message))
				}
			}
			found = slices.Compact(found)
			if got := strings.Join(found, "; "); len(found) > 1 || (tc.want == "") != (got == "") || !strings.HasPrefix(strings.ReplaceAll(got, "HorizontalPodAutoscaler/tall: Deployment", "HorizontalPodAutoscaler/tall: HorizontalPodAutoscaler/tall: Deployment"), tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
			if notes := fmt.Sprint(r.Notes); !strings.Contains(notes, tc.note) {
				t.Errorf("notes %s, want %q", notes, tc.note)
			}
		})
	}
}

// Where no pods may be read there is nothing to check, and that is reported with the way
// out; of a namespace alone only its pods are asked for.
func TestAccess(t *testing.T) {
	a := api{nodes: nodes(""), forbidden: []string{"/api/v1/pods"}, pods: []core.Pod{pod("a", "2", drawn("1"))}, objects: controller(drawn("1"))}
	_, err := a.check(t, Options{})
	if err == nil || !strings.Contains(err.Error(), "list the pods of all namespaces: not allowed") || !strings.Contains(err.Error(), "procfit-check") {
		t.Errorf("the error is %v", err)
	}
	r, err := a.check(t, Options{Namespace: "shop"})
	if err != nil || len(r.Values) != 1 || len(r.Notes) != 1 {
		t.Errorf("%v: %+v", err, r)
	}
}

// comments is an answer of comments that has no end.
type comments struct{}

func (comments) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '#'
	}
	b[len(b)-1] = '\n'
	return len(b), nil
}

// A pod with the exporter's label may answer with anything.
func TestEndlessMetrics(t *testing.T) {
	if _, _, err := readMetrics(comments{}); err == nil || err.Error() != "no metrics: the answer has more than 64 MiB" {
		t.Error(err)
	}
}

func FuzzParseMetrics(f *testing.F) {
	f.Add(metrics(4, "env", "PF001")["exporter-x"])
	f.Add("procfit_process_info{cgroup=\"/" + id + "\"} 1\n")
	f.Add("procfit_process_info 1\nprocfit_process_findings 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		programs, _, err := readMetrics(strings.NewReader(text))
		for name, p := range programs {
			if err != nil || p == nil || len(name) != len(id) || p.GoVersion != "" && !strings.HasPrefix(p.GoVersion, "go") {
				t.Errorf("%v: %q is %+v", err, name, p)
			}
		}
	})
}
