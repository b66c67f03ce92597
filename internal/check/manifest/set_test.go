package manifest

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/program/rule"
)

// decided is what a sweep decided.
func decided(procs int) rule.Expected {
	return rule.Expected{Program: "app", Procs: procs, LimitCPUs: new(2.0), CPUs: 8, Measured: "2026-01-31", Again: []string{"kube", "sweep", "it's"}}
}

const decidedText = `{"schema":"procfit.expected/v1","program":"app","procs":2,"limit_cpus":2,"cpus":8,"measured":"2026-01-31","again":["kube","sweep","it''s"]}`

// TestSet: the value is set next to the limit, what it was measured under is an annotation,
// and nothing else changes.
func TestSet(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"no variable, no metadata": {`apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  template:
    # the pod
    spec:
      containers:
      - name: app # the program
        image: x
        resources: {limits: {cpu: 2}}
`, `apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  template:
    metadata:
      annotations:
        procfit.github.io/expected: '` + decidedText + `'
    # the pod
    spec:
      containers:
      - name: app # the program
        image: x
        env:
          - name: GOMAXPROCS
            value: "2"
        resources: {limits: {cpu: 2}}
`},
		"another value, labels": {`apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  template:
    metadata:
      labels: {app: api}
    spec:
      containers:
      - name: app
        image: x
        env:
        - {name: A, value: b}
        - {name: GOMAXPROCS, value: "8"} # a guess
        resources: {limits: {cpu: 2}}
`, `apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  template:
    metadata:
      annotations:
        procfit.github.io/expected: '` + decidedText + `'
      labels: {app: api}
    spec:
      containers:
      - name: app
        image: x
        env:
        - {name: A, value: b}
        - {name: GOMAXPROCS, value: "2"} # a guess
        resources: {limits: {cpu: 2}}
`},
		"a reference, several containers, an old annotation": {`apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  template:
    metadata: {annotations: {a: b, procfit.github.io/expected.app: '{"schema":"procfit.expected/v1","procs":8,"limit_cpus":2,"cpus":8,"measured":"2026-01-31"}'}}
    spec:
      containers:
      - name: app
        image: x
        env:
        - name: A
          value: b
        - name: GOMAXPROCS
          valueFrom: {resourceFieldRef: {resource: limits.cpu}}
        resources: {limits: {cpu: 2}}
      - name: side
        image: y
`, `apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  template:
    metadata: {annotations: {a: b, procfit.github.io/expected.app: '` + decidedText + `'}}
    spec:
      containers:
      - name: app
        image: x
        env:
        - name: A
          value: b
        - name: GOMAXPROCS
          value: "2"
        resources: {limits: {cpu: 2}}
      - name: side
        image: y
`},
		"JSON": {`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "api"}, "spec": {"containers": [{"name": "app", "image": "x", "resources": {"limits": {"cpu": "2"}}}]}}`,
			`{"apiVersion": "v1", "kind": "Pod", "metadata": {"annotations": {"procfit.github.io/expected": "` + strings.ReplaceAll(strings.ReplaceAll(decidedText, "''", "'"), `"`, `\"`) + `"}, "name": "api"}, "spec": {"containers": [{"name": "app", "image": "x", "env": [{"name": "GOMAXPROCS", "value": "2"}], "resources": {"limits": {"cpu": "2"}}}]}}`},
	} {
		path := "deploy.yaml"
		if name == "JSON" {
			path = "deploy.json"
		}
		x, err := Choose(t.Context(), path, []byte(tc.text), "", "app")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := x.Set(t.Context(), decided(2))
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, tc.want)
			continue
		}
		again, err := Choose(t.Context(), path, got, "", "app")
		if err != nil || again.Value.Procs == nil || *again.Value.Procs != 2 {
			t.Errorf("%s: %v: %+v", name, err, again)
			continue
		}
		if twice, err := again.Set(t.Context(), decided(2)); err != nil || string(twice) != string(got) {
			t.Errorf("%s, again: %v\n%s", name, err, twice)
		}
	}
}

const twoObjects = `apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec: {template: {spec: {containers: [{name: app, image: x, resources: {limits: {cpu: 2}}}], initContainers: [{name: first, image: x}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: import}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: app, image: x, resources: {limits: {cpu: 3}}}]}}}}}
`

func TestChoose(t *testing.T) {
	for _, tc := range []struct{ text, object, container, want string }{
		{twoObjects, "", "", "it has several: Deployment/api, container app; CronJob/import, container app; name one with object and container"},
		{twoObjects, "", "web", "it has no container web; it has Deployment/api, container app; CronJob/import, container app"},
		{twoObjects, "Deployment/web", "app", "it has no object Deployment/web with a container app; it has"},
		{twoObjects, "job/import", "", "it has no object job/import; it has"},
		{twoObjects, "", "first", "it has no container first"},
		{"a: [", "", "", "line 1: invalid YAML"},
		{"services: {web: {image: x}}", "", "", "it has no container of Kubernetes"},
		{"a: b", "", "", "no Kubernetes object"},
		{"", "", "", "it is empty"},
	} {
		if x, err := Choose(t.Context(), "a.yaml", []byte(tc.text), tc.object, tc.container); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s %s: %v, %+v; want %s", tc.object, tc.container, err, x, tc.want)
		}
	}
	for object, want := range map[string]string{"deploy/api": "Deployment/api", "deployments/api": "Deployment/api", "import": "CronJob/import", "cj/import": "CronJob/import"} {
		if x, err := Choose(t.Context(), "a.yaml", []byte(twoObjects), object, ""); err != nil || x.Value.Object != want {
			t.Errorf("%s: %v: %+v", object, err, x)
		}
	}
	if _, err := Choose(t.Context(), "a.txt", []byte(twoObjects), "", ""); err == nil || !strings.Contains(err.Error(), "not a file that procfit checks") {
		t.Error(err)
	}
}

