// Package supervisor runs commands so that nothing of them is left: the program
// under test, the compilers, the load generators, whatever procfit starts.
//
// The model, three processes deep:
//
//	procfit ── supervisor ── command ── its descendants
//
// The supervisor is procfit's own executable in another part (see Stage), one a
// command, in a session of its own and outside of the command's cgroups. It is
// the reaper of every orphan below it (PR_SET_CHILD_SUBREAPER), so whatever the
// command starts stays within its reach, daemons too. A socket joins it to
// procfit: when that closes, because procfit died by whatever signal, the
// supervisor kills every descendant until none is left and removes the cgroups
// and the folders that it was told of.
//
// The command begins as procfit's executable once more, the stage, which writes
// itself into the cgroups, sets its affinity and then becomes the command by
// execve: a Go program reads both when it starts, and one moved later keeps the
// default it took before. Both hold for a process of many threads, too, since
// execve ends all but the calling one.
//
// When the command ends, by itself or by Stop, its leftover descendants are
// killed before that is reported, and what the whole tree used is reported with
// it. Its output goes through the supervisor, which keeps the first and the last
// part, so a command never waits for the disk, nor fills it.
//
// A supervisor that is killed is lost: the command itself dies with it
// (PR_SET_PDEATHSIG), and its orphans come to procfit, which is a reaper too and
// ends them (LostError).
//
// What outlives single commands, a folder of compiled programs and the cgroups
// of all replicas, is announced to a Keeper, which is a supervisor without a command.
//
// Limits: Linux only; elsewhere Run runs a command plainly, and the rest fails. A
// set-user-ID command loses the death signal. When procfit and a supervisor are
// killed at once, that one's daemons are left. The maximum resident size is known only
// above the stage's own of some 10 MB, as execve does not reset it.
package supervisor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// CaptureLimit bounds each stream of an Output, where the Spec has no LogLimit.
const CaptureLimit = 16 << 20

// streamPatience is how long the output of a command that has ended is waited
// for: nothing of it is left, but somebody else may hold the pipe.
const streamPatience = time.Second

type Output struct {
	Stdout, Stderr []byte
	Cut            bool // lines between the first and the last part of one are left out
	Exit           Exit
}

// Run runs a command to its end. A command that fails is no error: see Exit. With
// a Log or Streams in the spec, its output goes there and is not captured. When
// ctx is done all of the command is killed, and the error is that of ctx, with a *LeftError if something is left.
func Run(ctx context.Context, spec Spec) (Output, error) {
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	if spec.Log != nil || spec.Streams != nil {
		exit, err := runSpec(ctx, spec, func() {})
		return Output{Exit: exit, Cut: exit.LogCut}, err
	}
	c, err := newCapture(cmp.Or(spec.LogLimit, CaptureLimit))
	if err != nil {
		return Output{}, err
	}
	defer c.close()
	spec.Streams = &c.theirs
	exit, err := runSpec(ctx, spec, c.begin)
	if err != nil {
		return Output{}, err
	}
	out := Output{Exit: exit}
	out.Stdout, out.Stderr, out.Cut = c.finish()
	return out, nil
}

// runSpec calls started once the command runs.
func runSpec(ctx context.Context, spec Spec, started func()) (exit Exit, err error) {
	p, err := Start(ctx, spec)
	if err == nil {
		started()
		exit, err = p.Wait()
	}
	if ctx.Err() != nil {
		if left := (*LeftError)(nil); errors.As(err, &left) {
			return Exit{}, fmt.Errorf("%w; %w", ctx.Err(), left)
		}
		return Exit{}, ctx.Err()
	}
	return exit, err
}

// Done is closed when the command has ended and nothing of it is left.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for Done and returns how the command ended. The error says that this
// is not known, a *LostError, or that something outlives SIGKILL, a *LeftError.
func (p *Process) Wait() (Exit, error) {
	<-p.done
	return p.exit, p.err
}

// LastWords quotes at most n lines of the output, of its last 8 KiB, that tell of the
// command's end: those of a crash of Go's runtime, whatever was printed after them, else
// the last ones. A crash is not looked for in one that exited with code 0.
func (p *Process) LastWords(n int) Quote {
	said := p.said()
	select {
	case <-p.done:
		if p.err == nil && !p.exit.Failed() {
			said.Crash = nil
		}
	default:
	}
	return quote(said.Crash, said.Tail, n)
}

type capture struct {
	theirs  Streams
	ours    [2]*os.File
	kept    [2]keptOutput
	reading sync.WaitGroup
}

type keptOutput struct {
	headTail *headTail
	bytes    bytes.Buffer
}

func newCapture(limit int64) (*capture, error) {
	c := &capture{}
	var err error
	if c.theirs.In, err = os.Open(os.DevNull); err == nil {
		c.ours[0], c.theirs.Out, err = os.Pipe()
	}
	if err == nil {
		c.ours[1], c.theirs.Err, err = os.Pipe()
	}
	if err != nil {
		c.close()
		return nil, err
	}
	for i := range c.kept {
		c.kept[i].headTail = newHeadTail(&c.kept[i].bytes, limit)
	}
	return c, nil
}

// begin is for when the command has started.
func (c *capture) begin() {
	c.closeTheirs()
	for i := range c.kept {
		c.reading.Go(func() {
			_, _ = io.Copy(c.kept[i].headTail, c.ours[i]) // ends with the last writer, or by finish
		})
	}
}

// finish is for when the command has ended.
func (c *capture) finish() (stdout, stderr []byte, cut bool) {
	for _, f := range c.ours {
		_ = f.SetReadDeadline(time.Now().Add(streamPatience))
	}
	c.reading.Wait()
	for i := range c.kept {
		_ = c.kept[i].headTail.Close() // memory takes all
		cut = cut || c.kept[i].headTail.cut()
	}
	return c.kept[0].bytes.Bytes(), c.kept[1].bytes.Bytes(), cut
}

func (c *capture) closeTheirs() {
	for _, f := range []*os.File{c.theirs.In, c.theirs.Out, c.theirs.Err} {
		f.Close() // of none it does nothing
	}
}

func (c *capture) close() {
	c.closeTheirs()
	for _, f := range c.ours {
		f.Close()
	}
	c.reading.Wait()
}
