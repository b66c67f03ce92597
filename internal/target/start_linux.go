package target

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"
)

// Start starts the target and returns once it runs, that is after execve. When
// ctx is done the target is killed at once, with all its descendants.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	r, err := spec.resolve()
	if err != nil {
		return nil, err
	}
	p, events, cmd, err := spawn(spec.Streams)
	if err != nil {
		return nil, fmt.Errorf("start a supervisor: %w", err)
	}
	if err := p.begin(ctx, r, events); err != nil {
		p.conn.Close()
		_ = cmd.Wait()
		return nil, fmt.Errorf("start %s: %w", strings.Join(spec.Command, " "), addStderr(err, cmd))
	}
	p.abort = func() {
		// The target dies with its supervisor. Its group may hold others.
		_ = unix.Kill(p.supervisor, unix.SIGKILL)
		_ = unix.Kill(-p.pid, unix.SIGKILL)
	}
	stop := context.AfterFunc(ctx, func() { _ = p.tell(command{Op: opStop}) })
	go func() {
		p.follow(events, func() string {
			_ = cmd.Wait()
			return cmd.Stderr.(*bytes.Buffer).String()
		})
		stop()
	}()
	return p, nil
}

// spawn starts a supervisor that waits for its request.
func spawn(streams *Streams) (*Process, *gob.Decoder, *exec.Cmd, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, nil, err
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), "supervisor"), os.NewFile(uintptr(ends[1]), "procfit")
	defer theirs.Close()
	cmd := exec.Command("/proc/self/exe", partSupervisor)
	cmd.Args[0] = "procfit"
	cmd.Dir = "/"
	cmd.Env = supervisorEnv()
	cmd.ExtraFiles = []*os.File{theirs}
	if streams != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, streams.In, streams.Out, streams.Err)
	}
	cmd.Stderr = new(bytes.Buffer)                    // of a crash
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true} // out of reach of the terminal's Ctrl-C
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, nil, nil, err
	}
	p := &Process{
		supervisor: cmd.Process.Pid,
		conn:       ours, send: gob.NewEncoder(ours),
		done: make(chan struct{}), tails: make(chan []byte, 1),
	}
	return p, gob.NewDecoder(ours), cmd, nil
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

// addStderr adds what a supervisor that crashed had to say.
func addStderr(err error, cmd *exec.Cmd) error {
	if text := lastLines(cmd.Stderr.(*bytes.Buffer).Bytes(), 20); text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	return err
}

// Descendants lists the target and all its descendants, parents first.
func (p *Process) Descendants() ([]int, error) {
	all, err := descendants(p.supervisor)
	if err != nil {
		return nil, fmt.Errorf("list the target's processes: %w", err)
	}
	pids := []int{}
	for _, d := range all {
		if !d.zombie {
			pids = append(pids, d.pid)
		}
	}
	return pids, nil
}
