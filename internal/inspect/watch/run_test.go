package watch

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/procfit/procfit/test/must"
)

func TestNoTerminal(t *testing.T) {
	f := must.Get(os.Create(t.TempDir() + "/out"))(t)
	defer f.Close()
	for _, o := range []Options{{Out: &strings.Builder{}}, {Out: f}} {
		if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "-o json-lines") {
			t.Error(err)
		}
	}
}

// TestCrash: a panic of what runs in parallel is one of the view, whose end restores the screen.
func TestCrash(t *testing.T) {
	b := newBench(t, 80, 24).scans(1)
	msg := b.work.command(func(context.Context) tea.Msg { panic("scan is broken") })()
	defer func() {
		if said, _ := recover().(string); !strings.HasPrefix(said, "scan is broken\ngoroutine ") {
			t.Errorf("%q", said)
		}
	}()
	b.update(msg)
}

// TestWork: what is under way is waited for, and nothing begins after.
func TestWork(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := &work{ctx: ctx}
	began, ended := make(chan bool), false
	cmd := w.command(func(ctx context.Context) tea.Msg { close(began); <-ctx.Done(); ended = true; return nil })
	go cmd()
	<-began
	if w.close(10 * time.Millisecond) {
		t.Error("it does not wait")
	}
	cancel()
	if !w.close(10*time.Second) || !ended {
		t.Error("it does not end")
	}
	if w.command(func(context.Context) tea.Msg { t.Error("begins after the end"); return nil })() != nil {
		t.Error("says something")
	}
}
