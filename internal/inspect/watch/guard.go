package watch

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// guard turns a panic of the model, or of its work, into an error that ends the
// program, so that the screen is restored and the stack can be read after it.
type guard struct {
	model   *model
	program *tea.Program
	err     error
}

func (g *guard) Init() tea.Cmd { return g.model.Init() }

func (g *guard) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			g.err = panicked(r)
			next, cmd = g, tea.Quit
		}
	}()
	if failed, ok := msg.(panicError); ok {
		g.err = failed
	}
	if g.err != nil {
		return g, tea.Quit
	}
	return g, g.model.Update(msg)
}

func (g *guard) View() (v tea.View) {
	defer func() {
		if r := recover(); r != nil {
			g.err = panicked(r)
			v = tea.View{AltScreen: true}
			go g.program.Quit() // the caller must go on to hear of it
		}
	}()
	if g.err != nil {
		return tea.View{AltScreen: true}
	}
	return g.model.View()
}

// panicError is a panic that was caught.
type panicError struct{ error }

func panicked(r any) panicError {
	return panicError{fmt.Errorf("a mistake in procfit: %v\n%s", r, debug.Stack())}
}

// work is what runs in parallel to the view and must end with it.
type work struct {
	ctx    context.Context
	mu     sync.Mutex
	closed bool
	active sync.WaitGroup
}

// command runs f, unless the view has ended.
func (w *work) command(f func(context.Context) tea.Msg) tea.Cmd {
	return func() (msg tea.Msg) {
		w.mu.Lock()
		if w.closed {
			w.mu.Unlock()
			return nil
		}
		w.active.Add(1)
		w.mu.Unlock()
		defer w.active.Done()
		defer func() {
			if r := recover(); r != nil {
				msg = panicked(r)
			}
		}()
		return f(w.ctx)
	}
}

// close waits until everything has ended, or for at most the given time.
func (w *work) close(patience time.Duration) (idle bool) {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	done := make(chan struct{})
	go func() {
		w.active.Wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-time.After(patience):
		return false
	}
}
