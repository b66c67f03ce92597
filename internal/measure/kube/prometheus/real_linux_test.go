package prometheus

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// A real Prometheus is asked for a number, for none, for several, and wrongly.
func TestRealPrometheus(t *testing.T) {
	path := need.Command(t, "prometheus")
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "p.yaml"), []byte("global: {}\n"), 0o600))
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	addr := l.Addr().String()
	l.Close()
	cmd := exec.Command(path, "--config.file="+filepath.Join(dir, "p.yaml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+addr)
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait() // by a signal
	})
	c, err := New("http://"+addr, nil)
	must.OK(t, err)
	ctx := context.Background()
	var v *float64
	for until := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if v, err = c.Ask(ctx, "vector(42)", time.Now()); err == nil || time.Now().After(until) {
			break
		}
	}
	if err != nil || v == nil || *v != 42 {
		t.Fatalf("vector(42): %v, %v", v, err)
	}
	for query, want := range map[string]string{
		"scalar(vector(7))": "7", `nothing{pod=~"a|b"}`: "", "vector(0) / 0": "",
		`label_replace(vector(1), "a", "b", "", "") or vector(2)`: "refused", "up[1m]": "refused", "sum(": "refused",
	} {
		v, err := c.Ask(ctx, query, time.Now())
		var refused *RefusedError
		if errors.As(err, &refused) != (want == "refused") || want == "" && (v != nil || err != nil) || want == "7" && (v == nil || *v != 7) {
			t.Errorf("%s: %v, %v; want %q", query, v, err, want)
		}
	}
}
