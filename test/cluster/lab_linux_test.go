package cluster_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/test/must"
)

// The experiment of document 004 as pods, by who may no more than sweep: both of its
// sweeps run, and the manifest before and after its fix promises what its pods ran with,
// as kubectl describe shows it.
func TestLabInCluster(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := openShop(ctx, t, "lab")
	must.Output(t, s.procfit(ctx, "lab run k8sbench --kube --quick --repeats 1 --limit 1 --procs 1,4", "out"))
	out := filepath.Join(s.dir, "out")
	b := must.Get(os.ReadFile(filepath.Join(out, "lab.json")))(t)
	var o lab.Outcome
	if err := json.Unmarshal(b, &o); err != nil || len(o.Experiments) != 1 {
		t.Fatalf("%v: %s", err, b)
	}
	for _, stage := range o.Experiments[0].Stages {
		if stage.NotRun != "" || stage.Stopped != "" || stage.Run == 0 || 2*stage.Invalid > stage.Run {
			t.Errorf("%+v", stage)
		}
	}
	told := must.Read(t, filepath.Join(out, "k8sbench", "manifest.txt"))
	must.Say(t, told, "kubectl describe:  Environment:  <none>", "GOMAXPROCS:  2 (limits.cpu)", "GOMAXPROCS 2 on node ", ", as promised")
	fixed := must.Read(t, filepath.Join(out, "k8sbench", "manifest.yaml"))
	kubectl(ctx, t, s.cluster, strings.Replace(fixed, "replicas: 10", "replicas: 1", 1), "apply", "--namespace", s.name, "-f", "-")
	if describes := describes.FindString(kubectl(ctx, t, s.cluster, "", "describe", "deployment/k8s-bench", "--namespace", s.name)); strings.Join(strings.Fields(describes), " ") != "GOMAXPROCS: 2 (limits.cpu)" {
		t.Errorf("kubectl describe says %q", describes)
	}
	s.empty(ctx)
}

// A pod that nothing may be put beside, and that holds nothing but its program, tells its
// GOMAXPROCS among its metrics.
func TestSweepByMetrics(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := openShop(ctx, t, "metrics")
	const served = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: served}
spec:
  replicas: 0
  selector: {matchLabels: {app: served}}
  template:
    metadata: {labels: {app: served}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: app
        image: ` + sweptImage + `
        args: [exporter, --listen, ":9877"]
        ports: [{containerPort: 9877}]
        readinessProbe: {tcpSocket: {port: 9877}, periodSeconds: 1}
        resources: {requests: {cpu: 10m}, limits: {cpu: 1}}
`
	kubectl(ctx, t, s.cluster, served, "apply", "--namespace", s.name, "-f", "-")
	kubectl(ctx, t, s.cluster, `[{"op": "remove", "path": "/rules/3"}]`, "patch", "role", "procfit-sweep", "--namespace", s.name, "--type", "json", "--patch-file", "/dev/stdin")
	out, err := s.procfit(ctx, "kube sweep deployment/served --repeats 1 --procs default,1,3 --rate 20 --trial-time 1s --max-errors 50%", "out").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "patch pods/ephemeralcontainers is not allowed") {
		t.Fatalf("%v: %s", err, out)
	}
	for _, tr := range s.told(s.trials("out")) {
		switch {
		case tr.ObservedSource != "metrics" || len(tr.ObservedProcs) != 1 || tr.ObservedProcs[0] == nil:
			t.Errorf("%s ran at %v (%s): %+v", tr.Setting.Label, tr.ObservedProcs, tr.ObservedSource, tr.Warnings)
		case tr.Setting.Procs != nil && *tr.ObservedProcs[0] != *tr.Setting.Procs:
			t.Errorf("%s ran at %d", tr.Setting.Label, *tr.ObservedProcs[0])
		}
	}
	s.empty(ctx)
}
