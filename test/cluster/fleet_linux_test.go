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

	"github.com/procfit/procfit/internal/verdict/fleet"
	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

const steeredImage = "procfit.test/steered:1"

// steered is a server that answers at once with GOMAXPROCS=1, and 50 requests per second with
// more: a difference that a few short trials prove on any machine.
var steered = built.Program{Name: "steered", Env: []string{"CGO_ENABLED=0"}, Files: map[string]string{
	"go.mod": "module steered\n\ngo 1.25\n",
	"main.go": `package main

import (
	"net/http"
	"runtime"
	"sync"
	"time"
)

func main() {
	var one sync.Mutex
	panic(http.ListenAndServe(":8080", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if runtime.GOMAXPROCS(0) > 1 {
			one.Lock()
			defer one.Unlock()
			time.Sleep(20 * time.Millisecond)
		}
	})))
}
`}}

// deployment is the manifest of a service of the fleet, with what its container has.
func deployment(name, env, limit string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %s}
spec:
  replicas: 0
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata:
      labels: {app: %[1]s}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: app
        image: %s%s
        ports: [{containerPort: 8080}]
        readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
        resources: {requests: {cpu: 10m}, limits: {cpu: %s}}
`, name, steeredImage, env, limit)
}

// fleetYAML is the file of the fleet. The services without a proof to come to are measured
// once. Pods of a tenth of a CPU are compared however busy others keep the machine.
const fleetYAML = `services:
  plain:
    cluster: {object: deployment/plain}
    manifest: deploy/plain.yaml
  pinned:
    cluster: {object: deployment/pinned}
    manifest: deploy/pinned.yaml
  limited:
    cluster: {object: deployment/limited}
    manifest: deploy/limited.yaml
  right:
    cluster: {object: deployment/right}
    manifest: deploy/right.yaml
    stop: {repeats: 1}
  unknown:
    cluster: {object: deployment/unknown}
    stop: {repeats: 1}
