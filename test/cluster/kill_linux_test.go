package cluster_test

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/cluster"
	"github.com/procfit/procfit/test/must"
)

// TestKilled kills who has brought a cluster up, so that nobody is there to end it: the
// kernel ends all of it at once, and the next cluster of that number takes away what is
// left.
func TestKilled(t *testing.T) {
	running(t) // also what it takes
	ctx := limit(t)
	built.Reads(t, "run")
	program := filepath.Join(t.TempDir(), "run")
	must.Output(t, exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/procfit/procfit/test/cluster/run"))
	cmd := exec.CommandContext(ctx, program, "-nodes", "1")
	var log bytes.Buffer
	cmd.Stderr = &log
	out := must.Get(cmd.StdoutPipe())(t)
	must.OK(t, cmd.Start())
	lines := bufio.NewScanner(out)
	lines.Scan() // it is up, or has failed
	dir := filepath.Dir(lines.Text())
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !filepath.IsAbs(dir) {
		t.Fatal(log.String())
	}
	for left := processesOf(t, dir); len(left) > 0; left = processesOf(t, dir) {
		if ctx.Err() != nil {
			t.Fatalf("still there: %v", left)
		}
		time.Sleep(50 * time.Millisecond)
	}
	next := must.Get(cluster.Start(ctx, cluster.Options{}))(t)
	defer func() {
		if err := next.Stop(); err != nil {
			t.Error(err)
		}
		groups, err := filepath.Glob("/sys/fs/cgroup/*/test-cluster-" + filepath.Base(next.Dir))
		if err != nil || len(groups) > 0 {
			t.Errorf("cgroups are left: %v, %v", groups, err)
		}
		if _, err := os.Stat(next.Dir); err == nil {
			t.Errorf("%s is left", next.Dir)
		}
	}()
	if next.Dir != dir {
		t.Errorf("the next is in %s, want %s, as nobody has it any more", next.Dir, dir)
	}
	if _, err := next.Kubectl(context.Background(), nil, "get", "nodes"); err != nil {
		t.Error(err)
	}
}

// processesOf are those that have a folder in their command line.
func processesOf(t *testing.T, dir string) []string {
	t.Helper()
	names := must.Get(filepath.Glob("/proc/[0-9]*/cmdline"))(t)
	var found []string
	for _, name := range names {
		b, err := os.ReadFile(name)
		if line := string(bytes.ReplaceAll(b, []byte{0}, []byte{' '})); err == nil && strings.Contains(line, dir+"/") {
			found = append(found, line)
		}
	}
	return found
}
