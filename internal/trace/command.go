// Package trace reads what a Go program's scheduler tells of itself, from where it
// tells it, and shows it: the lines of GODEBUG=schedtrace, from a command that it
// runs so (Command) or from a log (ReadLog), and execution traces (ReadExecution).
//
// Both are read as they come, however long. A read that blocks ends with the
// context, and what was read until then is kept and can be shown. What was read can
// be written as text or as JSON, each to a writer; the caller knows of files and flags.
//
// Limits: on Windows a read of a pipe ends only when the pipe has something.
package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/trace/sched"
)

const (
	// Grace is the time that a command has to end in after SIGTERM.
	Grace = 5 * time.Second
	// streamPatience is how long the output of a command that has ended is waited
	// for: nothing of it is left, but somebody else may hold the pipe.
	streamPatience = time.Second
)

// Command is a program to be run under GODEBUG=schedtrace.
type Command struct {
	Args     []string
	Shown    []string      // the same without secrets
	Env      []string      // complete; the trace is added to its GODEBUG
	Interval time.Duration // between two samples; 0: what GODEBUG says, or by Duration
	Duration time.Duration // after which it is stopped; 0: it ends by itself
	Detail   bool          // scheddetail too
	Quiet    bool          // what it prints is not passed on
	In       io.Reader     // its standard input, if that is a file that it can read
	Printed  io.Writer     // gets what it prints
}

// Exit is how the command ended, a part of procfit.trace/v1.
type Exit struct {
	Code    *int   `json:"code"` // null when a signal ended it
	Signal  string `json:"signal,omitempty"`
	Stopped string `json:"stopped,omitempty"` // duration or interrupt
	Killed  bool   `json:"killed,omitempty"`  // it outlived the grace
	LeftOut int64  `json:"samples_left_out"`  // written after the stop, as it shut down
}

func (e *Exit) String() string {
	if e.Code == nil {
		return "was killed by " + e.Signal
	}
	return "exited with code " + strconv.Itoa(*e.Code)
}

// Run runs the command and reads what the runtime writes to its standard error.
// When ctx is done the command is stopped, and what was read is returned.
func (c Command) Run(ctx context.Context) (*Log, error) {
	set := c.settings()
	streams, ours, err := c.streams()
	if err != nil {
		return nil, err
	}
	defer ours.close()
	// The context's end is not the command's: it is stopped with a grace.
	run, err := supervisor.Start(context.WithoutCancel(ctx), supervisor.Spec{Command: c.Args, Env: set.env, Streams: streams})
	closeStreams(streams, c.In)
	if err != nil {
		return nil, err
	}
	var over atomic.Bool // what comes from now on is how it shuts down
	var stopped string
	var exit supervisor.Exit
	var stopErr error
	var ended sync.WaitGroup
	ended.Go(func() {
		stopped = await(ctx, run, c.Duration)
		over.Store(stopped != "")
		exit, stopErr = run.Stop(Grace)
		_ = ours.out.SetReadDeadline(time.Now().Add(streamPatience))
		_ = ours.err.SetReadDeadline(time.Now().Add(streamPatience))
	})
	printed := &oneByOne{to: c.Printed}
	ended.Go(func() {
		_, _ = io.Copy(printed, ours.out) // one that cannot be shown must not stop the command
		_, _ = io.Copy(io.Discard, ours.out)
	})
	sc := sched.NewScanner(ours.err)
	sc.Late = over.Load
	if !c.Quiet {
		sc.Other = printed
	}
	summary := sched.Analyse(sc)
	if errors.Is(sc.Err(), os.ErrDeadlineExceeded) {
		summary.ReadError = "" // a stranger holds the pipe; the command has ended
	}
	ended.Wait()
	if onTerminal(c.Printed) {
		printed.endLine() // the report follows
	}
	if stopErr != nil {
		return nil, stopErr
	}
	how := &Exit{Signal: exit.Signal, Stopped: stopped, Killed: exit.Killed && stopped != "", LeftOut: summary.Run.LeftOut}
	if exit.Signal == "" {
		how.Code = &exit.Code
	}
	summary.Run.Interval = set.interval
	summary.Run.CPU, summary.Run.Wall = exit.User+exit.System, exit.Wall
	return &Log{
		Source:  Source{Kind: FromCommand, Command: c.Shown, IntervalMillis: set.interval.Milliseconds(), Detail: set.detail},
		Exit:    how,
		Summary: summary,
		hint:    "check that it is a Go program and that GODEBUG reaches it (sudo, env -i and containers do not pass it on)",
	}, nil
}

