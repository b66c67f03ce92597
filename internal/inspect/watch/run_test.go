package watch

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

func TestNoTerminal(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, o := range []Options{{Out: &strings.Builder{}}, {Out: f}} {
		if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "-o json-lines") {
			t.Error(err)
		}
	}
}

// TestPanics: a panic anywhere of ours becomes the error of Run.
func TestPanics(t *testing.T) {
	b := newBench(t, 80, 24).scans(1)
	g := &guard{model: b.model, program: tea.NewProgram(nil)}
	b.list.shown[0] = nil
	if v := g.View(); v.Content != "" || g.err == nil || !strings.Contains(g.err.Error(), "table.go") {
		t.Errorf("view: %v", g.err)
	}
	if _, cmd := g.Update(tickMsg(0)); cmd == nil {
		t.Error("it goes on")
	}
	g.err = nil
	if _, cmd := g.Update(tea.KeyPressMsg{Code: 's', Text: "s"}); cmd == nil || g.err == nil {
		t.Errorf("update: %v", g.err)
	}
	g.err = nil
	msg := b.work.command(func(context.Context) tea.Msg { panic("scan is broken") })()
	if _, cmd := g.Update(msg); cmd == nil || g.err == nil || !strings.Contains(g.err.Error(), "scan is broken") {
		t.Errorf("work: %v", g.err)
	}
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
