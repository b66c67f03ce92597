package sockets

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/procstat"
)

// The states of a TCP socket (include/net/tcp_states.h), and the one request of sock_diag.
const (
	established      = 1
	listen           = 10
	sockDiagByFamily = 20
	mostPorts        = 16
)

// Listening are the ports where a process listens, and the way to ask about them.
type Listening struct {
	// Address is where a client on this machine reaches the process, at its lowest port. It is
	// not valid if the process has another network namespace.
	Address netip.AddrPort
	conn    *netlink.Conn
	ports   []port
}

// Of looks up where a process listens, in its own network namespace. The error is ErrNone
// if that is nowhere.
func Of(pid int) (*Listening, error) {
	held := map[uint64]bool{}
	_, err := procstat.AnySocket(pid, func(inode uint64) bool {
		held[inode] = true
		return false
	})
	if err != nil {
		return nil, err
	}
	conn, err := dial(pid)
	if err != nil {
		return nil, fmt.Errorf("sock_diag: %w", err)
	}
	l := &Listening{conn: conn}
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		err := l.ask(port{family: family}, listen, func(f found) {
			if !held[uint64(f.inode)] {
				return
			}
			if at := f.address(); !l.Address.IsValid() || at.Port() < l.Address.Port() {
				l.Address = at
			}
			if !slices.Contains(l.ports, f.port) && len(l.ports) < mostPorts {
				l.ports = append(l.ports, f.port)
			}
		})
		if err != nil {
			conn.Close()
			return nil, err
		}
	}
	if len(l.ports) == 0 {
		conn.Close()
		return nil, ErrNone
	}
	if !here(pid) {
		l.Address = netip.AddrPort{}
	}
	return l, nil
}

func (f found) address() netip.AddrPort {
	ip := netip.AddrFrom16(f.local).Unmap()
	if f.family == unix.AF_INET {
		ip = netip.AddrFrom4([4]byte(f.local[:4]))
	}
	if ip.IsUnspecified() {
		ip = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.AddrPortFrom(ip, f.number)
}

func namespace(pid int) string { return "/proc/" + strconv.Itoa(pid) + "/ns/net" }

func here(pid int) bool {
	theirs, err := os.Readlink(namespace(pid))
	own, none := os.Readlink(namespace(os.Getpid()))
	return err == nil && none == nil && theirs == own
}

// dial opens sock_diag in the network namespace of a process. Another one than the own needs
// CAP_SYS_ADMIN.
func dial(pid int) (*netlink.Conn, error) {
	var c netlink.Config
	if !here(pid) {
		f, err := os.Open(namespace(pid))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		c.NetNS = int(f.Fd())
	}
	return netlink.Dial(unix.NETLINK_SOCK_DIAG, &c)
}

func (l *Listening) Close() error { return l.conn.Close() }

// Unread counts the connections in which something waits to be read.
func (l *Listening) Unread() (n int, err error) {
	for _, p := range l.ports {
		err = errors.Join(err, l.ask(p, established, func(f found) {
			if f.port == p && f.unread > 0 {
				n++
			}
		}))
	}
	return n, err
}

func (l *Listening) ask(p port, state uint, each func(found)) error {
	answers, err := l.conn.Execute(netlink.Message{
		Header: netlink.Header{Type: sockDiagByFamily, Flags: netlink.Request | netlink.Dump},
		Data:   request(p, state),
	})
	if err != nil {
		return fmt.Errorf("sock_diag: %w", err)
	}
	for _, a := range answers {
		f, err := parse(a.Data)
		if err != nil {
			return err
		}
		each(f)
	}
	return nil
}