// await waits for the end of the command, or for why to end it.
func await(ctx context.Context, run *supervisor.Process, duration time.Duration) (stopped string) {
	var over <-chan time.Time
	if duration > 0 {
		over = time.After(duration)
	}
	select {
	case <-run.Done():
		return ""
	case <-ctx.Done():
		return "interrupt"
	case <-over:
		return "duration"
	}
}

// detailInterval is the interval of the runtime's lines with details, where none is asked for:
// it writes a line for each goroutine and stops meanwhile.
const detailInterval = time.Second

// interval is that of lines without details: a hundredth of the time that the command may
// run. Nobody knows how long one runs that ends by itself. It gets 10 ms, which gives one of
// 0.3 s its 25 samples: the thread that writes them may sleep for 10 ms, so that less would
// give few more.
func (c Command) interval() time.Duration {
	return max(10*time.Millisecond, min(100*time.Millisecond, c.Duration/100))
}

// settings are what the runtime is set to, and the environment that sets it.
type settings struct {
	env      []string
	interval time.Duration
	detail   bool
}

// settings adds the trace to GODEBUG. What is there already about the trace
// holds where the command says nothing.
func (c Command) settings() settings {
	set := settings{interval: c.Interval, detail: c.Detail}
	var kept []string
	for _, v := range c.Env {
		value, ok := strings.CutPrefix(v, "GODEBUG=")
		if !ok {
			set.env = append(set.env, v)
			continue
		}
		kept = kept[:0]
		for setting := range strings.SplitSeq(value, ",") {
			name, number, _ := strings.Cut(setting, "=")
			switch n, err := strconv.Atoi(number); {
			case name == "schedtrace":
				if err == nil && n > 0 && set.interval == 0 {
					set.interval = time.Duration(n) * time.Millisecond
				}
			case name == "scheddetail":
				set.detail = set.detail || err == nil && n > 0
			case setting != "":
				kept = append(kept, setting)
			}
		}
	}
	switch {
	case set.interval > 0:
	case set.detail:
		set.interval = detailInterval
	default:
		set.interval = c.interval()
	}
	set.interval = set.interval.Truncate(time.Millisecond)
	kept = append(kept, fmt.Sprintf("schedtrace=%d", set.interval.Milliseconds()))
	if set.detail {
		kept = append(kept, "scheddetail=1")
	}
	set.env = append(set.env, "GODEBUG="+strings.Join(kept, ","))
	return set
}

// pipes are our ends of the command's output and error. A nil file does nothing: its
// methods return os.ErrInvalid.
type pipes struct{ out, err *os.File }

func (p *pipes) close() {
	p.out.Close()
	p.err.Close()
}

// oneByOne is for the writes of several goroutines.
type oneByOne struct {
	mu   sync.Mutex
	to   io.Writer
	open bool // the last line has no end yet
}

func (w *oneByOne) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(p) > 0 {
		w.open = p[len(p)-1] != '\n'
	}
	return w.to.Write(p)
}

// endLine ends a line that is open, when nobody writes any more.
func (w *oneByOne) endLine() {
	if w.open {
		_, _ = io.WriteString(w, "\n")
	}
}

func onTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// streams are the command's: our standard input where that is a file, and pipes. A terminal would stop
// a command that reads it in the background.
func (c Command) streams() (s *supervisor.Streams, ours *pipes, err error) {
	s, ours = &supervisor.Streams{}, &pipes{}
	defer func() {
		if err != nil {
			closeStreams(s, c.In)
			ours.close()
		}
	}()
	if ours.err, s.Err, err = os.Pipe(); err != nil {
		return s, ours, err
	}
	if c.Quiet {
		s.Out, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	} else {
		ours.out, s.Out, err = os.Pipe()
	}
	if f, ok := c.In.(*os.File); ok && !(inBackground && onTerminal(f)) {
		s.In = f
	} else if err == nil {
		s.In, err = os.Open(os.DevNull)
	}
	return s, ours, err
}

// closeStreams closes the command's ends, but for what is our own input.
func closeStreams(s *supervisor.Streams, own io.Reader) {
	for _, f := range []*os.File{s.In, s.Out, s.Err} {
		if own != io.Reader(f) {
			f.Close()
		}
	}
}
