//go:build !linux || portable

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

var errLinux = fmt.Errorf("starting a command on CPUs or in groups of its own needs Linux: %w", errors.ErrUnsupported)

// Process is a started command without a supervisor. What is lost: when procfit is
// killed the command goes on (but for Windows, see tree), and the spec's folders
// stay; what has left its cgroup, a daemon, goes on too.
type Process struct {
	logs
	cmd    *exec.Cmd
	tree   tree
	theirs []*os.File // our ends of what the command writes to, which it holds itself once it runs
	done   chan struct{}

	// Set before done is closed.
	exit Exit
	err  error
}

// Start starts the command and returns once it runs. When ctx is done the command is
// killed at once, with its cgroup.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	r, err := spec.resolve()
	if err != nil {
		return nil, err
	}
	if len(spec.CPUs) > 0 || len(spec.ProcsFiles) > 0 {
		return nil, errLinux
	}
	for _, folder := range r.Folders {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return nil, err
		}
	}
	p := &Process{done: make(chan struct{})}
	p.cmd = &exec.Cmd{Path: r.Path, Args: r.Args, Dir: r.Dir, Env: r.Env, SysProcAttr: groupOfItsOwn()}
	from, err := p.connect(spec, r.LogLimit)
	if err == nil {
		err = p.cmd.Start()
	}
	for _, f := range p.theirs {
		f.Close()
	}
	if err == nil {
		if p.tree, err = newTree(p.cmd.Process); err != nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
	}
	if err != nil {
		removeFolders(r.Folders)
		return nil, fmt.Errorf("start %s: %w", strings.Join(spec.Command, " "), err)
	}
	began := time.Now()
	stop := context.AfterFunc(ctx, p.tree.kill)
	go func() {
		p.follow(from, began, stop)
		removeFolders(r.Folders)
		close(p.done)
	}()
	return p, nil
}

// connect gives the command its standard input, output and error, and returns where
// its output comes from; nil: it goes where the spec says.
func (p *Process) connect(spec Spec, limit int64) (from []*os.File, err error) {
	if s := spec.Streams; s != nil {
		p.logs = newLogs(nil, nil, 0)
		p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = s.In, s.Out, s.Err
		return nil, nil
	}
	p.logs = newLogs(spec.Log, spec.ErrorLog, limit)
	for range p.to {
		r, w, err := os.Pipe()
		if err != nil {
			return from, err
		}
		from, p.theirs = append(from, r), append(p.theirs, w)
	}
	p.cmd.Stdout, p.cmd.Stderr = p.theirs[0], p.theirs[len(p.theirs)-1]
	return from, nil
}

// drainPatience is how long the output of a command that has ended is waited for,
// whose pipe somebody else may hold.
const drainPatience = 2 * time.Second

// follow waits for the end of the command and of its cgroup; stop keeps a context from
// killing what is no more.
func (p *Process) follow(from []*os.File, began time.Time, stop func() bool) {
	var draining sync.WaitGroup
	for i, r := range from {
		draining.Go(func() { _, _ = io.Copy(p.to[i], r) }) // ends with the last writer, or below
	}
	err := p.cmd.Wait()
	wall := time.Since(began)
	stop()
	killed := p.tree.end()
	for _, r := range from {
		_ = r.SetReadDeadline(time.Now().Add(drainPatience))
	}
	draining.Wait()
	for _, r := range from {
		r.Close()
	}
	logErr := p.logs.close()
	state := p.cmd.ProcessState
	if state == nil {
		p.exit, p.err = Exit{Code: -1}, err
		return
	}
	p.exit = Exit{
		Code: state.ExitCode(), Wall: wall, User: state.UserTime(), System: state.SystemTime(), Killed: killed,
		LogCut: p.log.cut(), OutputBytes: p.log.total,
	}
	if logErr != nil {
		p.exit.LogError = logErr.Error()
	}
	if p.exit.Code < 0 {
		p.exit.Signal = strings.TrimPrefix(state.String(), "signal: ")
	}
}

func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stop asks the command's group to end and, after the grace, kills it. Stopping what
// has ended is fine.
func (p *Process) Stop(grace time.Duration) (Exit, error) {
	p.tree.ask()
	select {
	case <-p.done:
	case <-time.After(grace):
		p.tree.force()
	}
	return p.Wait()
}

func (p *Process) said() output { return p.output.Output() }

// Descendants is the command alone: who is below it, only Linux tells.
func (p *Process) Descendants() ([]int, error) { return []int{p.PID()}, nil }

// Stage is for Linux; elsewhere no process is ever started as one.
func Stage(args []string) (code int, ok bool) { return 0, false }

func startKeeper() (*line, error) { return nil, nil }
