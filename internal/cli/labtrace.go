package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/supervisor"
	"github.com/procfit/procfit/internal/tracing"
)

// traceLimit bounds the run under a trace; the programs take a second.
const traceLimit = time.Minute

// look runs the experiment's program once more, under its trace, and writes what
// there is to be seen into its folder.
func (r *labRun) look(ctx context.Context, e lab.Experiment) ([]lab.RanFile, error) {
	ctx, cancel := context.WithTimeout(ctx, traceLimit)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(r.out, e.ID)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var files []lab.RanFile
	add := func(title, name string, content []byte) error {
		files = append(files, lab.RanFile{Title: title, Path: path.Join(e.ID, name)})
		if content == nil {
			return nil
		}
		return os.WriteFile(filepath.Join(dir, name), content, 0o644)
	}
	draw := func(title, name string, write func(io.Writer) error) error {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err
		}
		return add(title, name, b.Bytes())
	}
	switch e.Trace {
	case lab.Execution:
		raw := filepath.Join(dir, "trace.out")
		if _, err := runProgram(ctx, self, e.ID, nil, "-trace", raw); err != nil {
			return nil, err
		}
		x, err := tracing.ReadExecutionFile(ctx, raw)
		if err == nil {
			err = x.Err
		}
		if err != nil {
			return nil, err
		}
		text := func(w io.Writer) error { return x.WriteText(w, tracing.Text{}) }
		err = errors.Join(
			draw("which P ran which goroutine, and what was stolen from whom", "timeline.txt", text),
			draw("the same, drawn", "timeline.svg", x.WriteDrawing),
			add("the execution trace, for go tool trace", "trace.out", nil))
		return files, err
	case lab.Scheduler:
		log, err := runProgram(ctx, self, e.ID, []string{"GODEBUG=schedtrace=20", "GOMAXPROCS=4"})
		if err != nil {
			return nil, err
		}
		l := tracing.ReadLog(ctx, bytes.NewReader(log), tracing.Source{Kind: tracing.FromFile, Path: "schedtrace.log"}, io.Discard)
		if err := errors.Join(ctx.Err(), l.Err()); err != nil {
			return nil, err
		}
		text := func(w io.Writer) error { return l.WriteText(w, tracing.Text{}) }
		err = errors.Join(
			draw("the scheduler's own lines, read", "trace.txt", text),
			draw("the same, drawn over time", "trace.html", l.WritePage),
			add("the lines themselves", "schedtrace.log", log))
		return files, err
	}
	return nil, nil
}

// mostShown is how many experiments a run has at most whose traces are printed too.
const mostShown = 2

// showTraces prints what the programs' traces say, below the outcome.
func (r *labRun) showTraces() error {
	if r.json || len(r.items) > mostShown {
		return nil
	}
	for _, item := range r.items {
		for _, f := range item.files {
			if path.Ext(f.Path) != ".txt" {
				continue
			}
			b, err := os.ReadFile(filepath.Join(r.out, filepath.FromSlash(f.Path)))
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(r.io.out, "\n%s", b); err != nil {
				return err
			}
		}
	}
	return nil
}

// runProgram runs a practice program and returns its standard error.
func runProgram(ctx context.Context, self, id string, env []string, args ...string) ([]byte, error) {
	spec := supervisor.Spec{Command: append([]string{self, "lab", "program", id}, args...)}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GOMAXPROCS=") {
			spec.Env = append(spec.Env, v)
		}
	}
	spec.Env = append(spec.Env, env...)
	out, err := supervisor.Run(ctx, spec)
	if err == nil && out.Exit.Failed() {
		err = fmt.Errorf("%v: %s", out.Exit, bytes.TrimSpace(out.Stderr))
	}
	if err != nil {
		return nil, fmt.Errorf("%s under a trace: %w", id, err)
	}
	return out.Stderr, nil
}
