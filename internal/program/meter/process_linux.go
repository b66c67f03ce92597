package meter

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ofProcess looks for the control socket of a process, in the folders where Listen has
// made one. Nothing is sent to a socket of another process.
func ofProcess(pid int) (*Client, error) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	folders, err := socketFolders(filepath.Join(proc, "net", "unix"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("no process %d; procfit ps lists the Go programs that run", pid)
	}
	if err != nil {
		return nil, fmt.Errorf("the sockets of process %d cannot be read: run as its user or as root", pid)
	}
	for _, folder := range folders {
		from := "root"
		if !filepath.IsAbs(folder) {
			from = "cwd"
		}
		files, _ := filepath.Glob(filepath.Join(proc, from, folder, "*"))
		for _, file := range files {
			if IsSocket(file) && server(file) == pid {
				return Open(file), nil
			}
		}
	}
	return nil, fmt.Errorf("process %d has no control socket within reach: its program must call Listen of an Agent of maxprocs/live", pid)
}

// socketFolders are those where Listen has made a socket: in a folder .live… of its own,
// from where it moves the socket. The kernel's list has the first name.
func socketFolders(list string) (folders []string, err error) {
	f, err := os.Open(list)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		const name = 7 // Num RefCount Protocol Flags Type St Inode Path
		if fields := strings.SplitN(strings.Join(strings.Fields(lines.Text()), " "), " ", name+1); len(fields) > name {
			if made := filepath.Dir(fields[name]); strings.HasPrefix(filepath.Base(made), ".live") {
				folders = append(folders, filepath.Dir(made))
			}
		}
	}
	return folders, nil
}

// server is the process that serves a socket; 0: none that this one may know.
func server(socket string) (pid int) {
	c, err := net.DialTimeout("unix", socket, time.Second)
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
