package kube

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  selector: {matchLabels: {app: api}, matchExpressions: [{key: track, operator: DoesNotExist}, {key: stage, operator: NotIn, values: [test]}]}
  template:
    metadata:
      labels: {app: api, tier: web, pod-template-hash: abc, team: shop}
    spec:
      restartPolicy: Always
      nodeName: n9
      priority: 7
      priorityClassName: high
      serviceAccountName: shop
      affinity:
        podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname}]}
      volumes:
      - {name: kube-api-access-x, projected: {sources: [{configMap: {name: kube-root-ca.crt}}]}}
      - {name: rules, projected: {sources: [{configMap: {name: rules}}]}}
      - {name: tls, secret: {secretName: tls}}
      - {name: uploads, nfs: {server: files.shop, path: /uploads}}
      containers:
      - name: app
        image: shop/api:v1
        ports: [{containerPort: 8080}]
        envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: more}}]
        env:
        - {name: GOMAXPROCS, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
        - {name: MODE, value: fast}
        - {name: VERBOSITY, valueFrom: {configMapKeyRef: {name: levels, key: level}}}
        - {name: DATABASE_URL, value: "postgres://shop:secret@db:5432/shop"}
        - {name: QUEUE_HOST, valueFrom: {secretKeyRef: {name: queue, key: host}}}
        - {name: LISTEN, value: ":8080"}
        resources: {limits: {cpu: 500m, memory: 64Mi}, requests: {cpu: 250m}}
        volumeMounts: [{name: kube-api-access-x, mountPath: /var/run/x}, {name: tls, mountPath: /tls}]
      - {name: side, image: side:v1}
---
apiVersion: v1
kind: Service
metadata: {name: api}
`

func subject(t *testing.T, manifest string) Subject {
	t.Helper()
	return must.Get(parseManifest([]byte(manifest)))(t)
}

func env(p *corev1.Pod) map[string]string {
	m := map[string]string{}
	for _, e := range p.Spec.Containers[0].Env {
		m[e.Name] = e.Value
		if e.ValueFrom != nil {
			m[e.Name] = "from elsewhere"
		}
	}
	return m
}

// A copy differs from its template only in what is listed here.
func TestCopy(t *testing.T) {
	s := subject(t, deployment)
	before := s.sum()
	c := cut{container: "app", node: "n1", run: "r", deadline: 90 * time.Second, owner: &metav1.OwnerReference{Name: "procfit-r"}}
	var services []corev1.Service
	for _, selector := range []map[string]string{{"tier": "web"}, {"team": "other"}, {"tier": "web", "zone": "a"}, {}} {
		services = append(services, corev1.Service{Spec: corev1.ServiceSpec{Selector: selector}})
	}
	c.drop = must.Get(s.selectedBy(services))(t)
	p := s.pod(c, "copy", difference{procs: new(2)})
	if got := env(p); got["GOMAXPROCS"] != "2" || got["MODE"] != "fast" {
		t.Errorf("env %v", got)
	}
	if p.Labels["app"] != "" || p.Labels["tier"] != "" || p.Labels["pod-template-hash"] != "" || p.Labels["team"] != "shop" || p.Labels[labelRun] != "r" {
		t.Errorf("labels %v", p.Labels)
	}
	sp := p.Spec
	if sp.RestartPolicy != corev1.RestartPolicyNever || sp.NodeName != "" || sp.Priority != nil || sp.PriorityClassName != "high" || sp.Affinity.PodAntiAffinity != nil ||
		sp.NodeSelector[corev1.LabelHostname] != "n1" || *sp.ActiveDeadlineSeconds != 90 || p.OwnerReferences[0].Name != "procfit-r" {
		t.Errorf("spec %+v", sp)
	}
	if len(sp.Volumes) != 3 || len(sp.Containers[0].VolumeMounts) != 1 {
		t.Errorf("volumes %v, mounts %v", sp.Volumes, sp.Containers[0].VolumeMounts)
	}
	if limit := sp.Containers[0].Resources.Limits.Cpu().String(); limit != "500m" {
		t.Errorf("limit %s", limit)
	}
	if s.sum() != before {
		t.Error("the template itself was changed")
	}
}

// A copy of a controller's pod has none of the labels, by any of which that controller and its autoscaler may
// select it, and not its name in DNS: clients of web-0 would reach it.
func TestCopyOfOwned(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web-0, labels: {app: web, team: shop}OWNER}\nspec: {hostname: web-0, subdomain: web, containers: [{name: app}]}"
	for owner, labels := range map[string]int{"": 2, ", ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: '1', controller: true}]": 0} {
		s := subject(t, strings.Replace(pod, "OWNER", owner, 1))
		p := s.pod(cut{container: "app", drop: must.Get(s.selectedBy(nil))(t)}, "copy", difference{})
		if got := len(p.Labels) - 3; got != labels {
			t.Errorf("%q: %v, want %d of its own labels", owner, p.Labels, labels)
		}
		if named := p.Spec.Hostname+"."+p.Spec.Subdomain == "web-0.web"; named != (owner == "") {
			t.Errorf("%q: it is called %q in %q", owner, p.Spec.Hostname, p.Spec.Subdomain)
		}
	}
}

// A variable after GOMAXPROCS may have its value: a copy has it in the same place. Without
// GOMAXPROCS there is none to have, and the default is refused.
func TestCopyExpanded(t *testing.T) {
	s := subject(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: side, args: [$(GOMAXPROCS)]}, {name: app, env: [{name: GOMAXPROCS, value: '2'}, {name: WORKERS, value: $(GOMAXPROCS)}, {name: GOMAXPROCS, value: '3'}]}]}")
	c := s.pod(cut{container: "app"}, "copy", difference{procs: new(4)}).Spec.Containers[1]
	if want := []corev1.EnvVar{{Name: "GOMAXPROCS", Value: "4"}, {Name: "WORKERS", Value: "$(GOMAXPROCS)"}}; !slices.Equal(c.Env, want) {
		t.Errorf("env %v, want %v", c.Env, want)
	}
	if c := s.pod(cut{container: "app"}, "copy", difference{}).Spec.Containers[1]; len(c.Env) != 1 || c.Env[0].Name != "WORKERS" {
		t.Errorf("by default env is %v", c.Env)
	}
	target := on(t, &server{answer: echo}, plan.Default()).Target
	target.subject = s
	for _, tc := range []struct {
		container string
		procs     *int
		refused   bool
	}{{"app", new(4), false}, {"app", nil, true}, {"side", new(4), false}, {"side", nil, true}} {
		target.container, target.cut.container = tc.container, tc.container
		label := journal.Default
		if tc.procs != nil {
			label = "4"
		}
		_, err := target.Rehearse(t.Context(), journal.Plan{Settings: []journal.Setting{{Label: label, Procs: tc.procs}}}, false)
		if refused := (*RefusedError)(nil); errors.As(err, &refused) != tc.refused || (err != nil) != tc.refused {
			t.Errorf("%s at %s: %v", tc.container, label, err)
		}
	}
}

// echo answers with the pod that was sent.
func echo(r *http.Request) any {
	var p corev1.Pod
	json.NewDecoder(r.Body).Decode(&p)
	p.Kind, p.APIVersion = "Pod", "v1"
	return p
}

// Where admission gives pods without a limit one, as a LimitRange does, the user's pods have it, and
// so do those that are measured.
func TestLimitOfNamespace(t *testing.T) {
	s := &server{answer: func(r *http.Request) any {
		p := echo(r).(corev1.Pod)
		if c := &p.Spec.Containers[0]; c.Resources.Limits == nil {
			c.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}
		}
		return p
	}}
	target := on(t, s, plan.Default()).Target
	target.container, target.cut.container = "app", "app"
	target.subject = subject(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: app}]}")
	must.OK(t, target.readQuota(t.Context()))
	if q := target.Quota; q == nil || *q != 0.5 {
		t.Fatalf("the limit is %s, want that of the namespace", limitWords(q))
	}
	for _, tc := range []struct {
		quota *float64
		want  string
	}{{target.Quota, ""}, {new(2.0), ""}, {nil, "the CPU limit is 0.5 instead of none"}} {
		settings := []journal.Setting{{Label: journal.Default, QuotaCPUs: tc.quota}, {Label: "2", Procs: new(2), QuotaCPUs: tc.quota}}
		_, err := target.Rehearse(t.Context(), journal.Plan{Settings: settings}, false)
		if (err == nil) != (tc.want == "") || err != nil && !strings.HasSuffix(err.Error(), "changes the pods: "+tc.want) {
			t.Errorf("under a limit of %s: %v, want %q", limitWords(tc.quota), err, tc.want)
		}
	}
}

// What a ConfigMap sets as a whole cannot be taken out of a copy.
func TestEnvFromRefused(t *testing.T) {
	for key, want := range map[string]string{"GOMAXPROCS": "the ConfigMap settings, which sets GOMAXPROCS", "LEVEL": ""} {
		target := on(t, &server{answer: func(*http.Request) any {
			return corev1.ConfigMap{TypeMeta: metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}, Data: map[string]string{key: "2"}}
		}}, plan.Default()).Target
		target.subject, target.container = subject(t, deployment), "app"
		if err := target.readEnvFrom(t.Context()); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// A template's limit is the number that --limit makes of the same text.
func TestQuota(t *testing.T) {
	for cpu, want := range map[string]float64{"700m": 0.7, "350m": 0.35, "2300m": 2.3, "2": 2} {
		s := subject(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: side}, {name: a, resources: {limits: {cpu: "+cpu+"}}}]}")
		if got := quantity(named(s.Template.Spec.Containers, "a").Resources.Limits); got == nil || *got != want {
			t.Errorf("%s: %s, want %g", cpu, limitWords(got), want)
		}
		if got := quantity(named(s.Template.Spec.Containers, "side").Resources.Limits); got != nil {
			t.Errorf("without a limit: %g", *got)
		}
	}
	if got := quantity(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("0")}); got != nil { // as Kubernetes has it
		t.Errorf("a limit of zero: %g", *got)
	}
}

func TestSetLimit(t *testing.T) {
	list := func(cpu string) corev1.ResourceList {
		if cpu == "" {
			return nil
		}
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
	for name, tc := range map[string]struct {
		limit, request string
		quota          *float64
		want           string // limit/request
	}{
		"below the request":    {"1", "500m", new(0.25), "250m/250m"},
		"above the request":    {"1", "500m", new(2.0), "2/500m"},
		"both were alike":      {"1", "1", new(2.0), "2/2"},
		"the request by limit": {"1", "", new(0.5), "500m/500m"},
		"none was there":       {"", "", new(0.5), "500m/0"},
		"zero, which is none":  {"0", "", new(0.5), "500m/0"},
		"none is left":         {"1", "", nil, "0/1"},
		"a third":              {"1", "100m", new(1.0 / 3), "333m/100m"},
	} {
		r := corev1.ResourceRequirements{Limits: list(tc.limit), Requests: list(tc.request)}
		setLimit(&r, tc.quota)
		if got := r.Limits.Cpu().String() + "/" + r.Requests.Cpu().String(); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestTerms(t *testing.T) {
	var got []string
	for _, term := range subject(t, deployment).Terms() {
		got = append(got, strings.TrimSpace(string(term.Kind)+" "+term.Name+" "+term.Detail))
	}
	for _, want := range []string{
		"service_account shop", "priority_class high", "secret tls", "secret more", "configmap settings", "configmap rules", "configmap levels", "secret queue", "nfs files.shop:/uploads",
		"address QUEUE_HOST from the Secret queue",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
	all := strings.Join(got, "\n")
	if !strings.Contains(all, "address DATABASE_URL postgres://") || strings.Contains(all, "secret@") || strings.Contains(all, "LISTEN") || strings.Contains(all, "kube-root-ca") {
		t.Errorf("terms %q", got)
	}
}

func TestRefusals(t *testing.T) {
	pod := func(spec string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {" + spec + "}"
	}
	claim := func(mode corev1.PersistentVolumeAccessMode, phase corev1.PersistentVolumeClaimPhase) map[string]*corev1.PersistentVolumeClaim {
		return map[string]*corev1.PersistentVolumeClaim{"data": {Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{mode}}, Status: corev1.PersistentVolumeClaimStatus{Phase: phase}}}
	}
	withClaim := pod("containers: [{name: a}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]")
	for name, tc := range map[string]struct {
		manifest string
		claims   map[string]*corev1.PersistentVolumeClaim
		want     string // in the one reason; "" for none
	}{
		"plain":           {pod("containers: [{name: a, ports: [{containerPort: 80}]}]"), nil, ""},
		"host port":       {pod("containers: [{name: a, ports: [{containerPort: 80, hostPort: 8080}]}]"), nil, "hostPort 8080"},
		"host network":    {pod("hostNetwork: true, containers: [{name: a, ports: [{containerPort: 80, hostPort: 80}]}]"), nil, "hostNetwork"},
		"host PIDs":       {pod("hostPID: true, containers: [{name: a}]"), nil, "hostPID"},
		"shared PIDs":     {pod("shareProcessNamespace: true, containers: [{name: a}, {name: envoy}]"), nil, "shareProcessNamespace"},
		"PIDs of its own": {pod("shareProcessNamespace: true, containers: [{name: a}]"), nil, ""},
		"writable folder": {pod("containers: [{name: a, volumeMounts: [{name: v, mountPath: /v}]}], volumes: [{name: v, hostPath: {path: /var/x}}]"), nil, `hostPath "/var/x"`},
		"folder to read":  {pod("containers: [{name: a, volumeMounts: [{name: v, mountPath: /v, readOnly: true}]}], volumes: [{name: v, hostPath: {path: /var/x}}]"), nil, ""},
		"of an init":      {pod("initContainers: [{name: i, volumeMounts: [{name: v, mountPath: /v}]}], containers: [{name: a}], volumes: [{name: v, hostPath: {path: /var/x}}]"), nil, `container "i"`},
		"a disk":          {pod("containers: [{name: a}], volumes: [{name: data, iscsi: {targetPortal: 10.0.0.9, iqn: iqn.2026-01.shop, lun: 0}}]"), nil, `volume "data" is a disk`},
		"a disk to read":  {pod("containers: [{name: a}], volumes: [{name: data, gcePersistentDisk: {pdName: d, readOnly: true}}]"), nil, ""},
		"shared by nodes": {pod("containers: [{name: a}], volumes: [{name: net, nfs: {server: s, path: /p}}, {name: c, csi: {driver: d}}, {name: e, emptyDir: {}}]"), nil, ""},
		"bound":           {withClaim, claim(corev1.ReadWriteOnce, corev1.ClaimBound), `claim "data" is bound and ReadWriteOnce`},
		"shared":          {withClaim, claim(corev1.ReadWriteMany, corev1.ClaimBound), ""},
		"pending":         {withClaim, claim(corev1.ReadWriteOnce, corev1.ClaimPending), ""},
		"claim templates": {"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\nspec: {volumeClaimTemplates: [{metadata: {name: data}}], template: {spec: {containers: [{name: a}]}}}", nil, `volumeClaimTemplate "data"`},
		"pod resources":   {pod("resources: {limits: {cpu: 1}}, containers: [{name: a}]"), nil, "pod-level resources"},
	} {
		got := strings.Join(subject(t, tc.manifest).refusals(tc.claims), "; ")
		if !strings.Contains(got, tc.want) || (tc.want == "") != (got == "") || strings.Contains(got, "; ") {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// The container is the named one, or that which kubectl takes.
func TestMeasured(t *testing.T) {
	for annotation, names := range map[string]map[string]string{
		"":     {"": "side", "app": "app", "db": `--container: it has no container "db"; its containers: side, app`},
		"app":  {"": "app", "side": "side"},
		"gone": {"": `the annotation kubectl.kubernetes.io/default-container: it has no container "gone"; its containers: side, app`, "app": "app"},
	} {
		s := subject(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {kubectl.kubernetes.io/default-container: '"+annotation+"'}}\nspec: {containers: [{name: side}, {name: app}]}")
		for name, want := range names {
			got := ""
			if c, err := s.measured(name); err != nil {
				got = err.Error()
			} else {
				got = c.Name
			}
			if got != want {
				t.Errorf("annotation %q, --container %q: %q, want %q", annotation, name, got, want)
			}
		}
	}
}

func TestReference(t *testing.T) {
	for in, want := range map[string][3]string{
		"deployment/api":       {"Deployment", "api", ""},
		"deployments.apps/api": {"Deployment", "api", ""},
		"STS/db":               {"StatefulSet", "db", ""},
		"ds/a":                 {"DaemonSet", "a", ""},
		"po/a":                 {"Pod", "a", ""},
		"job/nightly":          {"Job", "nightly", ""},
		"cj/nightly":           {"CronJob", "nightly", ""},
		"deploy/api.yaml":      {"", "", "deploy/api.yaml"},
		"-":                    {"", "", "-"},
	} {
		if got, err := parseReference(in); err != nil || want != [3]string{got.name, got.object, got.file} {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "api", "replicaset/x", "deployment/", "deployment/a/b", "/"} {
		if got, err := parseReference(in); err == nil || !strings.Contains(err.Error(), "deployment/NAME") {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
}

func FuzzParseReference(f *testing.F) {
	for _, s := range []string{"deployment/api", "a.yaml", "-", "STS/", "/", "pods.v1/x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := parseReference(s)
		if err == nil && (r.file == "") == (r.name == "" || r.object == "") {
			t.Errorf("%q is %+v", s, r)
		}
	})
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(deployment))
	f.Add([]byte(`{"kind":"Pod","spec":{"containers":[{"name":"a"}]}}`))
	f.Add([]byte("---\n---\nkind: Pod\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseManifest(b)
		if err != nil || len(s.Template.Spec.Containers) == 0 {
			return
		}
		c := s.Template.Spec.Containers[0].Name
		p := s.pod(cut{container: c}, "copy", difference{procs: new(3), limit: true, quota: new(0.5)})
		if p.Spec.RestartPolicy != corev1.RestartPolicyNever || !slices.ContainsFunc(p.Spec.Containers, func(one corev1.Container) bool {
			return one.Name == c && slices.Contains(one.Env, corev1.EnvVar{Name: procsVariable, Value: "3"})
		}) {
			t.Errorf("a copy of %q is %+v", b, p.Spec)
		}
	})
}

// GOMAXPROCS is shown as kubectl describe shows it, and a pod that is only looked at is
// as its manifest has it.
func TestDescribed(t *testing.T) {
	for env, want := range map[string]string{
		"":                                 "",
		"[{name: GO}]":                     "",
		"[{name: GOMAXPROCS, value: '3'}]": "3",
		"[{name: GOMAXPROCS, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]":                 "2 (limits.cpu)",
		"[{name: GOMAXPROCS, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}}]":    "1500 (limits.cpu)",
		"[{name: GOMAXPROCS, valueFrom: {resourceFieldRef: {resource: requests.cpu, divisor: '1'}}}]": "1 (requests.cpu)",
		"[{name: GOMAXPROCS, valueFrom: {configMapKeyRef: {name: settings, key: procs}}}]":            "<set to the key 'procs' of config map 'settings'>",
		"[{name: GOMAXPROCS, valueFrom: {secretKeyRef: {name: settings, key: procs}}}]":               "<set to the key 'procs' in secret 'settings'>",
		"[{name: GOMAXPROCS, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}]":     " (v1:metadata.name)",
	} {
		if env == "" {
			env = "[]"
		}
		s := subject(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a, env: "+env+", resources: {limits: {cpu: 1500m}, requests: {cpu: 200m}}}]}")
		p := s.pod(cut{container: "a"}, "copy", difference{unchanged: true})
		if got := described(p, "a"); got != want {
			t.Errorf("%s: %q, want %q", env, got, want)
		}
	}
}
