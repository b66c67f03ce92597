package cluster_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const socket = "/run/app/live/procfit.sock" // as the page has it

// sidecar is the pod of docs/how-to/try-values-live.md, as a Deployment with other images. It
// has the traffic of its Service.
func sidecar(ctx context.Context, t *testing.T, name string) *shop {
	t.Helper()
	page, err := os.ReadFile("../../docs/how-to/try-values-live.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "## In Kubernetes")
	_, after, _ = strings.Cut(after, "```yaml\n")
	pod, _, ok := strings.Cut(after, "```")
	if !ok || !strings.Contains(after, "/procfit live "+socket+" ") {
		t.Fatalf("the page has no pod, or no experiment at %s", socket)
	}
	s := &shop{T: t, cluster: running(t), name: name, program: procfit(t), dir: t.TempDir()}
	s.loadOnce(ctx)
	metered(ctx, t, s.cluster)
	namespace(ctx, t, s.cluster, name)
	for from, to := range map[string]string{"registry.example/shop/api:1.2\n": meteredImage + "\n      env: [{name: CONTROL, value: " + socket + "}]\n      readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}\n", "registry.example/tools/procfit:v1": sweptImage} {
		if !strings.Contains(pod, from) {
			t.Fatalf("the pod of the page has no image %s:\n%s", from, pod)
		}
		pod = strings.Replace(pod, from, to, 1)
	}
	deployment := `
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
` + "    " + strings.ReplaceAll(strings.TrimSpace(pod), "\n", "\n    ") + `
---
apiVersion: v1
kind: Service
metadata: {name: api}
spec: {selector: {app: api}, ports: [{port: 80, targetPort: 8080}]}
`
	kubectl(ctx, t, s.cluster, deployment, "apply", "--namespace", name, "-f", "-")
	t.Cleanup(func() {
		for _, args := range [][]string{{"describe", "pods"}, {"logs", "deploy/api", "-c", "api"}, {"logs", "deploy/api", "-c", "procfit"}} {
			if t.Failed() {
				out, err := s.cluster.Kubectl(context.Background(), nil, append(args, "--namespace", name)...)
				t.Logf("kubectl %s: %v\n%s", args, err, out)
			}
		}
	})
	s.traffic(s.reached(ctx), true)
	return s
}

// in is procfit in the sidecar, as the page calls it.
func (s *shop) in(ctx context.Context, args ...string) *exec.Cmd {
	all := append([]string{"--kubeconfig", s.cluster.Kubeconfig, "--namespace", s.name, "exec", "deploy/api", "-c", "procfit", "--", "/procfit"}, args...)
	return exec.CommandContext(ctx, s.cluster.KubectlPath(), all...)
}

// TestSidecar: a live experiment in a pod, with the socket in an emptyDir and procfit in a
// second container, as the page shows it.
func TestSidecar(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := sidecar(ctx, t, "sidecar")
	experiment := []string{"live", socket, "--procs", "1", "--slice", "1s", "--burn-in", "200ms", "--baseline", "4s", "--budget", "100000"}
	out, err := s.in(ctx, append(experiment, "--duration", "35s", "--out", "/run/app/results")...).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"procfit: [block 9] 1 ", "procfit: GOMAXPROCS is 2 again", "Set live, with 2 at start"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q", want)
		}
	}
	if out, err := s.in(ctx, "report", "/run/app/results").CombinedOutput(); err != nil || !strings.Contains(string(out), "in random order, for ") {
		t.Errorf("%v: %s", err, out)
	}
	observed := func() string {
		t.Helper()
		out, err := s.in(ctx, "observe", socket, "--duration", "1s").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "req") {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if got := observed(); !strings.Contains(got, "GOMAXPROCS         2") {
		t.Errorf("%s", got)
	}

	// What ends when kubectl is ended.
	cut := s.in(ctx, append(experiment, "--duration", "3m", "--out", "/run/app/cut")...)
	if err := cut.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(12 * time.Second)
	_ = cut.Process.Signal(os.Interrupt)
	_ = cut.Wait()
	for from := time.Now(); time.Since(from) < 20*time.Second; time.Sleep(time.Second) {
		again, _ := s.in(ctx, append(experiment, "--duration", "35s", "--dry-run")...).CombinedOutput()
		t.Logf("%v after the end: %s", time.Since(from), observed())
		_ = again
	}
	out, err = s.in(ctx, append(experiment, "--duration", "35s", "--out", "/run/app/second")...).CombinedOutput()
	t.Logf("%v: %s", err, out)
}
