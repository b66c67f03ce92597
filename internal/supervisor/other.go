//go:build !linux

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

var errLinux = fmt.Errorf("starting a supervised command needs Linux: %w", errors.ErrUnsupported)

// Stage is for Linux; elsewhere no process is ever started as one.
func Stage(args []string) (code int, ok bool) { return 0, false }

// Start fails: it needs Linux.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if _, err := spec.resolve(); err != nil {
		return nil, err
	}
	return nil, errLinux
}

// Descendants fails: it needs Linux.
func (p *Process) Descendants() ([]int, error) { return nil, errLinux }

func startKeeper() (*line, error) { return nil, nil }

// runSpec runs the command without a supervisor. What is lost: when procfit is
// killed, the command goes on, and the spec's folders stay; what the command
// itself leaves running goes on too; affinity and groups are not to be had.
func runSpec(ctx context.Context, spec Spec, started func()) (Exit, error) {
	r, err := spec.resolve()
	if err != nil {
		return Exit{}, err
	}
	for _, folder := range r.Folders {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return Exit{}, err
		}
		defer os.RemoveAll(folder)
	}
	cmd := exec.CommandContext(ctx, r.Path, r.Args[1:]...)
	cmd.Dir, cmd.Env = r.Dir, r.Env
	switch {
	case spec.Streams != nil:
		cmd.Stdin, cmd.Stdout, cmd.Stderr = spec.Streams.In, spec.Streams.Out, spec.Streams.Err
	case spec.Log != nil:
		cmd.Stdout, cmd.Stderr = spec.Log, spec.Log
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return Exit{}, err
	}
	started()
	err = cmd.Wait()
	if ctx.Err() != nil {
		return Exit{}, ctx.Err()
	}
	if cmd.ProcessState == nil {
		return Exit{}, err
	}
	e := Exit{Code: cmd.ProcessState.ExitCode(), Wall: time.Since(began), User: cmd.ProcessState.UserTime(), System: cmd.ProcessState.SystemTime()}
	if e.Code < 0 {
		e.Signal = cmd.ProcessState.String()
	}
	return e, nil
}
