package cli

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

	"github.com/procfit/procfit/internal/schedtrace"
	"github.com/procfit/procfit/internal/secret"
	"github.com/procfit/procfit/internal/supervisor"
)

const (
	traceGrace = 5 * time.Second
	// streamPatience is how long the output of a command that has ended is waited
	// for: nothing of it is left, but somebody else may hold the pipe.
	streamPatience = time.Second
)

// traceExit is how the command ended.
type traceExit struct {
	Code    *int   `json:"code"` // null when a signal ended it
	Signal  string `json:"signal,omitempty"`
	Stopped string `json:"stopped,omitempty"` // duration or interrupt
	Killed  bool   `json:"killed,omitempty"`  // it outlived the grace
	LeftOut int64  `json:"samples_left_out"`  // written after the stop, as it shut down
}

func (e *traceExit) failed() bool {
	return e.Stopped == "" && (e.Code == nil || *e.Code != 0)
}

func (e *traceExit) String() string {
	if e.Code == nil {
		return "was killed by " + e.Signal
	}
	return "exited with code " + strconv.Itoa(*e.Code)
}

// tracee is the command while it runs.
type tracee interface {
	Done() <-chan struct{}
	Stop(grace time.Duration) (supervisor.Exit, error)
}

// traceCommand runs a command and reads what the runtime writes to its standard
// error.
func (o *traceOptions) traceCommand(ctx context.Context, io stdio, command []string) (*traced, error) {
	environ, interval, detail := o.environ(os.Environ())
	line := newLiveLine(io.err)
	defer line.finish()
	streams, ours, err := o.streams(io.in)
	if err != nil {
		return nil, err
	}
	defer ours.close()
	run, err := startTracee(ctx, supervisor.Spec{Command: command, Env: environ, Streams: streams})
	closeStreams(streams, io.in)
	if err != nil {
		return nil, err
	}
	t := &traced{
		Source: traceSource{Kind: "command", Command: secret.Words(command), IntervalMillis: interval.Milliseconds(), Detail: detail},
		hint:   "is it a Go program, and does it get the environment? (sudo, env -i and containers do not pass GODEBUG on)",
	}
	var exit supervisor.Exit
	var stopped string
	var stopErr error
	var ended sync.WaitGroup
	var over atomic.Bool // what comes from now on is how it shuts down
	ended.Go(func() {
		stopped = await(ctx, run, o.duration)
		over.Store(stopped != "")
		exit, stopErr = run.Stop(traceGrace)
		ours.deadline(time.Now().Add(streamPatience))
	})
	ended.Go(func() { ours.passOutput(line) })
	sc := schedtrace.NewScanner(ours.err)
	if !o.quiet {
		sc.Other = line
	}
	t.Summary = collectTrace(sc, line, "tracing", &over)
	if errors.Is(sc.Err(), os.ErrDeadlineExceeded) {
		t.Summary.ReadError = "" // a stranger holds the pipe; the command has ended
	}
	ended.Wait()
	if stopErr != nil {
		return nil, stopErr
	}
	t.Summary.Run.Interval = interval
	t.Summary.Run.CPU, t.Summary.Run.Wall = exit.User+exit.System, exit.Wall
	t.Exit = &traceExit{Signal: exit.Signal, Stopped: stopped, Killed: exit.Killed && stopped != "", LeftOut: t.Summary.Run.LeftOut}
	if exit.Signal == "" {
		t.Exit.Code = &exit.Code
	}
	line.finish()
	if t.Exit.Killed {
		io.notef("%s did not end within %s of SIGTERM and was killed", command[0], traceGrace)
	}
	return t, nil
}

// await waits for the end of the command, or for why to end it.
func await(ctx context.Context, run tracee, duration time.Duration) (stopped string) {
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

// environ adds the trace to GODEBUG. What stands there already about the trace
// holds where the flags say nothing.
func (o *traceOptions) environ(env []string) (out []string, interval time.Duration, detail bool) {
	interval, detail = traceInterval, o.detail
	var kept []string
	for _, v := range env {
		value, ok := strings.CutPrefix(v, "GODEBUG=")
		if !ok {
			out = append(out, v)
			continue
		}
		kept = kept[:0]
		for setting := range strings.SplitSeq(value, ",") {
			name, number, _ := strings.Cut(setting, "=")
			switch n, err := strconv.Atoi(number); {
			case name == "schedtrace":
				if err == nil && n > 0 && o.interval == 0 {
					o.interval = time.Duration(n) * time.Millisecond
				}
			case name == "scheddetail":
				detail = detail || err == nil && n > 0
			case setting != "":
				kept = append(kept, setting)
			}
		}
	}
	switch {
	case o.interval > 0:
		interval = o.interval
	case detail:
		interval = traceDetailInterval
	}
	interval = interval.Truncate(time.Millisecond)
	kept = append(kept, fmt.Sprintf("schedtrace=%d", interval.Milliseconds()))
	if detail {
		kept = append(kept, "scheddetail=1")
	}
	return append(out, "GODEBUG="+strings.Join(kept, ",")), interval, detail
}

// pipes are our ends of the command's output and error.
type pipes struct{ out, err *os.File }

func (p *pipes) close() {
	for _, f := range []*os.File{p.out, p.err} {
		if f != nil {
			f.Close()
		}
	}
}

func (p *pipes) deadline(t time.Time) {
	for _, f := range []*os.File{p.out, p.err} {
		if f != nil {
			_ = f.SetReadDeadline(t)
		}
	}
}

// passOutput shows the command's standard output until its end.
func (p *pipes) passOutput(to io.Writer) {
	if p.out != nil {
		_, _ = io.Copy(to, p.out) // one that cannot be shown must not stop the command
		_, _ = io.Copy(io.Discard, p.out)
	}
}

// streams are the command's: our standard input where that is a file, and pipes.
func (o *traceOptions) streams(in io.Reader) (*supervisor.Streams, *pipes, error) {
	s, ours := &supervisor.Streams{}, &pipes{}
	err := func() (err error) {
		if ours.err, s.Err, err = os.Pipe(); err != nil {
			return err
		}
		if o.quiet {
			s.Out, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		} else {
			ours.out, s.Out, err = os.Pipe()
		}
		if err != nil {
			return err
		}
		if f, ok := in.(*os.File); ok {
			s.In = f
			return nil
		}
		s.In, err = os.Open(os.DevNull)
		return err
	}()
	if err != nil {
		closeStreams(s, in)
		ours.close()
		return nil, nil, err
	}
	return s, ours, nil
}

// closeStreams closes the command's ends, but for what is our own input.
func closeStreams(s *supervisor.Streams, own io.Reader) {
	for _, f := range []*os.File{s.In, s.Out, s.Err} {
		if f != nil && own != io.Reader(f) {
			f.Close()
		}
	}
}
