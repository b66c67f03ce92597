package cluster_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/test/cluster"
	"github.com/procfit/procfit/test/must"
)

const (
	chart    = "../../deploy/helm/procfit-exporter"
	base     = "../../deploy/kubernetes"
	manifest = base + "/exporter.yaml"
)

// helm runs Helm in the cluster, and returns what it prints.
func helm(ctx context.Context, t *testing.T, c *cluster.Cluster, args ...string) (string, error) {
	t.Helper()
	program := must.Get(cluster.Helm(ctx, os.Stderr))(t)
	cmd := exec.CommandContext(ctx, program, args...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig, "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// objects are the documents of a YAML text, by their kinds.
func objects(t *testing.T, text string) map[string]map[string]any {
	t.Helper()
	list := map[string]map[string]any{}
	for _, document := range strings.Split("\n"+text, "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatalf("%v: %s", err, document)
		}
		if kind, _ := object["kind"].(string); kind != "" {
			list[kind] = object
		}
	}
	return list
}

// TestChartIsTheManifest: the chart and the base for Kustomize render what exporter.yaml
// has. The chart has no namespace: Helm's users make their own.
func TestChartIsTheManifest(t *testing.T) {
	t.Parallel()
	c := running(t)
	ctx := limit(t)
	b := must.Read(t, manifest)
	want := objects(t, b)
	if len(want) != 2 {
		t.Fatalf("%d objects", len(want))
	}
	if got := objects(t, kubectl(ctx, t, c, "", "kustomize", base)); !reflect.DeepEqual(got, want) {
		t.Errorf("the base renders %v, want %v", got, want)
	}
	out, err := helm(ctx, t, c, "template", "any-name", chart, "--namespace", "procfit", "--set", "image.repository=registry.example.com/procfit")
	delete(want, "Namespace")
	if got := objects(t, out); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: the chart renders %v, want %v", err, got, want)
	}
	for set, refused := range map[string]string{
		"":                                     "/image/repository",
		"image.repository=a,procs=0":           "/procs",
		"image.repository=a,tolerance=1":       "tolerance",
		"image.repository=a,maxUnavailable=0%": "/maxUnavailable",
		"image.repository=a,podLabels.app\\.kubernetes\\.io/name=x": "propertyName",
	} {
		if out, err := helm(ctx, t, c, "template", "any-name", chart, "--set", set); err == nil || !strings.Contains(out, refused) {
			t.Errorf("%q: %v, want %q: %s", set, err, refused, out)
		}
	}
	digest := "sha256:" + strings.Repeat("a", 64)
	out, err = helm(ctx, t, c, "template", "any-name", chart, "--set", "image.repository=a/b,image.digest="+digest+",procs=4,port=80,appArmorUnconfined=false,podLabels.team=x,image.pullSecrets={s}")
	for _, want := range []string{`image: "a/b@` + digest + `"`, `value: "4"`, `":80"`, "containerPort: 80", "team: x", `- name: "s"`} {
		if err != nil || !strings.Contains(out, want) || strings.Contains(out, "appArmorProfile") {
			t.Errorf("%v: want %s in\n%s", err, want, out)
		}
	}
}

// ownImage imports an image, as procfit kube image writes it.
func ownImage(ctx context.Context, t *testing.T, c *cluster.Cluster, name string) {
	t.Helper()
	archive := filepath.Join(t.TempDir(), "image.tar")
	out, err := exec.CommandContext(ctx, procfit(t), "kube", "image", "--binary", procfit(t), "--tag", name, "--archive", archive).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b := must.Get(os.ReadFile(archive))(t)
	must.OK(t, c.LoadArchive(ctx, b))
}

