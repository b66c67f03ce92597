package meter

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/show/phrase"
)

// The bounds of a search for the socket of a process.
const (
	searchFor   = 2 * time.Second
	mostFiles   = 1 << 16 // open files of the process
	mostSockets = 16      // of Listen, among these
	mostNames   = 1000    // next to such a socket
	mostLinks   = 40      // on the way there, as in the kernel
)

// ofProcess looks for the control socket of a process. What the process writes about itself,
// such as the name of a socket, says at most where to look: only a file that the kernel has for
// a socket of the process is connected to or, for a process of this user, a file of this user.
func ofProcess(ctx context.Context, pid int) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, searchFor)
	defer cancel()
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	if _, err := os.Lstat(proc); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no process %d; procfit ps lists the Go programs that run", pid)
	}
	made, err := madeByListen(ctx, proc)
	for _, s := range made {
		for file := range s.files(ctx, proc, pid) {
			c := Open("/proc/self/fd/" + strconv.Itoa(int(file.Fd())))
			if server(ctx, c.socket) == pid {
				c.name, c.file = fmt.Sprintf("process %d", pid), file
				return c, nil
			}
			file.Close()
		}
	}
	switch err = cmp.Or(err, ctx.Err()); {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("the sockets of process %d cannot be read: run as its user or as root", pid)
	case err != nil:
		return nil, fmt.Errorf("the sockets of process %d were not all looked at: %w; name the socket", pid, err)
	}
	return nil, fmt.Errorf("process %d has no control socket within reach: its program must call Listen of an Agent of maxprocs/live", pid)
}

// socket is one that Listen has made, by its name: it was in a folder .live… of its own, from
// where Listen moved it.
type socket struct {
	fd   int    // in the process
	near string // the folder into which it was moved
}

// socketsOf are the sockets that a process holds: their descriptors, by inode.
func socketsOf(ctx context.Context, proc string) (map[string]int, error) {
	dir, err := os.Open(filepath.Join(proc, "fd"))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	held := map[string]int{}
	names, _ := dir.Readdirnames(mostFiles)
	for _, name := range names {
		if ctx.Err() != nil {
			break
		}
		link, err := os.Readlink(filepath.Join(proc, "fd", name))
		inode, is := strings.CutPrefix(link, "socket:[")
		if fd, bad := strconv.Atoi(name); err == nil && bad == nil && is {
			held[strings.TrimSuffix(inode, "]")] = fd
		}
	}
	return held, nil
}

// madeByListen are those sockets of a process that Listen has made. The list is of the whole network
// namespace, and who names a socket can write lines of it.
func madeByListen(ctx context.Context, proc string) (made []socket, err error) {
	held, err := socketsOf(ctx, proc)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(proc, "net", "unix"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan() && ctx.Err() == nil && len(made) < mostSockets; {
		var inode string
		name := lines.Text()
		for range 7 { // Num RefCount Protocol Flags Type St Inode Path
			inode, name, _ = strings.Cut(strings.TrimLeft(name, " "), " ")
		}
		fd, ours := held[inode]
		if in := path.Dir(name); ours && phrase.Clean(name) == name && strings.HasPrefix(path.Base(in), ".live") {
			made = append(made, socket{fd, path.Dir(in)})
		}
	}
	return made, nil
}

// files are those that may be the socket's. They are opened but not connected to.
func (s socket) files(ctx context.Context, proc string, pid int) iter.Seq[*os.File] {
	file, err := s.file(pid)
	switch {
	case err == nil:
		return slices.Values([]*os.File{file})
	case ofThisUser(proc):
		return s.filesNear(ctx, proc)
	}
	return func(func(*os.File) bool) {}
}

// siocUnixFile is SIOCUNIXFILE of include/uapi/linux/un.h.
const siocUnixFile = 0x89e0

// file is the socket's file by the kernel, wherever it was moved: see pidfd_getfd(2), which needs
// CAP_SYS_PTRACE, and unix(7), where the rest needs CAP_NET_ADMIN.
func (s socket) file(pid int) (*os.File, error) {
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(process)
	fd, err := unix.PidfdGetfd(process, s.fd, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil || domain != unix.AF_UNIX {
		return nil, cmp.Or(err, error(unix.ENOTSOCK))
	}
	file, err := unix.IoctlRetInt(fd, siocUnixFile)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(file), "control socket"), nil
}

// ofThisUser reports whether a process has the rights of this user and no others.
func ofThisUser(proc string) bool {
	status, _ := os.ReadFile(filepath.Join(proc, "status"))
	for line := range strings.Lines(string(status)) {
		if ids, ok := strings.CutPrefix(line, "Uid:"); ok {
			uid := strconv.Itoa(os.Geteuid())
			return strings.Join(strings.Fields(ids), " ") == strings.Join([]string{uid, uid, uid, uid}, " ")
		}
	}
	return false
}

// filesNear are the sockets of this user in the folder of a socket, as the process sees the
// folder. No link leads out of the root of the process.
func (s socket) filesNear(ctx context.Context, proc string) iter.Seq[*os.File] {
	return func(yield func(*os.File) bool) {
		from := "root"
		if !path.IsAbs(s.near) {
			from = "cwd"
		}
		root, err := os.OpenRoot(filepath.Join(proc, from))
		if err != nil {
			return
		}
		defer root.Close()
		folder := followed(root, s.near)
		dir, err := root.OpenFile(folder, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return
		}
		defer dir.Close()
		names, _ := dir.Readdirnames(mostNames)
		for _, name := range names {
			if file := socketOfThisUser(root, path.Join(folder, name)); ctx.Err() != nil || file != nil && !yield(file) {
				return
			}
		}
	}
}

// socketOfThisUser opens a socket without connecting to it; nil: it is not one of this user.
func socketOfThisUser(root *os.Root, name string) *os.File {
	file, err := root.OpenFile(name, unix.O_PATH, 0)
	if err != nil {
		return nil
	}
	info, err := file.Stat()
	if err != nil || info.Mode().Type() != fs.ModeSocket || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
		file.Close()
		return nil
	}
	return file
}

// followed is a path below a root without its links: the root of an absolute link, such as
// /var/run, is this one.
func followed(root *os.Root, rest string) (done string) {
	done = "."
	for links := 0; rest != "" && links < mostLinks; {
		var part string
		part, rest, _ = strings.Cut(strings.TrimLeft(rest, "/"), "/")
		link, err := root.Readlink(path.Join(done, part))
		if err != nil { // it is not a link, or it is not there
			done = path.Join(done, part)
			continue
		}
		if links++; path.IsAbs(link) {
			done = "."
		}
		rest = link + "/" + rest
	}
	return done
}

// server is the process that serves a socket; 0: none that this one may know.
func server(ctx context.Context, socket string) (pid int) {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", socket)
	if err != nil {
		return 0
	}
	defer c.Close()
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if who, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid = int(who.Pid)
		}
	})
	return pid
}
