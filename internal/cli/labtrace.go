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
	s := sight{id: e.ID, program: self, dir: filepath.Join(r.out, e.ID)}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, err
	}
	switch e.Trace {
	case lab.Execution:
		err = s.execution(ctx)
	case lab.Scheduler:
		err = s.scheduler(ctx)
	}
	return s.files, err
}

// sight is what there is to be seen of one program.
type sight struct {
	id, program, dir string
	files            []lab.RanFile
}

func (s *sight) execution(ctx context.Context) error {
	raw := filepath.Join(s.dir, "trace.out")
	if _, err := s.run(ctx, nil, "-trace", raw); err != nil {
		return err
	}
	x, err := tracing.ReadExecutionFile(ctx, raw)
	if err != nil {
		return err
	}
	if x.Err != nil {
		return x.Err
	}
	text := func(w io.Writer) error { return x.WriteText(w, tracing.Text{}) }
	err = errors.Join(
		s.write("which P ran which goroutine, and what was stolen from whom", "timeline.txt", text),
		s.write("the same, drawn", "timeline.svg", x.WriteDrawing))
	s.name("the execution trace, for go tool trace", "trace.out")
	return err
}

func (s *sight) scheduler(ctx context.Context) error {
	log, err := s.run(ctx, []string{"GODEBUG=schedtrace=20", "GOMAXPROCS=4"})
	if err != nil {
		return err
	}
	l := tracing.ReadLog(ctx, bytes.NewReader(log), tracing.Source{Kind: tracing.FromFile, Path: "schedtrace.log"}, io.Discard)
	if err := errors.Join(ctx.Err(), l.Err()); err != nil {
		return err
	}
	text := func(w io.Writer) error { return l.WriteText(w, tracing.Text{}) }
	return errors.Join(
		s.write("the scheduler's own lines, read", "trace.txt", text),
		s.write("the same, drawn over time", "trace.html", l.WritePage),
		s.write("the lines themselves", "schedtrace.log", func(w io.Writer) error {
			_, err := w.Write(log)
			return err
		}))
}

// write writes a file of the experiment's folder.
func (s *sight) write(title, name string, content func(io.Writer) error) error {
	var b bytes.Buffer
	if err := content(&b); err != nil {
		return err
	}
	s.name(title, name)
	return os.WriteFile(filepath.Join(s.dir, name), b.Bytes(), 0o644)
}

func (s *sight) name(title, name string) {
	s.files = append(s.files, lab.RanFile{Title: title, Path: path.Join(s.id, name)})
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

// run runs the program and returns its standard error.
func (s *sight) run(ctx context.Context, env []string, args ...string) ([]byte, error) {
	spec := supervisor.Spec{Command: append([]string{s.program, "lab", "program", s.id}, args...)}
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
		return nil, fmt.Errorf("%s under a trace: %w", s.id, err)
	}
	return out.Stderr, nil
}
