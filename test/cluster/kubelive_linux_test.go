package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// tried is a shop whose only pod has traffic, and the Go program of that pod as this machine
// sees it.
type tried struct {
	*shop
	pod    string
	pid    int
	reader observe.Reader
}

// value is GOMAXPROCS, and whether something has set it.
type value struct {
	procs  int
	custom bool
}

func openTried(ctx context.Context, t *testing.T, name string) *tried {
	t.Helper()
	s := &tried{shop: openShop(ctx, t, name)}
	s.traffic(s.reached(ctx), true)
	s.pod = kubectl(ctx, t, s.cluster, "", "get", "pods", "--namespace", name, "--selector", "app=api", "--output", "jsonpath={.items[0].metadata.name}")
	_, container, found := strings.Cut(s.seenOf(ctx, ".status.containerStatuses[0].containerID"), "://")
	groups, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil || !found {
		t.Fatalf("pod %s: container %q, %v", s.pod, container, err)
	}
	for _, group := range groups {
		if b, err := os.ReadFile(group); err == nil && bytes.Contains(b, []byte(container)) {
			s.pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(group)))
			return s
		}
	}
	t.Fatalf("no process is in the cgroup of container %s", container)
	return nil
}

// seenOf is what the API server has of the pod.
func (s *tried) seenOf(ctx context.Context, path string) string {
	s.Helper()
	return kubectl(ctx, s.T, s.cluster, "", "get", "pod", s.pod, "--namespace", s.name, "--output", "jsonpath={"+path+"}")
}

func (s *tried) value() value {
	s.Helper()
	live, err := s.reader.Live(s.pid)
	if err != nil || live.Custom == nil {
		s.Fatalf("the value of process %d cannot be read: %+v, %v", s.pid, live, err)
	}
	return value{live.Procs, *live.Custom}
}

// ended reports that procfit's container has ended; it fails where that was not by itself.
func (s *tried) ended(ctx context.Context) bool {
	s.Helper()
	code := s.seenOf(ctx, ".status.ephemeralContainerStatuses[0].state.terminated.exitCode")
	if code != "" && code != "0" {
		s.Fatalf("procfit's container ended with code %s", code)
	}
	return code == "0"
}

// live is procfit kube live, not yet started.
func (s *shop) live(ctx context.Context, args ...string) *exec.Cmd {
	return s.procfit(ctx, "kube live deployment/api --procs 1,2 --baseline 10s", "out", args...)
}

// changed starts an experiment, and returns when the program has another value than before.
// The exit is sent once.
func (s *tried) changed(run *exec.Cmd, before value) (said *bytes.Buffer, exit <-chan error) {
	s.Helper()
	said = new(bytes.Buffer)
	run.Stdout, run.Stderr = said, said
	must.OK(s, run.Start())
	over := make(chan error, 1)
	go func() { over <- run.Wait() }()
	for s.value() == before {
		select {
		case err := <-over:
			s.Fatalf("it ended before another value was tried: %v: %s", err, said)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return said, over
}

// Values are tried in a pod that runs, by who may do no more than the role of deploy: the
// journal and the report are here, and the program has the value that it had, and follows its
// CPU limit as it did.
func TestKubeLive(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := openTried(ctx, t, "tried")
	before := s.value()
	said, exit := s.changed(s.live(ctx, "--slice", "1s", "--burn-in", "500ms", "--for", "40s"), before)
	if err := <-exit; err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	t.Logf("%s", said)
	if now := s.value(); now != before {
		t.Errorf("GOMAXPROCS is %+v, and was %+v", now, before)
	}
	for !s.ended(ctx) {
		time.Sleep(200 * time.Millisecond)
	}
	c := must.Get(journal.ReadDirectory(filepath.Join(s.dir, "out")))(t)
	if c.Header.Live == nil || c.Header.Live.Start != before.procs || c.End == nil || c.End.Code != journal.EndComplete && c.End.Code != journal.EndDecided {
		t.Errorf("the journal has %+v and the end %+v", c.Header.Live, c.End)
	}
	slices := map[int]int{}
	for _, tr := range c.Trials {
		if tr.Role == journal.RoleMeasure && tr.Valid {
			slices[*tr.Setting.Procs]++
		}
	}
	if slices[1] == 0 || slices[2] == 0 {
		t.Errorf("slices by value: %v of %d trials", slices, len(c.Trials))
	}
	if _, err := os.Stat(filepath.Join(s.dir, "out", "report.html")); err != nil {
		t.Error(err)
	}
}

// A namespace that forbids the capability is reported, and its pod stays as it is.
func TestKubeLiveRefused(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := openShop(ctx, t, "baseline")
	kubectl(ctx, t, s.cluster, "", "rollout", "status", "deployment/api", "--namespace", s.name, "--timeout=180s")
	kubectl(ctx, t, s.cluster, "", "label", "namespace", s.name, "pod-security.kubernetes.io/enforce=baseline")
	for s.live(ctx, "--dry-run").Run() == nil { // it takes the API server a while to hold to it
		time.Sleep(200 * time.Millisecond)
	}
	out, err := s.live(ctx).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !bytes.Contains(out, []byte("procfit: the pod security level of namespace baseline forbids SYS_PTRACE: ")) ||
		!bytes.Contains(out, []byte("violates PodSecurity")) || !bytes.Contains(out, []byte("kube canary does not need this right")) {
		t.Errorf("%v: %s", err, out)
	}
	if added := kubectl(ctx, t, s.cluster, "", "get", "pods", "--namespace", s.name, "--output", "jsonpath={.items[*].spec.ephemeralContainers}"); added != "" {
		t.Errorf("added to the pod: %s", added)
	}
}

// A procfit that is killed leaves the program with its own value within a minute. Its slices
// are so long that the experiment would take more than that.
func TestKubeLiveKilled(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := openTried(ctx, t, "orphaned")
	before := s.value()
	run := s.live(ctx, "--slice", "5s", "--burn-in", "2s", "--for", "10m")
	_, exit := s.changed(run, before)
	must.OK(t, run.Process.Kill())
	killed := time.Now()
	<-exit
	last := killed
	for !s.ended(ctx) {
		if s.value() != before {
			last = time.Now()
		}
		time.Sleep(100 * time.Millisecond)
	}
	if now := s.value(); now != before {
		t.Errorf("procfit's container has ended, and GOMAXPROCS is %+v instead of %+v", now, before)
	}
	back := last.Sub(killed)
	if t.Logf("back %v after the kill", back); back > time.Minute {
		t.Errorf("back %v after the kill, which is to take a minute at most", back)
	}
}
