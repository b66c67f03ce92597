package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/cli/scripts"
	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// manyPods is an API server with two nodes and pods that all differ, in 40 namespaces:
// every second one has a CPU limit in its first container, no proxy has one.
type manyPods int

func (n manyPods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch q := r.URL.Query(); {
	case strings.HasSuffix(r.URL.Path, "/nodes"):
		list := core.NodeList{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "NodeList"}}
		for i, cpus := range []string{"16", "64"} {
			node := core.Node{ObjectMeta: meta.ObjectMeta{Name: fmt.Sprint("node", i)}}
			node.Status.Capacity = core.ResourceList{core.ResourceCPU: resource.MustParse(cpus)}
			node.Status.NodeInfo.ContainerRuntimeVersion = "cri-o://1.36.0"
			list.Items = append(list.Items, node)
		}
		json.NewEncoder(w).Encode(list)
	case strings.HasSuffix(r.URL.Path, "/pods"):
		list := core.PodList{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
		from, _ := strconv.Atoi(q.Get("continue"))
		limit, _ := strconv.Atoi(q.Get("limit"))
		to := min(from+limit, int(n))
		if q.Get("labelSelector") != "" { // no exporter runs
			from, to = int(n), int(n)
		}
		for i := from; i < to; i++ {
			list.Items = append(list.Items, manyPod(i))
		}
		if to < int(n) {
			list.Continue = strconv.Itoa(to)
		}
		json.NewEncoder(w).Encode(list)
	default:
		w.WriteHeader(http.StatusNotFound)
		json.NewEncoder(w).Encode(meta.Status{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: meta.StatusFailure, Code: http.StatusNotFound, Reason: meta.StatusReasonNotFound})
	}
}

// manyPod is a pod of some 3 kB.
func manyPod(i int) core.Pod {
	container := func(name string) core.Container {
		c := core.Container{Name: name, Image: fmt.Sprintf("registry.example.org/team%d/app%d:1.2.3", i%50, i)}
		for v := range 20 {
			c.Env = append(c.Env, core.EnvVar{Name: fmt.Sprint("SETTING_", v), Value: fmt.Sprintf("value %d of application %d", v, i)})
		}
		c.Resources.Requests = core.ResourceList{core.ResourceCPU: resource.MustParse(fmt.Sprintf("%dm", 100+i))}
		return c
	}
	p := core.Pod{ObjectMeta: meta.ObjectMeta{Name: fmt.Sprint("app", i), Namespace: fmt.Sprint("team", i%40)}}
	p.Spec.NodeName = fmt.Sprint("node", i%2)
	p.Spec.Containers = []core.Container{container("app"), container("proxy")}
	if i%2 == 0 {
		p.Spec.Containers[0].Resources.Limits = p.Spec.Containers[0].Resources.Requests
	}
	p.Status.Phase = core.PodRunning
	return p
}

// TestManyPods bounds what a check of 10,000 pods costs, and in the first tier of 2,000. The machine
// may be busy: the CPU time is procfit's own.
func TestManyPods(t *testing.T) {
	t.Parallel()
	pods, mostTime, mostBytes := 2_000, 3*time.Second, int64(140<<20)
	if need.Whole() {
		pods, mostTime, mostBytes = 10_000, 15*time.Second, 300<<20
	}
	server := httptest.NewServer(manyPods(pods))
	defer server.Close()
	config := filepath.Join(t.TempDir(), "kubeconfig")
	must.OK(t, os.WriteFile(config, scripts.Kubeconfig(server.URL), 0o600))
	cmd := exec.Command("procfit", "kube", "check", "--values", "--exit-zero", "--kubeconfig", config, "-o", "json")
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &out, &failed, append(os.Environ(), "GOMAXPROCS=2")
	began := time.Now()
	size, err := peakOf(cmd)
	if err != nil {
		t.Fatalf("%v: %s", err, failed.String())
	}
	var says struct {
		Files  int
		Values []json.RawMessage
	}
	if err := json.Unmarshal(out.Bytes(), &says); err != nil || says.Files != pods || len(says.Values) != 2*pods {
		t.Errorf("%v: %d pods, %d values", err, says.Files, len(says.Values))
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t.Logf("%d pods: %.1f s, %.1f s of CPU time, %d MB, %d MB of output", pods, time.Since(began).Seconds(), used.Seconds(), size>>20, out.Len()>>20)
	if used > mostTime || size > mostBytes {
		t.Errorf("%v and %d MB, more than %v or %d MB", used, size>>20, mostTime, mostBytes>>20)
	}
}

// peakOf runs a command, and reads its largest resident size while it does: what the
// kernel reports of a process that has ended counts from before exec.
func peakOf(cmd *exec.Cmd) (size int64, err error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		if m, err := procstat.ReadMemory(cmd.Process.Pid); err == nil {
			size = max(size, m.Peak)
		}
		select {
		case err := <-done:
			return size, err
		case <-time.After(10 * time.Millisecond):
		}
	}
}
