package load

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
)

// Kind is why a request or a connection failed: a code that may be kept.
type Kind string

// The kinds besides those of a status, which StatusKind makes.
const (
	KindRefused        Kind = "refused"         // nobody listens
	KindConnectTimeout Kind = "connect_timeout" // no connection within the time-out
	KindConnect        Kind = "connect"         // no connection for another reason
	KindClosed         Kind = "closed"          // by the server before the answer was complete
	KindReset          Kind = "reset"           // by the server
	KindBroken         Kind = "broken"          // a send or a receive failed for another reason
	KindTimeout        Kind = "timeout"         // no answer within the time-out
	KindMalformed      Kind = "malformed"       // an answer that is no HTTP/1.1
)

const statusPrefix = "status_"

// StatusKind is the kind of an answer with a bad status: status_503.
func StatusKind(status int) Kind { return Kind(statusPrefix + strconv.Itoa(status)) }

// Words is the kind for readers: "connection refused", "status 503".
func (k Kind) Words() string {
	switch k {
	case KindRefused:
		return "connection refused"
	case KindConnectTimeout:
		return "no connection within the time-out"
	case KindConnect:
		return "could not connect"
	case KindClosed:
		return "connection closed before the answer was complete"
	case KindReset:
		return "connection reset"
	case KindBroken:
		return "connection broken"
	case KindTimeout:
		return "timed out"
	case KindMalformed:
		return "malformed answer"
	}
	if status, ok := strings.CutPrefix(string(k), statusPrefix); ok {
		return "status " + status
	}
	return string(k)
}

// Failure is one failure in full; the zero value is none.
type Failure struct {
	Kind   Kind
	URL    string
	Detail string // what the kernel said or what was wrong with the answer; may be empty
}

func (f Failure) String() string {
	switch {
	case f.Kind == "":
		return ""
	case f.Detail == "":
		return fmt.Sprintf("%s: %s", f.URL, f.Kind.Words())
	}
	return fmt.Sprintf("%s: %s: %s", f.URL, f.Kind.Words(), f.Detail)
}

// dialKind is the kind of a failed connection attempt.
func dialKind(err error) Kind {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return KindRefused
	case errors.Is(err, syscall.ETIMEDOUT):
		return KindConnectTimeout
	}
	return KindConnect
}

// brokenKind is the kind of a failed send or receive.
func brokenKind(errno syscall.Errno) Kind {
	if errno == syscall.ECONNRESET || errno == syscall.EPIPE {
		return KindReset
	}
	return KindBroken
}
