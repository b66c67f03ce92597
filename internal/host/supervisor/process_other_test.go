//go:build unix && (!linux || portable)

package supervisor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
)

// Without a supervisor a command still starts in a group of its own, is asked to end
// and is killed when it does not, and its output is kept.
func TestPortableStop(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		grace        time.Duration
		killed       bool
		code         int
	}{
		{"in order", `trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.01; done`, 20 * time.Second, false, 3},
		{"stubborn", `trap '' TERM; echo up; while :; do sleep 0.01; done`, 100 * time.Millisecond, true, -1},
		{"with a child", `sleep 600 & echo up; wait`, 100 * time.Millisecond, false, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log := must.Get(os.Create(filepath.Join(t.TempDir(), "log")))(t)
			defer log.Close()
			p := must.Get(Start(t.Context(), Spec{Command: []string{"sh", "-c", tt.script}, Env: os.Environ(), Log: log}))(t)
			awaitOutput(t, p, "up", 1)
			exit, err := p.Stop(tt.grace)
			if err != nil || exit.Killed != tt.killed || exit.Code != tt.code {
				t.Errorf("%+v, %v", exit, err)
			}
			if b, err := os.ReadFile(log.Name()); err != nil || !strings.HasPrefix(string(b), "up\n") || exit.OutputBytes != int64(len(b)) {
				t.Errorf("the log holds %q of %d bytes, %v", b, exit.OutputBytes, err)
			}
			if !happens(func() bool { return syscall.Kill(-p.PID(), 0) != nil }) {
				t.Error("something of its group is left")
			}
			if _, err := p.Stop(0); err != nil { // what has ended
				t.Error(err)
			}
		})
	}
}

func TestPortableContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	folder := filepath.Join(t.TempDir(), "own")
	p := must.Get(Start(ctx, Spec{Command: []string{"sleep", "600"}, Folders: []string{folder}}))(t)
	if _, err := os.Stat(folder); err != nil {
		t.Error(err)
	}
	cancel()
	if exit, err := p.Wait(); err != nil || exit.Signal != "killed" {
		t.Errorf("%+v, %v", exit, err)
	}
	assertRemoved(t, folder)
}

func TestPortableRefuses(t *testing.T) {
	for _, spec := range []Spec{{Command: []string{"sleep", "1"}, CPUs: []int{0}}, {Command: []string{"no-such-command"}}, {}} {
		if _, err := Start(t.Context(), spec); err == nil {
			t.Errorf("%+v starts", spec)
		}
	}
	out, err := Run(t.Context(), Spec{Command: []string{"sh", "-c", "echo out; echo err >&2; exit 4"}, Env: os.Environ()})
	if err != nil || string(out.Stdout) != "out\n" || string(out.Stderr) != "err\n" || out.Exit.Code != 4 {
		t.Errorf("%+v, %v", out, err)
	}
}
