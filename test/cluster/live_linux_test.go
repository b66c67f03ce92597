package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/cluster"
	"github.com/procfit/procfit/test/must"
)

// asReader is a kubeconfig of the account that deploy/kubernetes/check.yaml makes, so
// that a permission that is missing there is missing here.
func asReader(ctx context.Context, t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	kubectl(ctx, t, c, "", "apply", "-f", "../../deploy/kubernetes/check.yaml")
	return as(ctx, t, c, "procfit-check", "procfit")
}

// as is a kubeconfig of an account alone.
func as(ctx context.Context, t *testing.T, c *cluster.Cluster, account, namespace string) string {
	t.Helper()
	token := strings.TrimSpace(kubectl(ctx, t, c, "", "create", "token", account, "--namespace", namespace))
	own := filepath.Join(t.TempDir(), "kubeconfig")
	must.OK(t, os.WriteFile(own, must.Get(os.ReadFile(c.Kubeconfig))(t), 0o600))
	for _, args := range [][]string{
		{"config", "set-credentials", account, "--token", token},
		{"config", "set-context", "--current", "--user", account},
		{"config", "delete-user", "administrator"},
	} {
		must.Output(t, exec.CommandContext(ctx, c.KubectlPath(), append([]string{"--kubeconfig", own}, args...)...))
	}
	return own
}

// spinning is a Go program that stays, as a Deployment has it.
func spinning(name, template string) string {
	return fmt.Sprintf(`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: 1
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: api
          image: procfit.test/procfit:1
          args: [lab, serve, cpuserver, --addr, "0.0.0.0:8080"]
          readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
%[2]s`, name, template)
}

// TestLive puts right and wrong pods beside the exporter's DaemonSet, and holds what
// check tells of them, under the role of its manifest, against what is so.
func TestLive(t *testing.T) {
	t.Parallel()
	c := running(t)
	ctx := limit(t)
	must.OK(t, c.Load(ctx, procfit(t), "procfit.test/procfit:1"))
	install(ctx, t, c)
	namespace(ctx, t, c, "live")
	const ref = "          env: [{name: GOMAXPROCS, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]\n"
	pods := spinning("right", "          resources: {requests: {cpu: 10m}, limits: {cpu: 2}}\n") +
		spinning("thousand", "          env: [{name: GOMAXPROCS, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}}]\n          resources: {requests: {cpu: 10m}, limits: {cpu: 50m}}\n") +
		spinning("resized", ref+"          resources: {requests: {cpu: 10m}, limits: {cpu: 1}}\n") +
		spinning("unlimited", ref)
	kubectl(ctx, t, c, pods, "apply", "--namespace", "live", "-f", "-")
	kubectl(ctx, t, c, "", "rollout", "status", "deployment", "--namespace", "live", "--timeout=180s")
	name := strings.TrimSpace(kubectl(ctx, t, c, "", "get", "pod", "--namespace", "live", "--selector", "app=resized", "--output", "name"))
	time.Sleep(1100 * time.Millisecond) // the API server's times are whole seconds
	kubectl(ctx, t, c, "", "patch", name, "--namespace", "live", "--subresource", "resize", "--patch", `{"spec":{"containers":[{"name":"api","resources":{"limits":{"cpu":"2"}}}]}}`)
	inForce := func() string {
		return kubectl(ctx, t, c, "", "get", name, "--namespace", "live", "--output", "jsonpath={.status.containerStatuses[0].resources.limits.cpu}")
	}
	for inForce() != "2" {
		time.Sleep(300 * time.Millisecond)
	}

	reader := asReader(ctx, t, c)
	got := checkedBy(ctx, t, "kube", "check", "--namespace", "live", "--kubeconfig", reader)
	cpus := runtime.NumCPU()
	want := map[string]string{
		"Deployment/right":     fmt.Sprint(cpus) + " ",
		"Deployment/thousand":  "50 PF001 PF021",
		"Deployment/resized":   "1 PF050",
		"Deployment/unlimited": fmt.Sprint(cpus) + " PF017",
	}
	for _, v := range got.Values {
		var rules []string
		for _, f := range got.Findings {
			if f.Object == v.Object && !slices.Contains(rules, f.Rule) && f.Rule != "PF004" && f.Rule != "PF012" && f.Rule != "PF011" {
				rules = append(rules, f.Rule)
			}
		}
		slices.Sort(rules)
		if is := v.Text + " " + strings.Join(rules, " "); is != want[v.Object] {
			t.Errorf("%s: %q, want %q: %s: %+v", v.Object, is, want[v.Object], v.Source, got.Findings)
		}
		if !strings.HasPrefix(v.Source, "read by the exporter") {
			t.Errorf("%s: nobody has looked: %s", v.Object, v.Source)
		}
		delete(want, v.Object)
	}
	if len(want) > 0 {
		t.Errorf("no value of %v", want)
	}
	scraped(ctx, t, c)
	inside(ctx, t, c)
}

