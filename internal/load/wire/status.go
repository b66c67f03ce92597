package wire

import (
	"errors"
	"strconv"
	"syscall"

	"github.com/procfit/procfit/internal/load"
)

// Status is how an answer ended: HTTP's status, or GRPC and the code of gRPC.
type Status int

// GRPC is where the codes of gRPC start, above all of HTTP's: GRPC itself is OK.
const GRPC Status = 600

// MostStatus is above every Status.
const MostStatus = 700

// grpcNames are gRPC's codes by number (grpc.io/docs/guides/status-codes).
func grpcNames() []string {
	return []string{
		"ok", "cancelled", "unknown", "invalid_argument", "deadline_exceeded", "not_found", "already_exists",
		"permission_denied", "resource_exhausted", "failed_precondition", "aborted", "out_of_range",
		"unimplemented", "internal", "unavailable", "data_loss", "unauthenticated",
	}
}

// Good tells an answer that did what was asked: 2xx and 3xx, gRPC's OK.
func (s Status) Good() bool { return s >= 200 && s < 400 || s == GRPC }

// Redirect leaves out 304, which is a full answer to a conditional request.
func (s Status) Redirect() bool { return s >= 300 && s < 400 && s != 304 }

// Kind is that of a bad status: status_503, grpc_unavailable.
func (s Status) Kind() load.Kind {
	if s < GRPC {
		return load.StatusKind(int(s))
	}
	code := int(s - GRPC)
	if names := grpcNames(); code < len(names) {
		return load.CallKind(names[code])
	}
	return load.CallKind(strconv.Itoa(code))
}

// Failure is a kind with what the kernel said or what was wrong; it is an error.
type Failure struct {
	Kind   load.Kind
	Detail string // may be empty
}

func (f *Failure) Error() string {
	if f.Detail == "" {
		return f.Kind.Words()
	}
	return f.Kind.Words() + ": " + f.Detail
}

// DialKind is the kind of a failed connection attempt.
func DialKind(err error) load.Kind {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, syscall.ECONNREFUSED) || isRefused(err):
		return load.KindRefused
	case errors.Is(err, syscall.ETIMEDOUT), errors.As(err, &timeout) && timeout.Timeout():
		return load.KindConnectTimeout
	}
	return load.KindConnect
}

// BrokenKind is the kind of a failed send or receive.
func BrokenKind(err error) load.Kind {
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || isReset(err) {
		return load.KindReset
	}
	return load.KindBroken
}
