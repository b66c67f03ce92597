// Package sockets counts the TCP connections of a process in which requests wait that it has
// not read yet, as the kernel tells them (sock_diag(7)): what waits there no code in the
// process can see.
//
// A connection counts if its receive queue holds a byte. It holds a request, or several of
// one client, or a part of one: the number is that of waiting clients. By Little's law its
// mean, divided by the requests per second, is how long a request waits before it is read.
// Connections that the process has not accepted yet count too.
//
// Limits: TCP at the ports where the process listened when it was looked up, and no Unix
// sockets. Another process that listens at the same port counts with it. What the program
// never reads counts for as long as it waits.
package sockets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// AddressOf is where a client on this machine reaches a process, at its lowest port. It is not
// valid if the process listens nowhere, or nobody sees where.
func AddressOf(pid int) netip.AddrPort {
	l, err := Of(pid)
	if err != nil {
		return netip.AddrPort{}
	}
	defer l.Close()
	return l.Address
}

// ErrNone means that a process listens at no TCP port.
var ErrNone = errors.New("it listens at no TCP port")

type port struct {
	family uint8
	number uint16
}

// found is one socket of an answer of the kernel.
type found struct {
	port
	inode  uint32
	unread uint32   // bytes
	local  [16]byte // its own address; of IPv4 the first four bytes
}

// requestSize and answerSize are those of inet_diag_req_v2 and of inet_diag_msg
// (include/uapi/linux/inet_diag.h).
const (
	requestSize = 56
	answerSize  = 72
)

// request asks for the TCP sockets of a family in one state. A local port of 0 means all.
func request(p port, state uint) []byte {
	const tcp = 6
	b := make([]byte, requestSize)
	b[0], b[1] = p.family, tcp
	binary.NativeEndian.PutUint32(b[4:], 1<<state)
	binary.BigEndian.PutUint16(b[8:], p.number)
	return b
}

func parse(b []byte) (found, error) {
	if len(b) < answerSize {
		return found{}, fmt.Errorf("sock_diag: an answer of %d bytes, expected %d or more", len(b), answerSize)
	}
	return found{
		port:   port{b[0], binary.BigEndian.Uint16(b[4:])},
		unread: binary.NativeEndian.Uint32(b[56:]),
		inode:  binary.NativeEndian.Uint32(b[68:]),
		local:  [16]byte(b[8:24]),
	}, nil
}