// inside runs check as a pod, with the account of the role and nothing else to say
// which cluster is meant.
func inside(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	t.Helper()
	kubectl(ctx, t, c, `
apiVersion: v1
kind: Pod
metadata: {name: check, namespace: procfit}
spec:
  serviceAccountName: procfit-check
  restartPolicy: Never
  containers:
    - name: check
      image: procfit.test/procfit:1
      args: [kube, check, --namespace, live, --exit-zero]
`, "apply", "-f", "-")
	for ctx.Err() == nil {
		phase := kubectl(ctx, t, c, "", "get", "pod", "check", "--namespace", "procfit", "--output", "jsonpath={.status.phase}")
		if phase == "Succeeded" || phase == "Failed" {
			break
		}
		time.Sleep(300 * time.Millisecond)
	}
	out := kubectl(ctx, t, c, "", "logs", "check", "--namespace", "procfit")
	if !strings.Contains(out, "live: Deployment/right, container api: GOMAXPROCS ") || !strings.Contains(out, "4 pods checked: ") {
		t.Errorf("in a pod check says %s", out)
	}
}

// install brings the exporter's DaemonSet up as it stands in deploy, but for the image.
func install(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	t.Helper()
	manifest := must.Read(t, "../../deploy/kubernetes/exporter.yaml")
	text := strings.Replace(manifest, "registry.example.com/procfit:0.1", "procfit.test/procfit:1", 1)
	text = strings.Replace(text, `"/procfit"`, `"/app"`, 1)
	kubectl(ctx, t, c, text, "apply", "-f", "-")
	kubectl(ctx, t, c, "", "rollout", "status", "daemonset/procfit-exporter", "--namespace", "procfit", "--timeout=180s")
}

// scraped sees that the exporter's rows carry namespace, pod and container.
func scraped(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	t.Helper()
	all := ""
	for pod := range strings.FieldsSeq(kubectl(ctx, t, c, "", "get", "pods", "--namespace", "procfit", "--selector", "app.kubernetes.io/name=procfit-exporter", "--output", "jsonpath={.items[*].metadata.name}")) {
		all += kubectl(ctx, t, c, "", "get", "--raw", "/api/v1/namespaces/procfit/pods/"+pod+":9877/proxy/metrics")
	}
	for line := range strings.Lines(all) {
		if strings.HasPrefix(line, "procfit_process_info{") && strings.Contains(line, `namespace="live"`) && strings.Contains(line, `pod="right-`) && strings.Contains(line, `container="api"`) {
			return
		}
	}
	t.Errorf("no row of pod right: %s", all)
}

// TestForbidden: a user who may read nothing first learns which right is missing.
func TestForbidden(t *testing.T) {
	c := running(t)
	ctx := limit(t)
	reader := asReader(ctx, t, c)
	kubectl(ctx, t, c, "", "delete", "clusterrolebinding", "procfit-check")
	cmd := exec.CommandContext(ctx, procfit(t), "kube", "check", "--kubeconfig", reader)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(string(out), "list the pods of all namespaces: not allowed") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestPages counts more pods than the API server lists at once; no scheduler takes them.
// internal/cli's TestManyPods bounds what more of them cost.
func TestPages(t *testing.T) {
	const pods = 1_200
	c := running(t)
	ctx := limit(t)
	namespace(ctx, t, c, "many")
	accessTo(t, c).fill(ctx, t, "many", pods)
	out := must.Get(exec.CommandContext(ctx, procfit(t), "kube", "check", "--namespace", "many", "--kubeconfig", asReader(ctx, t, c), "-o", "json", "--exit-zero").Output())(t)
	var says struct{ Files int }
	if err := json.Unmarshal(out, &says); err != nil || says.Files != pods {
		t.Errorf("%v: %d pods", err, says.Files)
	}
}
