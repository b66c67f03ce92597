package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/schedtrace"
	"github.com/procfit/procfit/internal/schedtrace/html"
	"github.com/procfit/procfit/internal/schedtrace/text"
	"github.com/procfit/procfit/internal/schedtrace/view"
)

// The intervals of the runtime's lines where none is asked for. With details it
// writes a line for each goroutine and stands still meanwhile.
const (
	traceInterval       = 100 * time.Millisecond
	traceDetailInterval = time.Second
)

// traceOptions are the flags of procfit trace.
type traceOptions struct {
	interval, duration time.Duration
	detail, quiet      bool
	html               string
	json, fields       bool
	exec, svg          string

	intervalGiven bool
}

func newTrace(io stdio) *cobra.Command {
	var o traceOptions
	cmd := &cobra.Command{
		Use:   "trace [flags] [-- command args… | FILE | -]",
		Short: "What the Go scheduler does over time: GODEBUG=schedtrace, read for you",
		Long: `Run a Go program under GODEBUG=schedtrace, or read a log that one wrote, and say
what its scheduler does: idle Ps, waiting goroutines and how unevenly they lie on
the Ps, threads, spinning; over time, with a reading in words.

A command gets schedtrace added to its GODEBUG. What it prints, to standard output
too, goes to standard error as it comes, without the runtime's lines; standard
output is the report's alone. It is stopped by SIGTERM, and 5 seconds later by
SIGKILL, after --duration or at Ctrl-C; what was read until then is shown, without
its shutdown. All that it started ends with it.

A FILE, or standard input as - (./app 2>&1 | procfit trace -), may be of any Go
version, with scheddetail or without, mixed with other output, cut off, and of any
length.

Build the program and trace the binary: go run and go test hand GODEBUG to the go
command and the compiler too. Of several processes the one with the most samples is
shown; where their lines cannot be told apart, none.

With --exec it reads a Go execution trace instead (runtime/trace, go test -trace),
which shows what each P really ran and what it took from another. docs/TRACE.md
has more.`,
		Example: `  procfit trace -- ./app
  procfit trace --duration 10s --html trace.html -- ./app --port 8080
  procfit trace --detail --quiet -- ./app
  procfit trace app.log
  procfit trace --fields
  procfit trace --exec trace.out --svg trace.svg`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.intervalGiven = cmd.Flags().Changed("interval")
			return o.run(cmd.Context(), io, args, cmd.ArgsLenAtDash())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.DurationVar(&o.interval, "interval", 0, "time between two samples of a command (default 100ms, with --detail 1s)")
	f.BoolVar(&o.detail, "detail", false, "have the command write scheddetail too: what its goroutines wait for")
	f.DurationVar(&o.duration, "duration", 0, "stop the command after this time (default: let it end)")
	f.BoolVar(&o.quiet, "quiet", false, "show nothing that the command prints")
	f.StringVar(&o.html, "html", "", "`file` to write a page with charts to")
	f.BoolVar(&o.json, "json", false, "print procfit.trace/v1; with --exec procfit.exectrace/v1, with --fields procfit.tracefields/v1")
	f.BoolVar(&o.fields, "fields", false, "explain each field of a trace")
	f.StringVar(&o.exec, "exec", "", "read an execution trace from this `file`, or - for standard input")
	f.StringVar(&o.svg, "svg", "", "`file` to draw the execution trace to")
	return cmd
}

func (o *traceOptions) run(ctx context.Context, io stdio, args []string, dash int) error {
	if err := o.check(args, dash); err != nil {
		return err
	}
	switch {
	case o.fields:
		return printTraceFields(io, o.json)
	case o.exec != "":
		return o.runExec(ctx, io)
	}
	var t *traced
	var err error
	if dash == 0 {
		t, err = o.traceCommand(ctx, io, args)
	} else {
		t, err = o.traceLog(ctx, io, args[0])
	}
	if err != nil {
		return err
	}
	nothing := t.Summary.Counts.Samples == 0 && t.Summary.Skipped.Count == 0
	if o.json || o.html != "" || !nothing {
		if err := o.show(io, t); err != nil {
			return err
		}
	}
	return t.verdict(ctx)
}

func (o *traceOptions) check(args []string, dash int) error {
	command := dash == 0 && len(args) > 0
	switch {
	case o.fields && (len(args) > 0 || o.exec != ""):
		return usageError("--fields explains the fields and reads nothing: give it alone, or with --json")
	case o.exec != "" && len(args) > 0:
		return usageError("--exec names the file to read: give no other")
	case dash > 0:
		return usageError("trace takes a command after --, or a file, not both")
	case dash == 0 && len(args) == 0:
		return usageError("no command after --")
	case !command && len(args) > 1:
		return usageError("trace reads one file; for a command write procfit trace -- %s", strings.Join(args, " "))
	case !o.fields && o.exec == "" && len(args) == 0:
		return usageError("trace needs a command after --, a FILE, or - for standard input; see procfit trace --help")
	case o.intervalGiven && o.interval < time.Millisecond:
		return usageError("--interval %s: the runtime counts it in milliseconds, from 1ms on", o.interval)
	case o.duration < 0:
		return usageError("--duration %s: want a time, as in 10s", o.duration)
	}
	for _, flag := range []struct {
		name        string
		given, fits bool
		what        string
	}{
		{"interval", o.intervalGiven, command, "a command"},
		{"detail", o.detail, command, "a command"},
		{"duration", o.duration > 0, command, "a command"},
		{"quiet", o.quiet, command, "a command"},
		{"html", o.html != "", !o.fields && o.exec == "", "a scheduler trace"},
		{"svg", o.svg != "", o.exec != "", "an execution trace, which --exec names"},
	} {
		if flag.given && !flag.fits {
			return usageError("--%s is for %s", flag.name, flag.what)
		}
	}
	return nil
}

// traced is a scheduler trace that was read, and where it came from.
type traced struct {
	Source  traceSource
	Exit    *traceExit // nil but for a command
	Summary *schedtrace.Summary
	hint    string // what to do where there is no sample
	readErr error
}

// traceSource is a part of procfit.trace/v1.
type traceSource struct {
	Kind           string   `json:"kind"` // command, file or stdin
	Command        []string `json:"command,omitempty"`
	Path           string   `json:"path,omitempty"`
	IntervalMillis int64    `json:"interval_ms,omitempty"`
	Detail         bool     `json:"detail,omitempty"`
}

func (s traceSource) name() string {
	switch s.Kind {
	case "command":
		return strings.Join(s.Command, " ")
	case "stdin":
		return "standard input"
	}
	return s.Path
}

// traceJSON is procfit.trace/v1.
type traceJSON struct {
	Schema   string               `json:"schema"`
	Source   traceSource          `json:"source"`
	Exit     *traceExit           `json:"exit"`
	Readings []schedtrace.Reading `json:"readings"`
	Summary  *schedtrace.Summary  `json:"summary"`
}

// The sizes of the views: what a terminal and a page can hold.
const (
	pagePoints = 150
	textProcs  = 16
	pageProcs  = 64
)

func (o *traceOptions) show(io stdio, t *traced) error {
	readings := schedtrace.Readings(t.Summary)
	var files []string
	if o.html != "" {
		var b bytes.Buffer
		v := view.New(t.Summary, readings, view.Options{Name: t.Source.name(), Points: pagePoints, Procs: pageProcs})
		if err := html.Render(&b, v); err != nil {
			return err
		}
		if err := os.WriteFile(o.html, b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("--html: %w", err)
		}
		files = append(files, o.html)
	}
	if o.json {
		return writeJSON(io.out, traceJSON{"procfit.trace/v1", t.Source, t.Exit, readings, t.Summary})
	}
	v := view.New(t.Summary, readings, view.Options{Name: t.Source.name(), Procs: textProcs})
	return text.Render(io.out, v, text.Options{Width: width(io), Color: io.color(), Files: files})
}

// verdict is what the exit code tells of a trace that was shown.
func (t *traced) verdict(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return interrupted(context.Canceled)
	case t.readErr != nil:
		return t.readErr
	case t.Exit != nil && t.Exit.failed():
		return fmt.Errorf("%s %s", t.Source.Command[0], t.Exit)
	case t.Summary.Counts.Samples == 0:
		return fmt.Errorf("no line of a scheduler trace in %s: %s", t.what(), t.hint)
	}
	return nil
}

func (t *traced) what() string {
	if t.Source.Kind == "command" {
		return "what " + t.Source.Command[0] + " wrote to its standard error"
	}
	return t.Source.name()
}
