//go:build !portable

package supervisor

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Start starts the command and returns once it runs, that is after execve. When
// ctx is done the command is killed at once, with all its descendants.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	r, err := spec.resolve()
	if err != nil {
		return nil, err
	}
	l, err := spawn(spec.files())
	if err != nil {
		return nil, fmt.Errorf("start a supervisor: %w", err)
	}
	p := &Process{line: l, done: make(chan struct{}), outputs: make(chan output, 1)}
	if err := p.begin(ctx, r); err != nil {
		l.hangUp()
		if lost := l.wait(); lost != nil {
			cleanUp(r, lost)
			err = fmt.Errorf("%w; %w", err, lost)
		}
		return nil, fmt.Errorf("start %s: %w", strings.Join(spec.Command, " "), err)
	}
	p.abort = func() {
		// The command dies with its supervisor. Its group may hold others.
		_ = unix.Kill(l.pid, unix.SIGKILL)
		_ = unix.Kill(-p.pid, unix.SIGKILL)
	}
	stop := context.AfterFunc(ctx, func() { _ = l.tell(command{Op: opStop}) })
	go func() {
		p.follow(func(lost *LostError) { cleanUp(r, lost) })
		stop()
	}()
	return p, nil
}

// spawn starts a supervisor that waits for its request.
func spawn(files []*os.File) (*line, error) {
	if slices.Contains(os.Args[1:min(2, len(os.Args))], partSupervisor) {
		return nil, errors.New("this program does not call supervisor.Stage first")
	}
	// The orphans of a supervisor that is killed come to us.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become the reaper: %w", err)
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), "supervisor"), os.NewFile(uintptr(ends[1]), "procfit")
	defer theirs.Close()
	cmd := exec.Command("/proc/self/exe", partSupervisor)
	cmd.Args[0] = "procfit"
	cmd.Dir = "/"
	cmd.Env = supervisorEnv()
	cmd.ExtraFiles = append([]*os.File{theirs}, files...)
	var said bytes.Buffer // of a crash
	cmd.Stderr = &said
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true} // out of reach of the terminal's Ctrl-C
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	l := &line{pid: cmd.Process.Pid, conn: ours, send: gob.NewEncoder(ours), events: gob.NewDecoder(ours)}
	l.wait = func() *LostError {
		if cmd.Wait() == nil {
			return nil
		}
		// All that the supervisor itself reports ends with exit code 0.
		return &LostError{PID: l.pid, Fate: cmd.ProcessState.String(), Said: LastLines(said.Bytes(), 20)}
	}
	return l, nil
}

// supervisorEnv is the environment of the supervisor and the stage: one P, to
// cost the machine under test as little as can be, nothing of procfit's own
// tuning, but what the race detector and coverage of our tests read.
func supervisorEnv() []string {
	env := []string{"GOMAXPROCS=1"}
	for _, name := range []string{"GORACE", "GOCOVERDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Descendants lists the command and all its descendants, parents first.
func (p *Process) Descendants() ([]int, error) {
	all, err := descendants(p.line.pid)
	if err != nil {
		return nil, fmt.Errorf("list the processes below process %d: %w", p.line.pid, err)
	}
	pids := []int{}
	for _, d := range all {
		if !over(d) {
			pids = append(pids, d.PID)
		}
	}
	return pids, nil
}

type Process struct {
	line    *line
	pid     int
	done    chan struct{}
	outputs chan output // answers to opTail
	abort   func()      // ends supervisor and command by force

	// Set before done is closed.
	exit   Exit
	output output
	err    error
}

// PID is the command's own process.
func (p *Process) PID() int { return p.pid }

// stopPatience is what the supervisor's own bounds add up to, and some more.
const stopPatience = 15 * time.Second

// Stop sends SIGTERM to the command's process group and, after the grace, SIGKILL
// to all its descendants; those that have left the group, daemons, are killed as
// soon as the group has ended. It returns as Wait does. Stopping what has ended
// is fine.
func (p *Process) Stop(grace time.Duration) (Exit, error) {
	_ = p.line.tell(command{Op: opStop, Grace: grace}) // fails when the supervisor is gone, and so Done
	watchdog := time.NewTimer(grace + stopPatience)
	defer watchdog.Stop()
	select {
	case <-p.done:
	case <-watchdog.C:
		p.abort()
	}
	return p.Wait()
}

func (p *Process) said() output {
	select {
	case <-p.done:
		return p.output
	default:
	}
	if p.line.tell(command{Op: opTail}) == nil {
		select {
		case now := <-p.outputs:
			return now
		case <-p.done:
			return p.output
		case <-time.After(time.Second): // a machine too busy for an error message's detail
		}
	}
	return output{}
}

// follow reads the supervisor's events until the command has ended. lost cleans
// up after a supervisor that ended before it could.
func (p *Process) follow(lost func(*LostError)) {
	var last event
	for last.Exit == nil {
		last = event{}
		if err := p.line.events.Decode(&last); err != nil {
			break
		}
		if last.Exit == nil {
			select {
			case p.outputs <- last.Output:
			default: // nobody waits any more
			}
		}
	}
	switch {
	case last.Exit == nil:
		p.abort()
		p.exit = Exit{Code: -1}
		fate := p.line.wait()
		if fate == nil {
			fate = &LostError{PID: p.line.pid, Fate: "it ended without a report"}
		}
		lost(fate)
		p.err = fate
	case len(last.Exit.Left) > 0:
		p.exit, p.output = *last.Exit, last.Output
		p.err = &LeftError{p.exit.Left}
		go p.line.wait() // the supervisor goes on alone with what is left
	default:
		p.exit, p.output = *last.Exit, last.Output
		p.line.wait()
	}
	p.line.hangUp()
	close(p.done)
}

// begin sends the request and waits for exec.
func (p *Process) begin(ctx context.Context, r request) error {
	stop := context.AfterFunc(ctx, p.line.hangUp) // the supervisor then ends what it began
	defer stop()
	var first event
	err := p.line.tell(r)
	if err == nil {
		err = p.line.events.Decode(&first)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("the supervisor did not answer: %w", err)
	case first.PID == 0:
		return errors.New(first.Error)
	}
	p.pid = first.PID
	return nil
}
