package cluster_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/procfit/procfit/test/cluster"
	"github.com/procfit/procfit/test/must"
)

// access is the API itself, for what kubectl would take minutes to do.
type access struct {
	client        *http.Client
	server, token string
}

func accessTo(t *testing.T, c *cluster.Cluster) *access {
	t.Helper()
	config := must.Get(os.ReadFile(c.Kubeconfig))(t)
	token := regexp.MustCompile(`token: "([^"]+)"`).FindSubmatch(config)
	if token == nil {
		t.Fatal("no token in the kubeconfig")
	}
	return &access{
		// The certificate is of the cluster's own making, and on this machine.
		client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}},
		server: c.Server, token: string(token[1]),
	}
}

// create posts an object; the error is what the API server has against it.
func (a *access) create(ctx context.Context, path string, object []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.server+path, bytes.NewReader(object))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+a.token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := a.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusCreated {
		err = fmt.Errorf("%s: %.300s", answer.Status, body)
	}
	return err
}

// fill makes pods of a realistic size, which differ from one another, and are for a
// scheduler that there is not.
func (a *access) fill(ctx context.Context, t *testing.T, pods int) {
	t.Helper()
	numbers := make(chan int)
	failures := make(chan error, pods)
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			for n := range numbers {
				if err := a.create(ctx, "/api/v1/namespaces/many/pods", generated(n)); err != nil {
					failures <- err
				}
			}
		})
	}
	for n := range pods {
		numbers <- n
	}
	close(numbers)
	workers.Wait()
	select {
	case err := <-failures:
		t.Fatal(err)
	default:
	}
}

// generated is a pod of some 3 kB, as a Deployment's with two containers has.
func generated(n int) []byte {
	env := []map[string]any{}
	for v := range 20 {
		env = append(env, map[string]any{"name": fmt.Sprintf("SETTING_%d", v), "value": fmt.Sprintf("value %d of application %d", v, n)})
	}
	switch n % 4 {
	case 0:
		env = append(env, map[string]any{"name": "GOMAXPROCS", "valueFrom": map[string]any{"resourceFieldRef": map[string]any{"resource": "limits.cpu"}}})
	case 1:
		env = append(env, map[string]any{"name": "GOMAXPROCS", "value": fmt.Sprint(1 + n%64)})
	}
	container := func(name string, env any, limits map[string]any) map[string]any {
		return map[string]any{
			"name": name, "image": fmt.Sprintf("registry.example.org/team%d/app%d:1.2.3", n%50, n), "env": env,
			"resources":     map[string]any{"limits": limits, "requests": map[string]any{"cpu": "250m"}},
			"livenessProbe": map[string]any{"httpGet": map[string]any{"path": "/live", "port": 8080}},
		}
	}
	b, _ := json.Marshal(map[string]any{ // maps and strings
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": fmt.Sprintf("app%d-5f6d-x", n), "labels": map[string]any{"app": fmt.Sprintf("app%d", n)}},
		"spec": map[string]any{"schedulerName": "nobody", "containers": []any{
			container("app", env, map[string]any{"cpu": fmt.Sprintf("%dm", 500+n), "memory": "512Mi"}), container("proxy", nil, nil),
		}},
	})
	return b
}

// run runs a command, and reads its largest resident size while it does. What the kernel
// tells of a process that has ended (ru_maxrss) counts from before exec, when it was a
// part of this one: 399 MB where the command had 190.
func run(cmd *exec.Cmd) (out []byte, size int64, err error) {
	var written bytes.Buffer
	cmd.Stdout = &written
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		for {
			b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if _, rest, ok := strings.Cut(string(b), "VmHWM:"); ok {
				if fields := strings.Fields(rest); len(fields) > 0 {
					n, _ := strconv.ParseInt(fields[0], 10, 64)
					size = max(size, n<<10)
				}
			}
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	err = cmd.Wait()
	close(done)
	<-watched
	return written.Bytes(), size, err
}
