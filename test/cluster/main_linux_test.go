package cluster_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/cluster"
	"github.com/procfit/procfit/test/need"
)

// shared is the cluster of all tests here. It is made for the first that asks, since
// many runs have none that does. A test has a namespace of its own, and most wait for
// pods: these run beside each other, after those that stop a part of the cluster, push
// another image, or count what the cluster takes.
var shared struct {
	once    sync.Once
	cluster *cluster.Cluster
	err     error
	image   sync.Mutex
	loaded  bool // its nodes have the image of procfit
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(binary.dir)
	if shared.cluster != nil {
		if err := shared.cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// running is the cluster, in the second tier, and a skip where there can be none.
func running(t *testing.T) *cluster.Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("brings up a cluster")
	}
	need.Everything(t, "brings up a cluster of two nodes; package kube holds its steps without one")
	if missing := cluster.Missing(); missing != "" {
		need.Skip(t, missing)
	}
	shared.once.Do(func() {
		shared.cluster, shared.err = cluster.Start(context.Background(), cluster.Options{Nodes: 2, Log: os.Stderr})
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.cluster
}

// limit is for one test's doings in the cluster, beside others on a busy machine.
func limit(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// namespace makes one that goes with the test.
func namespace(ctx context.Context, t *testing.T, c *cluster.Cluster, name string) {
	t.Helper()
	kubectl(ctx, t, c, "", "create", "namespace", name)
	t.Cleanup(func() {
		// Not waited for: the next test has another name.
		if _, err := c.Kubectl(context.Background(), nil, "delete", "namespace", name, "--wait=false"); err != nil {
			t.Error(err)
		}
	})
	for { // without it no pod is taken
		if _, err := c.Kubectl(ctx, nil, "get", "serviceaccount", "default", "--namespace", name); err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatal(ctx.Err())
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func kubectl(ctx context.Context, t *testing.T, c *cluster.Cluster, stdin string, args ...string) string {
	t.Helper()
	for again := 0; ; again++ {
		out, err := c.Kubectl(ctx, strings.NewReader(stdin), args...)
		switch {
		case err == nil:
			return out
		case again < 3 && strings.Contains(err.Error(), "TLS handshake timeout"): // on busy CPUs; nothing was asked yet
			t.Logf("asked again: %v", err)
		default:
			t.Fatal(err)
		}
	}
}

// compile builds a static program, outside of the workspace: there a module's own go
// line decides.
func compile(t *testing.T, dir, pkg string) string {
	t.Helper()
	return built.Go(t, dir, []string{"GOWORK=off", "GOFLAGS="}, "build", "-trimpath", "-ldflags", "-s -w", pkg)
}

// binary is procfit, which is built for the first that asks.
var binary struct {
	once sync.Once
	dir  string
	err  error
}

// procfit is the command under test, as a static program.
func procfit(t *testing.T) string {
	t.Helper()
	built.ReadsProcfit(t)
	binary.once.Do(func() {
		if binary.dir, binary.err = os.MkdirTemp("", "procfit-cluster-test-"); binary.err != nil {
			return
		}
		cmd := exec.Command("go", "build", "-o", binary.dir, "github.com/procfit/procfit/cmd/procfit")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if output, err := cmd.CombinedOutput(); err != nil {
			binary.err = fmt.Errorf("%w: %s", err, output)
		}
	})
	if binary.err != nil {
		t.Fatal(binary.err)
	}
	return filepath.Join(binary.dir, "procfit")
}
