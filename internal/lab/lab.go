// Package lab holds the practice programs: small Go programs whose behaviour
// under GOMAXPROCS is known, from documents that others measured before.
//
// # Model
//
// An Experiment is a program and what its document says of it. Each program is
// one file, programs/ID/main.go, written to be read: the standard library, Go 1.21,
// its own func main, and what several programs do in package harness; the programs of
// document 002 keep to Go 1.2, so that every release can build them. Here the file is
// package ID, so that procfit runs it without a toolchain: a Server by Serve until its
// context ends, a Batch by Run until it is done. The files are embedded too, and Source
// gives a program as one complete file: its package clause says main instead of
// ID, and what it uses of the harness is below it. A Command has no program; it measures
// the go command itself.
//
// A batch program writes its results to stdout in the Go benchmark format
// (https://go.dev/design/14313-benchmark-format), and to stderr with which
// GOMAXPROCS it ran. It checks what it computed; exit code 1 says that it was
// wrong, 2 that the arguments were.
//
// What an experiment takes to run are its Stages, each a sweep, and what its
// document's numbers say are its Hypotheses, each about a ratio. Both are lists, in
// tables of experiments by document. A quantity is a figure of one setting; ratio, flat,
// peak, level and ended measure with it; judge answers, and says what of a machine it
// lacks: CPUs of the Ps, and one for a load that must not run on them. Numbers that a
// runtime chooses are answered from Emulated where the CPUs are too few. A ratio is
// paired by block, as all comparisons of package verdict are, and takes six blocks to
// have an interval. An Outcome is what a run came to. Package lab/run carries the stages
// out.
//
// # Limits
//
// What runs in-process is a program built as procfit was; the default GOMAXPROCS
// of a standalone build follows the toolchain and the go line of the module that
// it is put in. A go line below 1.25 makes the runtime ignore CPU limits.
//
// A batch program ends by itself, not with a context. preempt may not, where the
// runtime cannot preempt it: whoever starts it must be able to kill it.
package lab

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/lab/programs/harness"
	"github.com/procfit/procfit/internal/show/phrase"
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

	// Trace is what the program is run under once more, next to the sweeps, to be
	// looked at.
	Trace Trace

	// Hypotheses are what its Stages are held against.
	Hypotheses []Hypothesis
	// Curves are the document's figures by GOMAXPROCS, where it has such.
	Curves []Curve

	stages []sweep
	also   func(Options) []Stage // those that depend on more than a size
	grid   func(Results) Grid    // nil: it has none

	service harness.Service                         // of a Server
	program func(*harness.Batch) (run func() error) // of a Batch
}

// Serve runs a practice server in this process until ctx ends. The address
// that it listens at is in its first line on stderr.
func Serve(ctx context.Context, id, addr string, stderr io.Writer) error {
	e, err := find(id, "server", Server)
	if err != nil {
		return err
	}
	if err := harness.Serve(ctx, id, addr, stderr, e.service); err != nil {
		return fmt.Errorf("practice server %s: %w", id, err)
	}
	return nil
}

// Run runs a batch program in this process, as its own main would: the code is
// what it would exit with, and why is on stderr. The error is that there is
// no such program.
func Run(id string, args []string, stdout, stderr io.Writer) (code int, err error) {
	e, err := find(id, "program", Batch)
	if err != nil {
		return 0, err
	}
	return harness.Run(id, args, stdout, stderr, e.program), nil
}

// find looks for an experiment of one of the kinds, which is called what.
func find(id, what string, kinds ...Kind) (Experiment, error) {
	is, all := "", []string{}
	for _, e := range List() {
		switch {
		case slices.Contains(kinds, e.Kind):
			if e.ID == id {
				return e, nil
			}
			all = append(all, e.ID)
		case e.ID == id:
			is = fmt.Sprintf(", which is a %s", e.Kind)
		}
	}
	hint := "there are " + strings.Join(all, ", ")
	if near := phrase.Near(id, all); is == "" && len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ")
	}
	return Experiment{}, &UnknownError{fmt.Sprintf("no practice %s %q%s: %s", what, id, is, hint)}
}

// The oldest releases of Go that build the programs.
const modern, ancient = "1.21", "1.2"

// Tolerances, from the documents alone and not to fit what was measured here.
const (
	// Document 000: "Single runs vary by 5–10% even on quiet hardware", and its
	// tables are single runs. So a ratio of theirs is met within 10%.
	tenthLess, tenthMore = 0.90, 1.10
	// What the documents call flat spreads over 2% (001, I/O-bound: 15.3 to 15.0 s;
	// 000, above the peak: 78.1 to 76.4). 5% is flat.
	flatLess, flatMore = 0.95, 1.05
)

// List is every experiment, in the documents' order.
func List() []Experiment {
	return slices.Concat(capacity, goroutines, channels, containers, limits, statements, requestStatements)
}

// UnknownError is the answer to an id that no experiment has, or none of the
// kind that was asked for.
type UnknownError struct{ text string }

func (e *UnknownError) Error() string { return e.text }
