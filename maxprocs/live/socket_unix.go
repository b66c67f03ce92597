//go:build unix

package live

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// longestPath is what fits into sun_path of every system, of which macOS has the shortest.
const longestPath = 103

// Listen serves the control endpoint on a unix socket that only the user of this process,
// and root, can use. The socket has the right mode from the beginning: it is made in a
// folder of its own, and moved. If the folder of the socket does not exist, Listen makes it
// for this user alone; in a folder that others can write to, such as an emptyDir of
// Kubernetes, name one below it. A socket that no process serves is replaced; one that a
// process serves is an error. Close the result to end the endpoint and remove the socket;
// that does not end a lease, see Off.
func (a *Agent) Listen(file string) (io.Closer, error) {
	if len(file) > longestPath {
		return nil, fmt.Errorf("live: %s has %d bytes; a socket's path has at most %d", file, len(file), longestPath)
	}
	folder := filepath.Dir(file)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("live: %w", err)
	}
	if err := safe(folder); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(file); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("live: %s exists and is not a socket", file)
		}
		c, err := net.DialTimeout("unix", file, time.Second)
		if err == nil {
			c.Close()
			return nil, fmt.Errorf("live: another process serves %s", file)
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return nil, fmt.Errorf("live: %s exists: %w", file, err)
		}
	}
	private, err := os.MkdirTemp(folder, ".live") // only this user can enter it
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	defer os.RemoveAll(private)
	made := filepath.Join(private, "s")
	l, err := net.Listen("unix", made)
	if errors.Is(err, syscall.EINVAL) { // made is longer than file
		return nil, fmt.Errorf("live: %s has %d bytes, too many for the folder of a socket; name a shorter one", folder, len(folder))
	}
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err = os.Chmod(made, 0o600); err == nil {
		err = os.Rename(made, file)
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("live: %w", err)
	}
	s := &socket{file: file, server: &http.Server{Handler: a, ReadHeaderTimeout: slowest, IdleTimeout: 2 * LongestLease, MaxHeaderBytes: longest}}
	if s.made, err = os.Lstat(file); err != nil {
		l.Close()
		return nil, fmt.Errorf("live: %w", err)
	}
	s.done.Add(1)
	go func() {
		defer s.done.Done()
		_ = s.server.Serve(owned{l}) // ends with Close
	}()
	return s, nil
}

// safe refuses a folder in which another user can replace the socket.
func safe(folder string) error {
	info, err := os.Stat(folder)
	if err != nil {
		return fmt.Errorf("live: %w", err)
	}
	if info.Mode().Perm()&0o022 != 0 && info.Mode()&os.ModeSticky == 0 {
		return fmt.Errorf("live: other users can write to %s (%v); name a folder below it, which Listen makes for this user alone, such as %s", folder, info.Mode(), filepath.Join(folder, "live", "procfit.sock"))
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid != 0 && int(s.Uid) != os.Geteuid() {
		return fmt.Errorf("live: %s belongs to user %d; expected a folder of this user", folder, s.Uid)
	}
	return nil
}

// socket is a control endpoint that is being served.
type socket struct {
	server *http.Server
	file   string
	made   os.FileInfo
	done   sync.WaitGroup
}

// Close ends the endpoint and removes its socket, if it still is its own.
func (s *socket) Close() error {
	err := s.server.Close()
	s.done.Wait()
	if now, e := os.Lstat(s.file); e == nil && os.SameFile(now, s.made) {
		_ = os.Remove(s.file)
	}
	return err
}

// owned accepts connections of this user, and of root.
type owned struct{ net.Listener }

func (l owned) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if u, ok := c.(*net.UnixConn); ok && allowedPeer(u) {
			return c, nil
		}
		c.Close()
	}
}

// cpuTime is the CPU time of this process, user and system.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
