package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/cluster"
	"github.com/procfit/procfit/test/must"
)

const sweptImage = "procfit.test/swept:1"

// shop is a namespace with a service in it, and who may sweep there: the role of
// deploy/kubernetes/sweep.yaml and no more.
type shop struct {
	*testing.T
	cluster    *cluster.Cluster
	name       string
	kubeconfig string
	program    string
	dir        string
}

const shopService = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api, team: shop}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: app
        image: ` + sweptImage + `
        args: [lab, serve, cpuserver, --addr, ":8080"]
        ports: [{containerPort: 8080}]
        readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
        resources: {requests: {cpu: 10m}, limits: {cpu: 1}}
---
apiVersion: v1
kind: Service
metadata: {name: api}
spec: {selector: {app: api}, ports: [{port: 80, targetPort: 8080}]}
`

func openShop(ctx context.Context, t *testing.T, name string) *shop {
	t.Helper()
	c := running(t)
	s := &shop{T: t, cluster: c, name: name, program: procfit(t), dir: t.TempDir()}
	s.loadOnce(ctx)
	namespace(ctx, t, c, name)
	kubectl(ctx, t, c, shopService, "apply", "--namespace", name, "-f", "-")
	kubectl(ctx, t, c, "", "apply", "--namespace", name, "-f", "../../deploy/kubernetes/sweep.yaml")
	kubectl(ctx, t, c, "", "create", "serviceaccount", "sweeper", "--namespace", name)
	account := name + ":sweeper"
	kubectl(ctx, t, c, "", "create", "rolebinding", "sweeper", "--namespace", name, "--role", "procfit-sweep", "--serviceaccount", account)
	kubectl(ctx, t, c, "", "create", "clusterrolebinding", "sweeper-"+name, "--clusterrole", "procfit-sweep", "--serviceaccount", account)
	s.kubeconfig = as(ctx, t, c, "sweeper", name)
	return s
}

// loadOnce is for the image that the tests share.
func (s *shop) loadOnce(ctx context.Context) {
	s.Helper()
	shared.image.Lock()
	defer shared.image.Unlock()
	if !shared.loaded {
		s.load(ctx)
		shared.loaded = true
	}
}

// load gives the nodes the image that procfit image makes, with what else is asked of it.
func (s *shop) load(ctx context.Context, args ...string) {
	s.Helper()
	archive := filepath.Join(s.dir, "procfit.tar")
	must.Output(s, exec.CommandContext(ctx, s.program, append([]string{"kube", "image", "--archive", archive, "--tag", sweptImage}, args...)...))
	must.OK(s, s.cluster.LoadArchive(ctx, must.Get(os.ReadFile(archive))(s)))
}

// procfit is one of its commands, as who may sweep there, not yet started.
func (s *shop) procfit(ctx context.Context, command, out string, args ...string) *exec.Cmd {
	all := append(strings.Fields(command), "--kubeconfig", s.kubeconfig, "--namespace", s.name, "--image", sweptImage, "--yes", "--out", filepath.Join(s.dir, out))
	return exec.CommandContext(ctx, s.program, append(all, args...)...)
}

func (s *shop) sweep(ctx context.Context, out string, args ...string) *exec.Cmd {
	return s.procfit(ctx, "kube sweep deployment/api --repeats 1 --procs default,1 --rate 50 --trial-time 1s --max-errors 50%", out, args...)
}

// trials are those of a run's journal.
func (s *shop) trials(out string) []journal.Trial {
	s.Helper()
	return must.Get(journal.ReadDirectory(filepath.Join(s.dir, out)))(s).Trials
}

// empty fails where anything of ours is left.
func (s *shop) empty(ctx context.Context) {
	s.Helper()
	if left := kubectl(ctx, s.T, s.cluster, "", "get", "pods,configmaps", "--namespace", s.name, "-l", "app.kubernetes.io/managed-by=procfit", "-o", "name"); strings.TrimSpace(left) != "" {
		s.Errorf("left behind: %s", left)
	}
}

// clean removes what is left.
func (s *shop) clean(ctx context.Context) {
	s.Helper()
	if out, err := exec.CommandContext(ctx, s.program, "kube", "clean", "--kubeconfig", s.kubeconfig, "--namespace", s.name).CombinedOutput(); err != nil {
		s.Errorf("kube clean: %v: %s", err, out)
	}
	s.empty(ctx)
}

// target waits for a target that runs.
func (s *shop) target(ctx context.Context) string {
	s.Helper()
	for ctx.Err() == nil {
		pods := strings.Fields(kubectl(ctx, s.T, s.cluster, "", "get", "pods", "--namespace", s.name, "-l", "procfit.dev/role=target", "--field-selector", "status.phase=Running", "-o", "name"))
		if len(pods) > 0 {
			return pods[0]
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.Fatal("no target came to run")
	return ""
}

// process is one of the cluster's own, all of which run in its folder.
func (s *shop) process(name string) int {
	s.Helper()
	entries := must.Get(os.ReadDir("/proc"))(s)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		dir, _ := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		command, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if dir == filepath.Dir(s.cluster.Kubeconfig) && filepath.Base(string(bytes.SplitN(command, []byte{0}, 2)[0])) == name {
			return pid
		}
	}
	s.Fatalf("the cluster runs no %s", name)
	return 0
}

// told are the valid trials. With a control plane, two nodes and other tests on the same
// two CPUs a pod under a limit may answer nothing for seconds; then its trial proves
// nothing, and says so. Half of them are to tell something, and none may fail otherwise.
func (s *shop) told(trials []journal.Trial) (valid []journal.Trial) {
	s.Helper()
	for _, tr := range trials {
		switch {
		case tr.Valid:
			valid = append(valid, tr)
		case tr.InvalidCode == journal.InvalidNoAnswer || tr.InvalidCode == journal.InvalidStolen || tr.InvalidCode == journal.InvalidErrors:
			s.Logf("%s: %s", tr.Setting.Label, tr.InvalidReason)
		default:
			s.Errorf("%s: %s %s", tr.Setting.Label, tr.InvalidCode, tr.InvalidReason)
		}
	}
	if 2*len(valid) < len(trials) {
		s.Errorf("%d of %d trials are valid", len(valid), len(trials))
	}
	return valid
}

// A sweep over two limits, by who may do no more than the role of deploy says: each
// trial proves at which value it ran, and under which limit.
func TestSweepOfPods(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := openShop(ctx, t, "swept")
	must.Output(t, s.sweep(ctx, "out", "--limit", "0.5,1"))
	trials := s.trials("out")
	if len(trials) != 6 {
		t.Errorf("%d trials", len(trials))
	}
	for _, tr := range s.told(trials) {
		switch {
		case tr.Origin != journal.OriginKube || len(tr.Pods) != 1 || tr.Pods[0].CPULimit == nil || *tr.Pods[0].CPULimit != *tr.Setting.QuotaCPUs || tr.Pods[0].ImageID == "":
			t.Errorf("%s: %+v", tr.Setting.Label, tr.Pods)
		case len(tr.ObservedProcs) != 1 || tr.ObservedProcs[0] == nil || tr.ObservedSource != "symbol":
			t.Errorf("%s ran at %v (%s): %+v", tr.Setting.Label, tr.ObservedProcs, tr.ObservedSource, tr.Warnings)
		case tr.Setting.Procs != nil && *tr.ObservedProcs[0] != *tr.Setting.Procs:
			t.Errorf("%s ran at %d", tr.Setting.Label, *tr.ObservedProcs[0])
		case tr.Log == "":
			t.Errorf("%s has no log", tr.Setting.Label)
		}
	}
	s.empty(ctx)
	// The same with two behind one load.
	must.Output(t, s.sweep(ctx, "two", "--limit", "0.5", "--replicas", "2", "--procs", "1"))
	for _, tr := range s.told(s.trials("two")) {
		if len(tr.Pods) != 2 || *tr.Pods[1].CPULimit != 0.5 {
			t.Errorf("two: %+v", tr.Pods)
		}
	}
	s.empty(ctx)
}

// Without the rights nothing is made, and they are named.
func TestSweepWithoutRights(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := openShop(ctx, t, "rights")
	kubectl(ctx, t, s.cluster, `[{"op": "replace", "path": "/rules/0/verbs", "value": ["get", "list"]}]`, "patch", "role", "procfit-sweep", "--namespace", s.name, "--type", "json", "--patch-file", "/dev/stdin")
	out, err := s.sweep(ctx, "out").CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("not allowed in namespace rights (a role with these permissions: deploy/kubernetes/sweep.yaml): create pods; delete pods")) {
		t.Errorf("%v: %s", err, out)
	}
	s.empty(ctx)
}

// Whatever ends a run leaves nothing that the next, or kube clean, does not take away, and
// what was measured is gone on with.
func TestSweepEnded(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := openShop(ctx, t, "ended")
	run := s.sweep(ctx, "out", "--trial-time", "4s")
	must.OK(t, run.Start())
	s.target(ctx)
	run.Process.Signal(os.Interrupt)
	var exit *exec.ExitError
	if err := run.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 && exit.ExitCode() != 3 {
		t.Errorf("interrupted: %v", err)
	}
	s.empty(ctx)
	run = s.sweep(ctx, "out", "--trial-time", "4s")
	must.OK(t, run.Start())
	s.target(ctx)
	run.Process.Kill()
	run.Wait()
	s.clean(ctx)
	must.Output(t, s.sweep(ctx, "out", "--trial-time", "4s"))
	if n := len(s.trials("out")); n != 3 {
		t.Errorf("%d trials", n)
	}
}

// A target that is taken away makes its trial invalid, and no other.
func TestSweepEvicted(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := openShop(ctx, t, "evicted")
	run := s.sweep(ctx, "out", "--trial-time", "6s")
	must.OK(t, run.Start())
	pod := strings.TrimPrefix(s.target(ctx), "pod/")
	eviction := fmt.Sprintf(`{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": %q}}`, pod)
	kubectl(ctx, t, s.cluster, eviction, "create", "--raw", "/api/v1/namespaces/"+s.name+"/pods/"+pod+"/eviction", "-f", "-")
	if err := run.Wait(); err != nil {
		t.Errorf("%v", err)
	}
	evicted := 0
	s.told(slices.DeleteFunc(s.trials("out"), func(tr journal.Trial) bool {
		if tr.InvalidCode == journal.InvalidEvicted {
			evicted++
		}
		return tr.InvalidCode == journal.InvalidEvicted
	}))
	if evicted != 1 {
		t.Errorf("%d trials were evicted, want 1", evicted)
	}
	s.empty(ctx)
}