// TestChart installs, upgrades and removes the exporter, by Helm and by Kustomize, with the
// image that procfit makes. Nothing is left of it.
func TestChart(t *testing.T) {
	t.Parallel()
	c := running(t)
	ctx := limit(t)
	const image = "procfit.test/own:1"
	ownImage(ctx, t, c, image)
	namespace(ctx, t, c, "chart")
	kubectl(ctx, t, c, "", "label", "namespace", "chart", "pod-security.kubernetes.io/enforce=privileged")
	before := contents(ctx, t, c, "chart")
	install := func(verb string, set string) {
		t.Helper()
		if out, err := helm(ctx, t, c, verb, "exporter", chart, "--namespace", "chart", "--wait", "--timeout", "120s", "--set-string", "image.tag=1", "--set", "image.repository=procfit.test/own,"+set); err != nil {
			t.Fatalf("helm %s: %v: %s", verb, err, out)
		}
	}
	install("install", "port=9878")
	exports(ctx, t, c, "chart", "9878")
	if out, err := helm(ctx, t, c, "install", "another", chart, "--namespace", "chart", "--set", "image.repository=a"); err == nil {
		t.Errorf("a second exporter in the namespace: %s", out)
	}
	install("upgrade", "port=9879,podLabels.team=x")
	exports(ctx, t, c, "chart", "9879")
	if out, err := helm(ctx, t, c, "uninstall", "exporter", "--namespace", "chart", "--wait", "--timeout", "120s"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for contents(ctx, t, c, "chart") != before && ctx.Err() == nil {
		time.Sleep(500 * time.Millisecond)
	}
	if after := contents(ctx, t, c, "chart"); after != before {
		t.Errorf("left of the exporter:\n%s\nbefore:\n%s", after, before)
	}

	overlay := t.TempDir()
	own, err := filepath.Abs(base)
	if err == nil {
		err = os.CopyFS(filepath.Join(overlay, "base"), os.DirFS(own)) // Kustomize takes no absolute path
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(overlay, "kustomization.yaml"), []byte("namespace: kustomized\nresources: [base]\nimages: [{name: registry.example.com/procfit, newName: procfit.test/own, newTag: \"1\"}]\n"), 0o600)
	}
	must.OK(t, err)
	kubectl(ctx, t, c, "", "apply", "-k", overlay)
	t.Cleanup(func() {
		_, _ = c.Kubectl(context.Background(), nil, "delete", "namespace", "kustomized", "--ignore-not-found", "--wait=false") // where the test has failed
	})
	kubectl(ctx, t, c, "", "rollout", "status", "daemonset/procfit-exporter", "--namespace", "kustomized", "--timeout=120s")
	exports(ctx, t, c, "kustomized", "9877")
	kubectl(ctx, t, c, "", "delete", "-k", overlay, "--wait", "--timeout=120s")
	if left := kubectl(ctx, t, c, "", "get", "namespaces,daemonsets,clusterroles,clusterrolebindings", "--all-namespaces", "--output=name"); strings.Contains(left, "kustomized") || strings.Contains(left, "procfit-exporter") && !strings.Contains(left, "daemonset.apps/procfit-exporter") {
		t.Errorf("left: %s", left)
	}
}

// exports sees that the pods of the exporter answer.
func exports(ctx context.Context, t *testing.T, c *cluster.Cluster, namespace, port string) {
	t.Helper()
	pods := strings.Fields(kubectl(ctx, t, c, "", "get", "pods", "--namespace", namespace, "--selector", "app.kubernetes.io/name=procfit-exporter", "--field-selector=status.phase=Running", "--output", "jsonpath={.items[*].metadata.name}"))
	seen := 0
	for _, pod := range pods {
		out, err := c.Kubectl(ctx, nil, "get", "--raw", "/api/v1/namespaces/"+namespace+"/pods/"+pod+":"+port+"/proxy/metrics")
		if err == nil && strings.Contains(out, "procfit_process_gomaxprocs{") { // one of before may just be ending
			seen++
		}
	}
	if seen != 2 { // a node each
		t.Errorf("%d of %d pods export", seen, len(pods))
	}
}

// contents are all objects of a namespace but events and what says that it was seen.
func contents(ctx context.Context, t *testing.T, c *cluster.Cluster, namespace string) string {
	t.Helper()
	kinds := strings.Fields(kubectl(ctx, t, c, "", "api-resources", "--namespaced", "--verbs=list", "--output=name"))
	var kept []string
	for _, k := range kinds {
		if !strings.HasPrefix(k, "events") {
			kept = append(kept, k)
		}
	}
	return kubectl(ctx, t, c, "", "get", strings.Join(kept, ","), "--namespace", namespace, "--output=name", "--ignore-not-found")
}

// TestOwnImage: the image that procfit makes runs as its user, who is not root, with a root
// that is read-only.
func TestOwnImage(t *testing.T) {
	t.Parallel()
	c := running(t)
	ctx := limit(t)
	ownImage(ctx, t, c, "procfit.test/nobody:1")
	namespace(ctx, t, c, "nobody")
	kubectl(ctx, t, c, `
apiVersion: v1
kind: Pod
metadata: {name: version, namespace: nobody}
spec:
  restartPolicy: Never
  containers:
    - name: version
      image: procfit.test/nobody:1
      args: [explain]
      securityContext: {runAsNonRoot: true, readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`, "apply", "-f", "-")
	kubectl(ctx, t, c, "", "wait", "pod/version", "--namespace", "nobody", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=120s")
	if out := kubectl(ctx, t, c, "", "logs", "version", "--namespace", "nobody"); !strings.Contains(out, "GOMAXPROCS") {
		t.Errorf("%s", out)
	}
}
