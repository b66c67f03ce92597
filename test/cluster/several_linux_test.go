package cluster_test

import (
	"bytes"
	"context"
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
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// A node whose kubelet says nothing any more makes its trial invalid, and the sweep waits
// for it and goes on; a trial that was lost so is run again by the next.
func TestSweepNodeLost(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	s := openShop(ctx, t, "lost")
	run := s.sweep(ctx, "out", "--node", "node2", "--trial-time", "6s")
	must.OK(t, run.Start())
	s.target(ctx)
	kubelet := s.kubelet("node2")
	must.OK(t, syscall.Kill(kubelet, syscall.SIGSTOP))
	resume := func() { syscall.Kill(kubelet, syscall.SIGCONT) }
	t.Cleanup(resume)
	for ready := "True"; ready == "True"; time.Sleep(time.Second) {
		ready = strings.TrimSpace(kubectl(ctx, t, s.cluster, "", "get", "node", "node2", "--output", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`))
	}
	resume()
	if err := run.Wait(); err != nil {
		t.Errorf("%v", err)
	}
	lost := 0
	s.told(slices.DeleteFunc(s.trials("out"), func(tr journal.Trial) bool {
		is := tr.InvalidCode == journal.InvalidNodeLost
		if is && (!tr.NotStarted || !strings.Contains(tr.InvalidReason, "node2")) {
			t.Errorf("%+v", tr)
		}
		if is {
			lost++
		}
		return is
	}))
	if lost != 1 {
		t.Errorf("%d trials lost their node, want 1", lost)
	}
	s.empty(ctx)
	must.Output(t, s.sweep(ctx, "out", "--node", "node2", "--trial-time", "6s"))
	trials := s.trials("out")
	if s.told(trials); len(trials) != 3 { // of the one that was lost the one that stands for it
		t.Errorf("%d trials, want three", len(trials))
	}
}

// TestSetKubelet calls into the kubelet of a node, which then starts and ends the pods of a
// sweep as before.
func TestSetKubelet(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	s := openShop(ctx, t, "steered")
	kubelet, n := strconv.Itoa(s.kubelet("node2")), 20
	if need.Whole() {
		n = 1000
	}
	values := []string{"1", "3", "4", "auto"}
	for i := range n {
		value := values[i%len(values)]
		must.Output(t, exec.CommandContext(ctx, s.program, "set", kubelet, value, "--yes"))
	}
	must.Output(t, s.sweep(ctx, "out", "--node", "node2"))
	s.told(s.trials("out"))
	if now := strconv.Itoa(s.kubelet("node2")); now != kubelet {
		t.Errorf("the kubelet was process %s and is %s", kubelet, now)
	}
}

// kubelet is a node's.
func (s *shop) kubelet(node string) int {
	s.Helper()
	out, err := exec.Command("pgrep", "-f", "kubelet --config "+node+"/kubelet.yaml .*"+filepath.Dir(s.cluster.Kubeconfig)+"/").Output()
	pids := strings.Fields(string(out))
	if err != nil || len(pids) != 1 {
		s.Fatalf("kubelets of %s: %v, %v", node, pids, err)
	}
	return must.Get(strconv.Atoi(pids[0]))(s)
}

const job = `
apiVersion: batch/v1
kind: CronJob
metadata: {name: import}
spec:
  schedule: "0 3 * * *"
  suspend: true
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          containers:
          - name: import
            image: ` + sweptImage + `
            args: [lab, program, contention, -goroutines, "1", -n, "150000000"]
            resources: {requests: {cpu: 10m}, limits: {cpu: 1}}
`

// A CronJob's runs are trials: their time, CPU time and GOMAXPROCS are those of the
// program, and one that fails says how.
func TestSweepOfJobs(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := openShop(ctx, t, "jobs")
	kubectl(ctx, t, s.cluster, job, "apply", "--namespace", s.name, "-f", "-")
	sweep := func(out, object string, args ...string) *exec.Cmd {
		return s.procfit(ctx, "kube sweep "+object+" --repeats 1 --procs default,1", out, args...)
	}
	must.Output(t, sweep("out", "cronjob/import", "--replicas", "2"))
	trials := s.trials("out")
	if len(trials) != 3 {
		t.Errorf("%d trials", len(trials))
	}
	for _, tr := range trials {
		switch {
		case !tr.Valid || tr.ThroughputUnit != "runs" || len(tr.Pods) != 2:
			t.Errorf("%s: %+v", tr.Setting.Label, tr)
		case tr.CPUSeconds == nil || tr.CPUSeconds.Total() <= 0 || tr.MeasuredSeconds <= 0 || tr.MeasuredSeconds > tr.DurationSeconds:
			t.Errorf("%s: %+v in %g s", tr.Setting.Label, tr.CPUSeconds, tr.MeasuredSeconds)
		case tr.ObservedProcs[0] == nil || tr.ObservedSource != "symbol" || tr.Setting.Procs != nil && *tr.ObservedProcs[0] != *tr.Setting.Procs:
			t.Errorf("%s ran at %v (%s): %+v", tr.Setting.Label, tr.ObservedProcs, tr.ObservedSource, tr.Warnings)
		}
	}
	s.empty(ctx)
	broken := strings.Replace(strings.Replace(job, `"150000000"`, `"x"`, 1), "name: import}", "name: broken}", 1)
	kubectl(ctx, t, s.cluster, broken, "apply", "--namespace", s.name, "-f", "-")
	out, err := sweep("broken", "cronjob/broken", "--procs", "1").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "container import of pod procfit-") || !strings.Contains(string(out), "ended with code 2") {
		t.Errorf("%v: %s", err, out)
	}
	s.empty(ctx)
}

// A run that goes on measures the program that it began with, or nothing: its image may
// have been pushed again under its tag.
func TestSweepOfAnotherImage(t *testing.T) {
	ctx := limit(t)
	s := openShop(ctx, t, "another")
	must.Output(t, s.sweep(ctx, "out"))
	journal := filepath.Join(s.dir, "out", "journal.jsonl")
	lines := must.Get(os.ReadFile(journal))(t)
	before := bytes.SplitAfter(lines, []byte("\n"))
	must.OK(t, os.WriteFile(journal, bytes.Join(before[:3], nil), 0o600)) // the header and two trials
	program := must.Get(os.ReadFile(s.program))(t)
	other := filepath.Join(s.dir, "other")
	must.OK(t, os.WriteFile(other, append(program, "another"...), 0o755))
	shared.loaded = false // from now on it is another
	s.load(ctx, "--binary", other)
	out, err := s.sweep(ctx, "out").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "but the earlier trials ran") || len(s.trials("out")) != 2 {
		t.Errorf("%v: %s", err, out)
	}
	s.empty(ctx)
}