// procfit reports a cluster that refuses the pods, or changes them, before any is made.
func TestSweepRefused(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := openShop(ctx, t, "refused")
	const policy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: procfit-refused}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "!has(object.metadata.labels) || !('procfit.dev/run' in object.metadata.labels)", message: "no copies here"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: procfit-refused}
spec: {policyName: procfit-refused, validationActions: [Deny], matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: refused}}}}
`
	kubectl(ctx, t, s.cluster, policy, "apply", "-f", "-")
	t.Cleanup(func() {
		s.cluster.Kubectl(context.Background(), strings.NewReader(policy), "delete", "--wait=false", "-f", "-")
	})
	for { // it takes the API server a while to hold to it
		out, err := s.sweep(ctx, "out", "--dry-run").CombinedOutput()
		if err != nil && bytes.Contains(out, []byte("no copies here")) {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	kubectl(ctx, t, s.cluster, "", "delete", "validatingadmissionpolicybinding", "procfit-refused")
	limits := `{"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": [{"type": "Container", "default": {"cpu": "700m"}}]}}`
	kubectl(ctx, t, s.cluster, limits, "apply", "--namespace", s.name, "-f", "-")
	for {
		out, err := s.sweep(ctx, "out", "--limit", "none").CombinedOutput()
		if err != nil && bytes.Contains(out, []byte("the CPU limit is 0.7 instead of none")) {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	s.empty(ctx)
}

// An API server that is away for 20 s costs no trial: the load goes on without it.
func TestSweepWithoutServer(t *testing.T) {
	ctx := limit(t)
	s := openShop(ctx, t, "away")
	run := s.sweep(ctx, "out", "--trial-time", "4s")
	must.OK(t, run.Start())
	s.target(ctx)
	server := s.process("kube-apiserver")
	must.OK(t, syscall.Kill(server, syscall.SIGSTOP))
	time.Sleep(20 * time.Second)
	must.OK(t, syscall.Kill(server, syscall.SIGCONT))
	if err := run.Wait(); err != nil {
		t.Errorf("%v", err)
	}
	s.told(s.trials("out"))
	s.empty(ctx)
}
