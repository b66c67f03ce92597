package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/show/number"
)

type Options struct {
	// Scan reads the processes; it is never called concurrently. An error is shown, and
	// the next interval tries again.
	Scan     func(context.Context) (observe.Snapshot, error)
	Interval time.Duration // between the starts of two scans

	// Explain explains the value of a process in plain text of any length. It runs
	// concurrently with Scan.
	Explain func(observe.Process) string

	In    io.Reader
	Out   io.Writer
	Color bool
	Sort  string // one of inspect.Names
}

// Run shows the view until the user leaves it with q or Ctrl-C, which is not an error. It
// returns the error of ctx if that ends first, or at SIGINT, SIGTERM, SIGHUP or SIGQUIT.
// In all cases it restores the terminal, cancels Scan and Explain, and waits for them.
func Run(ctx context.Context, o Options) error {
	out, in, err := terminal(o)
	if err != nil {
		return err
	}
	if in != o.In {
		defer in.Close()
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	scanning, cancel := context.WithCancel(ctx)
	work := &work{ctx: scanning}
	profile := colorprofile.Ascii // attributes, no colors
	if o.Color {
		profile = colorprofile.ANSI // those of the user's own theme
	}
	program := tea.NewProgram(newModel(o, lookOf(o.Color, os.Getenv), work), tea.WithInput(in), tea.WithOutput(out),
		tea.WithoutSignalHandler(), tea.WithColorProfile(profile))
	// Not tea.WithContext: a program that is killed does not wait for the reader of
	// its keys, which then races with the end (bubbletea issue 1599).
	defer context.AfterFunc(ctx, program.Quit)()
	_, err = program.Run()
	cancel()
	idle := work.close(patience)
	switch {
	case errors.Is(err, tea.ErrProgramPanic): // which has printed the stack
		return fmt.Errorf("a mistake in procfit: %w", err)
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("the terminal was lost: %w", err)
	case !idle:
		return fmt.Errorf("the last scan did not end within %s", number.Minutes(patience))
	}
	return nil
}

const patience = 10 * time.Second

// terminal is where to draw and where keys come from: In, or the controlling terminal if
// In is not a terminal.
func terminal(o Options) (out, in *os.File, err error) {
	out, ok := o.Out.(*os.File)
	if !ok || !term.IsTerminal(int(out.Fd())) {
		return nil, nil, errors.New("the live view needs a terminal to draw on; for programs there is -o json-lines")
	}
	if t := os.Getenv("TERM"); runtime.GOOS != "windows" && (t == "" || t == "dumb") {
		return nil, nil, fmt.Errorf("TERM=%q is a terminal without a cursor to move; -o json-lines needs none", t)
	}
	if in, ok := o.In.(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		return out, in, nil
	}
	in, _, err = tea.OpenTTY()
	if err != nil {
		return nil, nil, fmt.Errorf("the live view needs a terminal to read keys from: %w", err)
	}
	return out, in, nil
}

// lookOf decides how to draw. There are no blocks and arrows if the locale is not UTF-8.
// If there is no locale, as in most containers, the terminal nearly always supports
// UTF-8.
func lookOf(color bool, getenv func(string) string) look {
	locale := strings.ToLower(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	return look{color: color, ascii: locale != "" && !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")}
}

// crash is a panic of what ran in parallel, with its stack.
type crash string

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
				msg = crash(fmt.Sprintf("%v\n%s", r, debug.Stack()))
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
