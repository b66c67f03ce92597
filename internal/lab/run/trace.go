package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/trace"
)

// lookFor bounds the run under a trace; the programs take a second.
const lookFor = time.Minute

// look runs the experiment's program once more, under its trace or as its machine has
// it, and writes what there is to be seen into its folder.
func (r *Run) look(ctx context.Context, e lab.Experiment) ([]lab.RanFile, error) {
	dir, err := folder.Make(filepath.Join(r.Dir, e.ID))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if there := r.options.Machine.Look; there != nil {
		return there(ctx, e, dir)
	}
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	s := tracer{id: e.ID, program: r.options.Self, environ: r.options.Environ, dir: dir}
	switch e.Trace {
	case lab.Execution:
		err = s.execution(ctx)
	case lab.Scheduler:
		err = s.scheduler(ctx)
	}
	return s.files, err
}

type tracer struct {
	id, program string
	environ     []string
	dir         *folder.Dir
	files       []lab.RanFile
}

// execution has the program write its trace to a temporary folder, where nobody has
// laid a link for it to follow.
func (s *tracer) execution(ctx context.Context) error {
	keeper, err := supervisor.NewKeeper()
	if err != nil {
		return err
	}
	defer keeper.Close()
	temporary, err := keeper.Folder("procfit-trace-")
	if err != nil {
		return err
	}
	raw := filepath.Join(temporary, "trace.out")
	if _, err := s.run(ctx, nil, "-trace", raw); err != nil {
		return err
	}
	whole, err := os.ReadFile(raw)
	if err != nil {
		return err
	}
	x, err := trace.ReadExecution(ctx, bytes.NewReader(whole), raw)
	if err != nil {
		return err
	}
	if x.Err != nil {
		return x.Err
	}
	var read bytes.Buffer
	if err := x.WriteText(&read, trace.Text{}); err != nil {
		return err
	}
	return errors.Join(
		s.write("which P ran which goroutine, and what was stolen from whom", "timeline.txt", read.Bytes()),
		s.write("the execution trace, for go tool trace", "trace.out", whole))
}

func (s *tracer) scheduler(ctx context.Context) error {
	log, err := s.run(ctx, []string{"GODEBUG=schedtrace=20", "GOMAXPROCS=4"})
	if err != nil {
		return err
	}
	l := trace.ReadLog(ctx, bytes.NewReader(log), trace.Source{Kind: trace.FromFile, Path: "schedtrace.log"})
	if err := errors.Join(ctx.Err(), l.Err()); err != nil {
		return err
	}
	var read bytes.Buffer
	if err := l.WriteText(&read, trace.Text{}); err != nil {
		return err
	}
	return errors.Join(
		s.write("the scheduler's own lines, read", "trace.txt", read.Bytes()),
		s.write("the lines themselves", "schedtrace.log", log))
}

func (s *tracer) write(title, name string, content []byte) error {
	s.files = append(s.files, lab.RanFile{Title: title, Path: path.Join(s.id, name)})
	return s.dir.Replace(name, folder.Shared, content)
}

// run runs the program and returns its standard error.
func (s *tracer) run(ctx context.Context, env []string, args ...string) ([]byte, error) {
	spec := supervisor.Spec{Command: append([]string{s.program, "lab", "program", s.id}, args...)}
	for _, v := range s.environ {
		if !strings.HasPrefix(v, "GOMAXPROCS=") {
			spec.Env = append(spec.Env, v)
		}
	}
	spec.Env = append(spec.Env, env...)
	log, err := supervised(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("%s under a trace: %w", s.id, err)
	}
	return log, nil
}

// supervised runs a command and returns its standard error.
func supervised(ctx context.Context, spec supervisor.Spec) ([]byte, error) {
	out, err := supervisor.Run(ctx, spec)
	if err == nil && out.Exit.Failed() {
		err = fmt.Errorf("%v: %s", out.Exit, bytes.TrimSpace(out.Stderr))
	}
	return out.Stderr, err
}
