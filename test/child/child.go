// Package child starts programs that a test talks to line by line.
package child

import (
	"bufio"
	"io"
	"os/exec"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// Child is a program that ends when its standard input does.
type Child struct {
	*exec.Cmd
	In  io.WriteCloser
	Out *bufio.Scanner // its lines
	t   testing.TB
}

// Start starts a program. It ends with the test, or before that with End.
func Start(t testing.TB, cmd *exec.Cmd) *Child {
	t.Helper()
	in := must.Get(cmd.StdinPipe())(t)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.OK(t, err)
	c := &Child{cmd, in, bufio.NewScanner(out), t}
	t.Cleanup(c.End)
	return c
}

// Line is the next one that it prints.
func (c *Child) Line() string {
	c.t.Helper()
	if !c.Out.Scan() {
		c.t.Fatalf("%s prints no more: %v", c.Cmd, c.Out.Err())
	}
	return c.Out.Text()
}

// PID is its process.
func (c *Child) PID() int { return c.Process.Pid }

// End waits for its end. It may be called again.
func (c *Child) End() {
	c.In.Close()
	_ = c.Wait() // a test that asks for its exit code waits itself
}
