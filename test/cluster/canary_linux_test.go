package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/paired"
	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/cluster"
	"github.com/procfit/procfit/test/must"
)

// openCanary is a shop whose Service has two pods and traffic, on kept connections or on
// new ones, and who may have a canary there by the roles of deploy and no more.
func openCanary(ctx context.Context, t *testing.T, name string, kept bool) *shop {
	t.Helper()
	s := openShop(ctx, t, name)
	kubectl(ctx, t, s.cluster, "", "apply", "--namespace", name, "-f", "../../deploy/kubernetes/canary.yaml")
	kubectl(ctx, t, s.cluster, "", "create", "rolebinding", "canary", "--namespace", name, "--role", "procfit-canary", "--serviceaccount", name+":sweeper")
	if !kept { // a program with a Meter
		metered(ctx, t, s.cluster)
		kubectl(ctx, t, s.cluster, `{"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "`+meteredImage+`", "args": []}]}}}}`, "patch", "deployment", "api", "--namespace", name, "--patch-file", "/dev/stdin")
	}
	kubectl(ctx, t, s.cluster, "", "scale", "deployment/api", "--namespace", name, "--replicas", "2")
	s.traffic(s.reached(ctx), kept)
	return s
}

// reached is where the Service is reached from outside, once its pods are there.
func (s *shop) reached(ctx context.Context) string {
	kubectl(ctx, s.T, s.cluster, `{"spec": {"type": "NodePort"}}`, "patch", "service", "api", "--namespace", s.name, "--patch-file", "/dev/stdin")
	kubectl(ctx, s.T, s.cluster, "", "rollout", "status", "deployment/api", "--namespace", s.name, "--timeout=180s")
	port := kubectl(ctx, s.T, s.cluster, "", "get", "service", "api", "--namespace", s.name, "--output", "jsonpath={.spec.ports[0].nodePort}")
	server := must.Get(url.Parse(s.cluster.Server))(s)
	return fmt.Sprintf("http://%s:%s/", server.Hostname(), port)
}

const meteredImage = "procfit.test/metered:1"

// metered imports the image of a server that has the Meter of maxprocs/live.
func metered(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	t.Helper()
	files := map[string]string{
		"go.mod": "module metered\n\ngo 1.21\n\nrequire github.com/procfit/procfit/maxprocs v0.0.0\n\nreplace github.com/procfit/procfit/maxprocs => ./maxprocs\n",
		"main.go": `package main

import (
	"crypto/sha256"
	"log"
	"net"
	"net/http"

	"github.com/procfit/procfit/maxprocs/live"
)

func main() {
	var meter live.Meter
	l, err := net.Listen("tcp", ":8080")
	if err != nil {
		log.Fatal(err)
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sum := [32]byte{}
		for range [3000]int{} {
			sum = sha256.Sum256(sum[:])
		}
		w.Write(sum[:])
	})
	log.Fatal((&http.Server{Handler: meter.Middleware(handler), ConnContext: meter.ConnContext}).Serve(meter.Listener(l)))
}
`}
	for name, text := range built.Dir(t, "../../maxprocs") {
		files["maxprocs/"+name] = text
	}
	program := built.Program{Name: "metered", Files: files, Env: []string{"CGO_ENABLED=0"}}.Run(t)
	must.OK(t, c.Load(ctx, program, meteredImage))
}

// traffic continues until the test ends. Unless connections are kept, every request has
// one of its own, so that new pods get their share.
func (s *shop) traffic(to string, kept bool) {
	ctx, cancel := context.WithCancel(context.Background())
	s.Cleanup(cancel)
	// A pod that goes may leave a request, or a new connection, without an answer.
	timeout, most := 5*time.Second, 0
	if kept {
		timeout, most = time.Minute, 1
	}
	for range 4 {
		// Each has its own transport: one that is shared may open another connection.
		client := &http.Client{Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: !kept, MaxConnsPerHost: most}}
		go func() {
			for ctx.Err() == nil {
				if r, err := client.Get(to); err == nil {
					io.Copy(io.Discard, r.Body)
					r.Body.Close()
				}
				time.Sleep(50 * time.Millisecond)
			}
		}()
	}
}

// canary is procfit kube canary, not yet started.
func (s *shop) canary(ctx context.Context, out string, args ...string) *exec.Cmd {
	return s.procfit(ctx, "kube canary deployment/api --share 50% --procs 1 --slice 4s --for 24s,warmup=2s", out, args...)
}

func (s *shop) seen(out string) *journal.Contents {
	s.Helper()
	read := must.Get(journal.ReadDirectory(filepath.Join(s.dir, out)))(s)
	if read.Header.Canary == nil {
		s.Fatalf("%s has the journal of another sweep", out)
	}
	return read
}

