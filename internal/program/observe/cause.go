package observe

import (
	"errors"
	"os"

	"github.com/procfit/procfit/internal/program/goproc"
)

// Cause is why something of a process could not be read, to count by.
type Cause string

const (
	Denied     Cause = "denied"         // for want of permission
	DeniedRoot Cause = "denied_to_root" // which root, as which procfit runs, has not here either
	Damaged    Cause = "damaged"        // the program's file is, or is of an unknown kind
	Late       Cause = "late"           // there was no time to, see ErrTime
	Other      Cause = "other"
)

// Permission tells that more permissions would help.
func (c Cause) Permission() bool { return c == Denied || c == DeniedRoot }

func causeOf(err error) Cause {
	switch {
	case errors.Is(err, goproc.ErrPermission) && os.Geteuid() == 0:
		return DeniedRoot
	case errors.Is(err, goproc.ErrPermission):
		return Denied
	case errors.Is(err, goproc.ErrUndecodable):
		return Damaged
	case errors.Is(err, goproc.ErrLate):
		return Late
	}
	return Other
}

// Summary is the reason in words that many share.
func (u Unreadable) Summary() string {
	switch u.Cause {
	case Denied:
		return "permission denied: run as root or with CAP_SYS_PTRACE"
	case DeniedRoot:
		return "permission denied to this root: CAP_SYS_PTRACE is missing, or a capability that the process has"
	case Damaged:
		return "the file is damaged or of an unknown kind"
	}
	return u.Detail
}

// detailOf is an error of package goproc without the process that it begins with.
func detailOf(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return err.Error()
}
