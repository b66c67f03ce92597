package lab

import (
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
)

//go:embed programs/*/main.go
var sources embed.FS

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

	// Stages are the sweeps that it takes, and Hypotheses what they are held against.
	Stages     func(Options) []Stage
	Hypotheses []Hypothesis

	serve func(ctx context.Context, addr string, stderr io.Writer) error
	main  func(args []string, stdout, stderr io.Writer) int
}

// Serve runs a practice server in this process until ctx ends. The address
// that it listens at stands in its first line on stderr.
func Serve(ctx context.Context, id, addr string, stderr io.Writer) error {
	e, err := find(id, Server)
	if err != nil {
		return err
	}
	if err := e.serve(ctx, addr, stderr); err != nil {
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
	return e.main(args, stdout, stderr), nil
}

// Source is the experiment's program as a standalone main.go, or its other one: blocking/c.
func Source(id string) (string, error) {
	if text, ok := part(id); ok {
		return text, nil
	}
	if _, err := find(id, Server, Batch); err != nil {
		return "", err
	}
	b, err := sources.ReadFile("programs/" + id + "/main.go")
	if err != nil {
		return "", fmt.Errorf("source of %s: %w", id, err)
	}
	return standalone(string(b), id)
}

// standalone renames the package to main.
func standalone(source, id string) (string, error) {
	clause := "\npackage " + id + "\n"
	if strings.Count(source, clause) != 1 {
		return "", fmt.Errorf("source of %s: want one line %q", id, strings.TrimSpace(clause))
	}
	return strings.Replace(source, clause, "\npackage main\n", 1), nil
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