// TestSetRefuses: a value for other conditions is not written, nor is one where another
// thing sets it.
func TestSetRefuses(t *testing.T) {
	pod := func(rest string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: api}\nspec:\n  containers:\n  - name: app\n    image: x\n" + rest
	}
	const limited = "    resources: {limits: {cpu: 2}}\n"
	long := strings.Repeat("a", 60)
	for _, tc := range []struct{ text, want string }{
		{pod("    resources: {limits: {cpu: 3}}\n"), "procfit check would report PF061: its CPU limit is 3 CPUs, but its expected value was measured under a limit of 2 CPUs"},
		{pod(limited + "    command: [sh, -c, \"GOMAXPROCS=4 exec app\"]\n"), "its command sets GOMAXPROCS: change the command"},
		{pod(limited + "    env: [{name: GOMAXPROCS, valueFrom: {secretKeyRef: {name: s, key: k}}}]\n"), "its GOMAXPROCS comes from elsewhere (env): change it there"},
		{pod(limited + "    env: [{name: GOMAXPROCS, valueFrom: {configMapKeyRef: {name: s, key: k}}}]\n"), "its GOMAXPROCS comes from elsewhere (env, ConfigMap s): change it there"},
		{pod(limited + "    env: [{name: GOMAXPROCS, value: \"1\"}, {name: GOMAXPROCS, value: \"3\"}]\n"), "it has GOMAXPROCS twice: remove one"},
		{pod(limited + "    env: []\n"), "its form is not one that procfit can change safely"},
		{pod("    <<: {env: [{name: A, value: b}], resources: {limits: {cpu: 2}}}\n"), "its form is not one that procfit can change safely"},
		{strings.Replace(pod(limited+"    env:\n    - *p\n"), "  containers:", "  initContainers:\n  - name: first\n    image: y\n    env:\n    - &p {name: GOMAXPROCS, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}\n  containers:", 1), "its form is not one that procfit can change safely"},
		{strings.Replace(pod(limited), "{name: api}", "{name: api, <<: {annotations: {a: b}}}", 1), "its form is not one in which procfit can write the annotation"},
		{strings.Replace(pod(limited), "{name: api}", "{name: api, labels: {helm.sh/chart: a}}", 1), "a chart renders it: change its source"},
		{strings.NewReplacer("{name: api}", "{name: api, annotations: {procfit.github.io/expected."+long+": a}}", "name: app", "name: "+long).Replace(pod(limited)), "would have more than the 63 characters"},
	} {
		x, err := Choose(t.Context(), "a.yaml", []byte(tc.text), "", "")
		if err != nil {
			t.Errorf("%s: %v", tc.want, err)
			continue
		}
		if text, err := x.Set(t.Context(), decided(2)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v, want %s\n%s", err, tc.want, text)
		}
	}
}

// FuzzSet: the change bears any text, and adds nothing but the variable and the annotation.
func FuzzSet(f *testing.F) {
	f.Add(twoObjects, "api")
	f.Add("{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"spec\": {\"containers\": [{\"name\": \"a\", \"image\": \"b\"}]}}", "")
	f.Add("apiVersion: v1\nkind: Pod\nmetadata:\r\n  # a\r\n  name: a\r\nspec:\n  containers:\n  - image: b\n    env:\n    - name: GOMAXPROCS\n      value: 3", "")
	f.Fuzz(func(t *testing.T, text, object string) {
		x, err := Choose(t.Context(), "a.yaml", []byte(text), object, "")
		if err != nil {
			return
		}
		after, err := x.Set(t.Context(), decided(2))
		if err != nil {
			return
		}
		if a, b := withoutExpected(t, text), withoutExpected(t, string(after)); a != b {
			t.Errorf("more than GOMAXPROCS and its annotation has changed:\n%s\n%s", a, b)
		}
	})
}

// withoutExpected is what the documents mean, without GOMAXPROCS and without the annotation,
// and without what is then empty.
func withoutExpected(t *testing.T, text string) string {
	var out strings.Builder
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var n yaml.Node
		if decoder.Decode(&n) != nil {
			return out.String()
		}
		for _, name := range []string{"procfit.github.io/expected", "annotations", "metadata"} {
			removeKey(&n, name, 0)
		}
		out.WriteString(strip(t, encoded(t, &n)))
	}
}

func encoded(t *testing.T, n *yaml.Node) string {
	b, err := yaml.Marshal(n)
	if err != nil {
		t.Skip()
	}
	return string(b)
}

// removeKey removes the keys that begin so, where they have an empty value or one of
// procfit's.
func removeKey(n *yaml.Node, name string, depth int) {
	if depth > 100 {
		return
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		empty := n.Content[i+1].Kind == yaml.MappingNode && len(n.Content[i+1].Content) == 0
		if strings.HasPrefix(n.Content[i].Value, name) && (empty || strings.HasPrefix(name, "procfit")) {
			n.Content = append(n.Content[:i:i], n.Content[i+2:]...)
			i -= 2
		}
	}
	for _, c := range n.Content {
		removeKey(c, name, depth+1)
	}
}
