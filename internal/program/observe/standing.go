package observe

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/host/procstat"
)

// Standing is a process that runs already, and that nobody here has started.
type Standing struct {
	PID     int
	Name    string
	Started uint64 // in ticks since boot; with the PID it names one process
}

// Stand finds the process; the error is ErrNoProcess, or that this system is not Linux.
func Stand(pid int) (Standing, error) {
	stat, err := procstat.ReadStat(pid)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return Standing{}, err
	case err != nil:
		return Standing{}, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	return Standing{PID: pid, Name: name(pid, stat.Name), Started: stat.Started}, nil
}

// StandAt finds the processes that listen at a TCP port of this network namespace: several share
// it where each has a socket of its own, or a socket was passed on. Those that are known not to
// be Go programs, such as a service manager that opened the socket, are skipped if one is known to
// be, and so are forwarders, whose program is elsewhere. The error is errNoListener where nobody
// listens, and a *TakenError where it cannot be seen who.
func StandAt(port int) (list []Standing, err error) {
	_, err = Listener(port, nil)
	by, ok := errors.AsType[*TakenError](err)
	if !ok || by.PID == 0 {
		return nil, err
	}
	reader := new(Reader)
	for _, pid := range goOf(by.pids) {
		one, gone := Stand(pid)
		program, unknown := reader.Program(pid)
		switch {
		case gone != nil:
			err = gone
		case unknown == nil && slices.Contains(forwarders, path.Base(program.Path)):
			err = fmt.Errorf("process %d (%s) passes port %d on to a program in a container or on another machine: name that program", pid, one.Name, port)
		default:
			list = append(list, one)
		}
	}
	if list == nil {
		return nil, err
	}
	return list, nil
}

// forwarders are main packages of Docker, rootless containers, Podman and Kubernetes that listen for the
// program behind a published port.
var forwarders = []string{"docker-proxy", "rootlesskit", "rootlessport", "kubectl"}

// goOf skips the processes that are known not to be Go programs, if one is known to be.
func goOf(pids []int) (list []int) {
	if len(pids) == 1 {
		return pids
	}
	reader, found := new(Reader), false
	for _, pid := range pids {
		_, err := reader.Live(pid)
		if found = found || err == nil; !errors.Is(err, ErrNotGo) {
			list = append(list, pid)
		}
	}
	if !found {
		return pids
	}
	return list
}

func (s Standing) Gone() bool {
	stat, err := procstat.ReadStat(s.PID)
	return err != nil || stat.Started != s.Started || stat.Ended()
}

var errNoListener = errors.New("nobody listens")

// TakenError means that a process listens at the port which is not among those
// asked for.
type TakenError struct {
	Port int
	PID  int    // the first; 0 where it could not be found: another user's, or in another PID namespace
	Name string // of the process
	pids []int  // all that hold a socket there
}

func (e *TakenError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("port %d is in use by a program that cannot be seen from here: another user's, which root sees, or in another PID namespace", e.Port)
	}
	return fmt.Sprintf("port %d is in use by process %d (%s)", e.Port, e.PID, e.Name)
}

// listening returns the inodes of the TCP sockets listening at the port, as
// /proc/PID/net/tcp and tcp6 list them (Documentation/networking/proc_net_tcp.rst).
// The kernel lists listening sockets (state 0A) before all others, which can be
// many thousands, so reading ends at the first other.
func listening(r io.Reader, port int) ([]uint64, error) {
	var inodes []uint64
	lines := bufio.NewScanner(r)
	lines.Scan() // the heading
	for lines.Scan() {
		// sl, local address:port, remote, state, queues, timer, retransmits, uid,
		// timeout, inode, …
		f := bytes.Fields(lines.Bytes())
		if len(f) < 10 {
			return nil, fmt.Errorf("socket table: %q has %d fields, want 10 or more", lines.Text(), len(f))
		}
		if string(f[3]) != "0A" {
			break
		}
		_, hex, ok := bytes.Cut(f[1], []byte(":"))
		at, err := strconv.ParseUint(string(hex), 16, 16)
		if !ok || err != nil {
			return nil, fmt.Errorf("socket table: local address %q", f[1])
		}
		if int(at) != port {
			continue
		}
		inode, err := strconv.ParseUint(string(f[9]), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("socket table: inode %q", f[9])
		}
		inodes = append(inodes, inode)
	}
	return inodes, lines.Err()
}
