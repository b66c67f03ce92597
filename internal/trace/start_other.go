//go:build !linux || portable

package trace

import (
	"context"
	"os"
	"os/exec"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
)

// child is the command itself; what it starts is not looked after here.
type child struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

func start(_ context.Context, spec supervisor.Spec) (process, error) {
	if err := supervisor.CheckCommand(spec.Command[0]); err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(spec.Command[0], spec.Command[1:]...), done: make(chan struct{})}
	c.cmd.Env = spec.Env
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = spec.Streams.In, spec.Streams.Out, spec.Streams.Err
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.done)
	}()
	return c, nil
}

func (c *child) Done() <-chan struct{} { return c.done }

func (c *child) Stop(grace time.Duration) (supervisor.Exit, error) {
	killed := false
	if c.cmd.Process.Signal(os.Interrupt) != nil { // Windows has no such signal
		grace = 0
	}
	select {
	case <-c.done:
	case <-time.After(grace):
		killed = c.cmd.Process.Kill() == nil
		<-c.done
	}
	state := c.cmd.ProcessState
	if state == nil {
		return supervisor.Exit{}, c.err
	}
	exit := supervisor.Exit{Code: state.ExitCode(), Killed: killed}
	if exit.Code < 0 {
		exit.Signal = state.String()
	}
	return exit, nil
}
