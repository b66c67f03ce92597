package observe

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/host/procstat"
)

// Listener returns the first of pids that holds a TCP socket listening at the
// port, in the network namespaces of pids (of procfit itself when there are none).
// Where there is none the error is errNoListener, or a *TakenError when somebody
// else listens.
func Listener(port int, pids []int) (int, error) {
	sockets, err := listeners(port, pids)
	if err != nil {
		return 0, err
	}
	if len(sockets) == 0 {
		return 0, fmt.Errorf("port %d: %w", port, errNoListener)
	}
	var denied error
	for _, pid := range pids {
		holds, err := holdsAny(pid, sockets)
		if holds {
			return pid, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			denied = err
		}
	}
	if denied != nil {
		return 0, fmt.Errorf("port %d: cannot tell who listens (run as root or as the same user): %w", port, denied)
	}
	return 0, taken(port, pids, sockets)
}

// taken looks for the holders among all processes. Where nobody holds the sockets and they no
// longer listen, their process has ended since they were read: errNoListener.
func taken(port int, except []int, sockets map[uint64]bool) error {
	e := &TakenError{Port: port}
	all, err := procstat.IDs("/proc")
	if err != nil {
		return err
	}
	for _, pid := range all {
		if slices.Contains(except, pid) {
			continue
		}
		if holds, _ := holdsAny(pid, sockets); holds {
			e.pids = append(e.pids, pid)
		}
	}
	if len(e.pids) > 0 {
		e.PID = e.pids[0]
		if s, err := procstat.ReadStat(e.PID); err == nil {
			e.Name = s.Name
		}
	} else {
		now, err := listeners(port, except)
		if err == nil && !slices.ContainsFunc(slices.Collect(maps.Keys(sockets)), func(socket uint64) bool { return now[socket] }) {
			return fmt.Errorf("port %d: %w", port, errNoListener)
		}
	}
	return e
}

// listeners are the inodes of the sockets that listen at the port.
func listeners(port int, pids []int) (map[uint64]bool, error) {
	if _, err := procstat.ReadStat(os.Getpid()); errors.Is(err, errors.ErrUnsupported) {
		return nil, fmt.Errorf("finding who listens at a port needs Linux: %w", errors.ErrUnsupported)
	}
	if len(pids) == 0 {
		pids = []int{os.Getpid()}
	}
	sockets := make(map[uint64]bool)
	seen := make(map[string]bool)
	for _, pid := range pids {
		dir := "/proc/" + strconv.Itoa(pid)
		space, err := os.Readlink(dir + "/ns/net")
		if err == nil && seen[space] {
			continue
		}
		seen[space] = true
		for _, table := range []string{"/net/tcp", "/net/tcp6"} {
			f, err := os.Open(dir + table)
			if err != nil {
				continue // gone, or without IPv6
			}
			inodes, err := listening(f, port)
			f.Close()
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("%s%s: %w", dir, table, err)
			}
			for _, inode := range inodes {
				sockets[inode] = true
			}
		}
	}
	return sockets, nil
}

func holdsAny(pid int, sockets map[uint64]bool) (bool, error) {
	return procstat.AnySocket(pid, func(inode uint64) bool { return sockets[inode] })
}