compare: {procs: [default, 1]}
load: {trialTime: "1s,warmup=200ms", connections: 2, maxErrors: 50%}
stop: {until: trials=24}
`

// TestFleet: five services are swept in turn. The values that are proven and not in their
// manifests are proposed on a branch, unless a manifest has another limit than the pods. Once
// that is merged, the next run finds nothing to change, and compares with this one.
func TestFleet(t *testing.T) {
	t.Parallel()
	if runtime.NumCPU() < 2 {
		t.Skip("needs a default above 1")
	}
	need.Command(t, "git")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	s := openShop(ctx, t, "fleet")
	must.OK(t, s.cluster.Load(ctx, steered.Run(t), steeredImage))
	repository := filepath.Join(s.dir, "repository")
	write := func(name, text string) {
		t.Helper()
		must.Write(t, filepath.Join(repository, name), text)
	}
	git := func(args ...string) string { return s.git(ctx, repository, args...) }
	for name, env := range map[string]string{"plain": "", "pinned": "\n        env: [{name: GOMAXPROCS, value: \"2\"}]", "limited": "", "right": "\n        env: [{name: GOMAXPROCS, value: \"1\"}]", "unknown": ""} {
		write("deploy/"+name+".yaml", deployment(name, env, "100m"))
	}
	kubectl(ctx, t, s.cluster, "", "apply", "--namespace", s.name, "-f", filepath.Join(repository, "deploy"))
	write("deploy/limited.yaml", deployment("limited", "", "200m")) // not what runs
	write("fleet.yaml", fleetYAML+fmt.Sprintf("cluster: {kubeconfig: %s, namespace: %s, image: %q}\n", s.kubeconfig, s.name, sweptImage))
	s.committed(ctx, repository)

	first := s.fleet(ctx, repository, 1)
	for _, of := range first.Services {
		proposed := of.Proposed
		switch of.Name {
		case "plain", "pinned":
			if of.Procs == nil || *of.Procs != 1 || proposed == nil || proposed.Commit == "" {
				t.Errorf("%s: %+v, %+v", of.Name, of, proposed)
			}
		case "limited":
			if proposed == nil || !strings.Contains(proposed.Refused, "procfit check would report PF061: its CPU limit is 0.2 CPUs, ") {
				t.Errorf("%s: %+v, %+v", of.Name, of, proposed)
			}
		default:
			if proposed != nil {
				t.Errorf("%s: %+v", of.Name, proposed)
			}
		}
		if _, err := os.Stat(filepath.Join(repository, "results/fleet", of.Folder, "report.html")); err != nil || of.Failed != "" || of.Since != nil {
			t.Errorf("%s: %v: %+v", of.Name, err, of)
		}
	}
	page, err := os.ReadFile(filepath.Join(repository, "results/fleet/RESULTS.md"))
	if err != nil || strings.Count(string(page), "\n| ") < 6 {
		t.Errorf("%v: %s", err, page)
	}
	if log := git("log", "--format=%s", "main..procfit/fleet"); log != "pinned: GOMAXPROCS=1\nplain: GOMAXPROCS=1\n" {
		t.Errorf("the branch has %s", log)
	}
	if status := git("status", "--porcelain", "--untracked-files=no") + git("rev-parse", "--abbrev-ref", "HEAD"); status != "main\n" {
		t.Errorf("in the folder: %s", status)
	}

	git("merge", "--quiet", "--ff-only", "procfit/fleet")
	kubectl(ctx, t, s.cluster, "", "apply", "--namespace", s.name, "-f", filepath.Join(repository, "deploy/plain.yaml"), "-f", filepath.Join(repository, "deploy/pinned.yaml"))
	whole := must.Read(t, filepath.Join(repository, "fleet.yaml"))
	before, after, _ := strings.Cut(whole, "  limited:\n")
	_, after, _ = strings.Cut(after, "compare:")
	write("fleet.yaml", before+"compare:"+after)
	git("commit", "--quiet", "--all", "--message=two of them")
	second := s.fleet(ctx, repository, 0)
	if len(second.Services) != 2 || second.Branch != "" {
		t.Errorf("%+v", second)
	}
	for _, of := range second.Services { // at a tenth of a CPU few requests are sent, and their latency may not be judged
		i := slices.IndexFunc(first.Services, func(then fleet.Service) bool { return then.Name == of.Name })
		if then := of.Since; then == nil || then.Folder != first.Services[i].Folder || then.Moved || then.NotCompared != "" && !strings.HasPrefix(then.NotCompared, "latency, ") || of.Manifest.Procs == nil || *of.Manifest.Procs != 1 {
			t.Errorf("%s: %+v, %+v", of.Name, of.Manifest, then)
		}
	}
	s.empty(ctx)
}

// git runs it in a folder.
func (s *shop) git(ctx context.Context, dir string, args ...string) string {
	s.Helper()
	return must.Output(s, exec.CommandContext(ctx, "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...))
}

// committed makes a folder a repository with all that is in it.
func (s *shop) committed(ctx context.Context, dir string) {
	s.git(ctx, dir, "init", "--quiet", "--initial-branch=main")
	s.git(ctx, dir, "add", ".")
	s.git(ctx, dir, "commit", "--quiet", "--message=all")
}

// fleet runs procfit fleet, which must end with the code; 0 may be 1 where a value is proven
// worse than the last time, as on a machine that others keep busy.
func (s *shop) fleet(ctx context.Context, repository string, code int) (o fleet.Outcome) {
	s.Helper()
	cmd := exec.CommandContext(ctx, s.program, "fleet", "--yes", "--propose")
	cmd.Dir = repository
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
	out, err := cmd.CombinedOutput()
	s.Logf("%s", out)
	b, failed := os.ReadFile(filepath.Join(repository, "results/fleet/fleet.json"))
	if failed = errors.Join(failed, json.Unmarshal(b, &o)); failed != nil {
		s.Fatalf("%v, %v: %s", err, failed, out)
	}
	worse := o.Count(func(of *fleet.Service) bool { return of.Since != nil && len(of.Since.Worse) > 0 }) > 0
	if got := cmd.ProcessState.ExitCode(); got != code && !(worse && got == 1) {
		s.Errorf("exit code %d, want %d", got, code)
	}
	return o
}
