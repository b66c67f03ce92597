package cluster_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"sync"
	"testing"

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

// fill makes pods in a namespace, for a scheduler that there is not.
func (a *access) fill(ctx context.Context, t *testing.T, namespace string, pods int) {
	t.Helper()
	numbers := make(chan int)
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			for n := range numbers {
				if err := a.create(ctx, "/api/v1/namespaces/"+namespace+"/pods", fmt.Appendf(nil, `{
					"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "app%d"},
					"spec": {"schedulerName": "nobody", "containers": [{"name": "app", "image": "registry.example.org/app:1.2.3"}]}
				}`, n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range pods {
		numbers <- n
	}
	close(numbers)
	workers.Wait()
}
