// Package harness is what the practice programs have in common: their flags, their first
// line and exit codes, servers, and work that several of them do. procfit lab source prints
// a program as one file, with the parts of this package that it uses.
//
// The programs of document 002, preempt and defaults are compiled by every release since
// Go 1.2, and so is what they use: all of this file.
package harness

import (
	"flag"
	"fmt"
	"io"
	"log"
	"runtime"
	"time"
)

// A Batch is a batch program's command line and outputs.
type Batch struct {
	Args           []string
	Flags          *flag.FlagSet
	Stdout, Stderr io.Writer
	Log            *log.Logger // to Stderr

	// Instead is called when the flags are read, and before the first line is written.
	// The program ends there if it returns true or an error.
	Instead func() (done bool, err error)

	procs   *int
	refused []func() string
}

// Check refuses the command line with a message unless ok returns true.
func (b *Batch) Check(ok func() bool, format string, a ...interface{}) {
	b.refused = append(b.refused, func() string {
		if ok() {
			return ""
		}
		return fmt.Sprintf(format, a...)
	})
}

// Int defines a flag for a number that has a least value.
func (b *Batch) Int(name string, value, least int, usage string) *int {
	n := b.Flags.Int(name, value, usage)
	b.Check(func() bool { return *n >= least }, "-%s must be at least %d", name, least)
	return n
}

// Duration defines a flag for a time that is longer than 0.
func (b *Batch) Duration(name string, value time.Duration, usage string) *time.Duration {
	d := b.Flags.Duration(name, value, usage)
	b.Check(func() bool { return *d > 0 }, "-%s must be more than 0", name)
	return d
}

// Wait defines a flag for a time that may be 0.
func (b *Batch) Wait(name string, value time.Duration, usage string) *time.Duration {
	d := b.Flags.Duration(name, value, usage)
	b.Check(func() bool { return *d >= 0 }, "-%s must not be negative", name)
	return d
}

// Procs defines a flag that sets GOMAXPROCS while the program runs; 0 leaves it.
func (b *Batch) Procs(name string, value int, usage string) {
	b.procs = b.Int(name, value, 0, usage)
}

// Result prints one line of results.
func (b *Batch) Result(format string, a ...interface{}) {
	fmt.Fprintf(b.Stdout, format+"\n", a...)
}

// Run runs a batch program: define defines its flags and returns the rest of it. It
// returns the exit code: 1 if the program fails, 2 if the arguments are wrong.
func Run(name string, args []string, stdout, stderr io.Writer, define func(*Batch) func() error) int {
	b := &Batch{Args: args, Flags: flag.NewFlagSet(name, flag.ContinueOnError), Stdout: stdout, Stderr: stderr, Log: log.New(stderr, "", log.LstdFlags)}
	b.Flags.SetOutput(stderr)
	run := define(b)
	switch err := b.Flags.Parse(args); {
	case err == flag.ErrHelp:
		return 0
	case err != nil:
		return 2
	case b.Flags.NArg() > 0:
		fmt.Fprintf(stderr, "%s: %q: expected only flags\n", name, b.Flags.Arg(0))
		return 2
	}
	for _, refused := range b.refused {
		if why := refused(); why != "" {
			fmt.Fprintf(stderr, "%s: %s\n", name, why)
			return 2
		}
	}
	err := error(nil)
	done := false
	if b.Instead != nil {
		done, err = b.Instead()
	}
	if !done && err == nil {
		if b.procs != nil && *b.procs > 0 {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(*b.procs)) //procfit:ignore PF024 the setting that the experiment is about
		}
		b.Log.Printf("%s: GOMAXPROCS=%d NumCPU=%d Version=%s", name, runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())
		err = run()
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return 1
	}
	return 0
}
