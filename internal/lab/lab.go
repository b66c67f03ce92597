package lab

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

// Kind is how an experiment's program is run.
type Kind string

const (
	Server  Kind = "server"  // serves until it is told to stop; load comes from outside
	Batch   Kind = "batch"   // runs to its end and prints its results
	Command Kind = "command" // no program of ours: the go command itself
)

// Trace is a way to look into a running program.
type Trace string

const (
	Execution Trace = "execution" // runtime/trace, by the program's flag -trace
	Scheduler Trace = "scheduler" // GODEBUG=schedtrace
)

// Experiment is a practice program and what it is there to show.
type Experiment struct {
	ID       string
	Title    string
	Document string // the document that describes it
	Claim    string // the document's own result; empty where it gives only the method
	Kind     Kind
	Language string // the oldest Go that builds the program; empty for a Command

	// Trace is what the program is run under once more, beside the sweeps, to be
	// looked at.
	Trace Trace

	// Hypotheses are what its Stages are held against.
	Hypotheses []Hypothesis

	stages []sweep
	also   func(Options) []Stage // those that depend on more than a size

	service harness.Service                         // of a Server
	program func(*harness.Batch) (run func() error) // of a Batch
}

// Serve runs a practice server in this process until ctx ends. The address
// that it listens at stands in its first line on stderr.
func Serve(ctx context.Context, id, addr string, stderr io.Writer) error {
	e, err := find(id, Server)
	if err != nil {
		return err
	}
	if err := harness.Serve(ctx, id, addr, stderr, e.service); err != nil {
		return fmt.Errorf("practice server %s: %w", id, err)
	}
	return nil
}

// Run runs a batch program in this process, as its own main would: the code is
// what it would exit with, and why stands on stderr. The error is that there is
// no such program.
func Run(id string, args []string, stdout, stderr io.Writer) (code int, err error) {
	e, err := find(id, Batch)
	if err != nil {
		return 0, err
	}
	return harness.Run(id, args, stdout, stderr, e.program), nil
}

// find looks for an experiment of one of the kinds.
func find(id string, kinds ...Kind) (Experiment, error) {
	for _, e := range List() {
		if e.ID == id && slices.Contains(kinds, e.Kind) {
			return e, nil
		}
	}
	return Experiment{}, unknown(id, kinds)
}
