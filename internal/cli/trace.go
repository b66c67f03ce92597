package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/trace"
)

type traceOptions struct {
	fieldFlags
	out                printing
	interval, duration time.Duration
	detail             bool
	explain            bool // the fields of a trace
	exec               string
}

func newTrace(s stdio) *cobra.Command {
	o := traceOptions{out: printed("text", "json")}
	return o.bind(s, &cobra.Command{
		Use:   "trace [flags] [-- command args… | FILE | -]",
		Short: "Show what the Go scheduler does",
		Long: `Run a Go program under GODEBUG=schedtrace, or read a log that one wrote, and report
what its scheduler does: idle Ps, waiting goroutines and how evenly they are spread over
the Ps, threads and spinning, in numbers and in words.

procfit adds schedtrace to the GODEBUG of a command. The command's own output goes to
standard error without the runtime's lines; standard output has only the report. After
--for or at Ctrl-C procfit sends SIGTERM, and 5 seconds later SIGKILL, to the command
and all that it started, and reports what was read before.

A FILE, or - for standard input (./app 2>&1 | procfit trace -), can be of any Go version,
with or without scheddetail, mixed with other output, incomplete, and of any length.

Build the program and trace the binary: go run and go test pass GODEBUG to the go command
and the compiler too. Of several processes, one after the other, procfit shows the one
with the most samples; the lines of several at once are not separated.

--exec reads a Go execution trace instead (runtime/trace, go test -trace), which shows
what each P ran.`,
		Example: `  procfit trace -- ./app
  procfit trace --for 10s -- ./app --port 8080
  procfit trace --detail --quiet -- ./app
  procfit trace app.log
  procfit trace --fields
  procfit trace --exec trace.out`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args, cmd.ArgsLenAtDash())
		},
	}, slices.Concat([]field.Field{
		{Name: "interval", Holds: "TIME", Help: "time between two samples (default 10ms; --for/100, at most 100ms; --detail 1s)", Value: field.Time(&o.interval, 0, "100ms")},
		toggle("detail", &o.detail, "have the command write scheddetail too: what its goroutines wait for"),
		{Name: "for", Holds: "TIME", Help: "stop the command after this time (default: let it end)", Value: field.Time(&o.duration, 1, "10s")},
		{Name: "exec", Holds: "FILE", Help: "read an execution trace from this file; - is standard input", Value: field.Text(&o.exec)},
		toggle("fields", &o.explain, "explain each field of a trace"),
	}, o.out.fields("print JSON instead: procfit.trace/v1, exectrace/v1 or tracefields/v1")))
}

func (o *traceOptions) run(ctx context.Context, s stdio, args []string, dash int) error {
	if err := o.validate(args, dash); err != nil {
		return err
	}
	s = o.out.std(s)
	switch {
	case o.explain && o.out.json():
		return trace.WriteFieldsJSON(s.out)
	case o.explain:
		return trace.WriteFields(s.out, o.text(s))
	case dash == 0:
		l, err := trace.Command{
			Args: args, Shown: secret.Words(args), Env: os.Environ(),
			Interval: o.interval, Duration: o.duration, Detail: o.detail,
			Quiet: o.out.quiet, In: s.in, Printed: s.err,
		}.Run(ctx)
		if err != nil {
			return err
		}
		if l.Exit.Killed {
			s.notef("%s did not end within %s of SIGTERM and was killed", args[0], number.Minutes(trace.Grace))
		}
		return o.showLog(ctx, s, l)
	}
	path, in, from := o.exec+strings.Join(args, ""), s.in, trace.Source{Kind: trace.FromStdin}
	if path != "-" {
		f, err := trace.Open(path)
		if _, no := strconv.Atoi(path); no == nil && errors.Is(err, os.ErrNotExist) {
			return usageError("trace reads a file or starts a program, and %q is neither: a process that runs already writes no trace; to watch it: procfit live %[1]s", path)
		}
		if err != nil {
			return usageError("%w; to trace a program: procfit trace -- ./app", err)
		}
		defer f.Close()
		in, from = f, trace.Source{Kind: trace.FromFile, Path: path}
	}
	if o.exec == "" {
		return o.showLog(ctx, s, trace.ReadLog(ctx, in, from))
	}
	// Of one that cannot be read to its end, what could be read is shown, and then why.
	e, err := trace.ReadExecution(ctx, in, path)
	if err != nil {
		return asInterrupted(err)
	}
	if o.out.json() {
		return errors.Join(e.WriteJSON(s.out), e.Err)
	}
	return errors.Join(e.WriteText(s.out, o.text(s)), e.Err)
}

func (o *traceOptions) showLog(ctx context.Context, s stdio, l *trace.Log) (err error) {
	switch {
	case o.out.json():
		err = l.WriteJSON(s.out)
	case !l.Empty():
		err = l.WriteText(s.out, o.text(s))
	}
	return cmp.Or(err, asInterrupted(ctx.Err()), l.Err())
}

func (o *traceOptions) text(s stdio) trace.Text {
	return trace.Text{Width: columns(s.out), Color: s.color()}
}

func (o *traceOptions) validate(args []string, dash int) error {
	command := dash == 0 && len(args) > 0
	switch {
	case o.explain && (len(args) > 0 || o.exec != ""):
		return usageError("--fields explains the fields and reads nothing: give it alone, or with --json")
	case o.exec != "" && len(args) > 0:
		return usageError("--exec names the file to read: give no other")
	case dash > 0:
		return usageError("trace takes a command after --, or a file, not both")
	case dash == 0 && len(args) == 0:
		return usageError("no command after --")
	case !command && len(args) > 1:
		return usageError("trace reads one file; for a command write procfit trace -- %s", phrase.Shell(secret.Words(args)))
	case !o.explain && o.exec == "" && len(args) == 0:
		return usageError("trace needs a command after --, a FILE, or - for standard input; see procfit trace --help")
	}
	if o.Has("interval") && o.interval < time.Millisecond {
		return usageError("--interval %s: the runtime counts it in milliseconds: expected at least 1ms", o.interval)
	}
	for _, name := range []string{"interval", "detail", "for"} {
		if o.Has(name) && !command {
			return usageError("--%s is for a command", name)
		}
	}
	return nil
}