// A canary serves beside the user's pods, is counted by what the kernel has of its pods,
// and goes. A query above the control's ends it.
func TestCanary(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := openCanary(ctx, t, "canary", false)
	out, err := s.canary(ctx, "dry", "--dry-run").Output()
	if err != nil || !strings.Contains(string(out), "activeDeadlineSeconds:") || !strings.Contains(string(out), "app: api") {
		t.Errorf("--dry-run: %v: %s", err, out)
	}
	s.empty(ctx)
	both, err := s.canary(ctx, "out").CombinedOutput()
	t.Logf("%s", both)
	must.OK(t, err)
	c := s.seen("out")
	if c.End == nil || c.End.Code != journal.EndComplete || len(c.Trials) != 12 {
		t.Fatalf("%d trials, the end %+v", len(c.Trials), c.End)
	}
	served := map[string]float64{}
	for _, a := range c.Trials {
		label, want := a.Setting.Label, a.Setting.Procs
		if len(a.Pods) != 1 || len(a.ObservedProcs) != 1 || a.ObservedProcs[0] == nil || want != nil && *a.ObservedProcs[0] != *want {
			t.Errorf("slice %d, %s: pods %v at %v: %v", a.Block, label, a.Pods, a.ObservedProcs, a.Warnings)
		}
		_, latency := a.Metrics[canary.FigureSched]
		_, arrival := a.Metrics[paired.FigureP99]
		if requests := a.Metrics[canary.Requests].Value; requests < 5 || !arrival {
			t.Errorf("slice %d, %s: its Meter has %g requests: %v", a.Block, label, requests, a.Metrics)
		}
		if a.CPUSeconds == nil || a.RunQueueWaitSeconds == nil || a.Cgroup == nil || !latency {
			t.Errorf("slice %d, %s: %+v: %v", a.Block, label, a.Usage, a.Warnings)
			continue
		}
		served[label] += a.CPUSeconds.Total()
	}
	for _, label := range []string{canary.Control, "1"} {
		if served[label] <= 0.01 {
			t.Errorf("%s used %g s of CPU time: no traffic came to it", label, served[label])
		}
	}
	s.empty(ctx)
	if left := kubectl(ctx, t, s.cluster, "", "get", "deployment", "api", "--namespace", s.name, "--output", "jsonpath={.status.readyReplicas}"); left != "2" {
		t.Errorf("%s of the user's own two pods are ready", left)
	}

	prometheus := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		value := "0.01"
		if strings.Contains(r.FormValue("query"), `-2"`) { // the second pod of a run: the control is the first
			value = "0.02"
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,%q]}]}}`, value)
	}))
	defer prometheus.Close()
	both, err = s.canary(ctx, "harm", "--prometheus", prometheus.URL, "--query", `p99=slow{pod=~"$pods"}`).CombinedOutput()
	if c := s.seen("harm"); err != nil || c.End == nil || c.End.Harm == nil || c.End.Harm.Setting != "1" || c.End.Harm.Code != journal.HarmQuery || len(c.Trials) != 10 { // 8 without a Meter, whose p99 and failures are looked at too
		t.Errorf("%v: %+v: %s", err, c.End, both)
	}
	s.empty(ctx)
}

// A canary that no request reaches, since all clients keep the connections that they had
// before it, ends early and says so.
func TestCanaryUnreached(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := openCanary(ctx, t, "unreached", true)
	both, err := s.canary(ctx, "out", "--for", "40s").CombinedOutput()
	t.Logf("%s", both)
	if failed := (*exec.ExitError)(nil); !errors.As(err, &failed) || failed.ExitCode() != 3 {
		t.Errorf("%v: nothing was compared", err)
	}
	c := s.seen("out")
	if c.End == nil || c.End.Code != journal.EndUnreached || len(c.Trials) >= 20 {
		t.Errorf("%d trials, the end %+v", len(c.Trials), c.End)
	}
	if !strings.Contains(string(both), "No requests") || !strings.Contains(string(both), "keep") {
		t.Error("neither that no request came nor the likely cause is named")
	}
	s.empty(ctx)
}

// A canary that is interrupted leaves nothing, and what a killed one leaves serves on until
// it is removed.
func TestCanaryEnded(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := openCanary(ctx, t, "canaried", false)
	for i, end := range []os.Signal{os.Interrupt, os.Kill} {
		run := s.canary(ctx, fmt.Sprint("out", i), "--for", "10m")
		must.OK(t, run.Start())
		for ctx.Err() == nil {
			pods := kubectl(ctx, t, s.cluster, "", "get", "pods", "--namespace", s.name, "-l", "procfit.dev/role=canary", "--field-selector", "status.phase=Running", "-o", "name")
			if len(strings.Fields(pods)) == 2 {
				break
			}
			time.Sleep(200 * time.Millisecond)
		}
		run.Process.Signal(end)
		run.Wait() // by a signal, or with its code
		if end == os.Kill {
			s.clean(ctx)
		}
		s.empty(ctx)
	}
}
