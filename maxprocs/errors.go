package maxprocs

import (
	"errors"
	"syscall"
)

// The kinds of errors that Set, Watch and Start return, for errors.Is. The error of the
// system is included too: errors.Is(err, fs.ErrPermission), syscall.EIO.
var (
	// ErrNoCgroup: the cgroups of the program are not mounted, as in some sandboxes. Set
	// returns nil in this case, because there is nothing to do about it; Result.Unknown
	// has the error.
	ErrNoCgroup = errors.New("no cgroup mount")
	// ErrHidden: there are cgroup mounts, but none shows the program's own cgroup.
	ErrHidden = errors.New("no mount shows the cgroup")
	// ErrMalformed: the kernel, or an emulation of it, wrote something that is not valid.
	ErrMalformed = errors.New("malformed")
	// ErrPermission: the program does not have the permission to read a file.
	ErrPermission = errors.New("permission denied")
)

// fault is something that could not be read, or is not valid.
type fault struct {
	kind  error // of the errors above, or nil
	where string
	cause error
}

// unread is a file that could not be read.
func unread(where string, cause error) *fault {
	f := &fault{where: where, cause: cause}
	if cause == syscall.EACCES || cause == syscall.EPERM {
		f.kind = ErrPermission
	}
	return f
}

func malformed(where string, cause error) *fault { return &fault{ErrMalformed, where, cause} }

func (f *fault) Error() string        { return f.where + ": " + f.cause.Error() }
func (f *fault) Unwrap() error        { return f.cause }
func (f *fault) Is(target error) bool { return f.kind != nil && target == f.kind }

// unknown has everything that could not be read; nil: nothing.
type unknown struct{ faults []*fault }

func (u *unknown) Error() string { return "maxprocs: not all CPU limits are known: " + u.text() }

func (u *unknown) text() (s string) {
	if u == nil {
		return ""
	}
	for i, f := range u.faults {
		if i > 0 {
			s += "; "
		}
		s += f.Error()
	}
	return s
}

func (u *unknown) Unwrap() []error {
	errs := make([]error, len(u.faults))
	for i, f := range u.faults {
		errs[i] = f
	}
	return errs
}

// with is u and one more.
func (u *unknown) with(f *fault) *unknown {
	if u == nil {
		u = &unknown{}
	}
	u.faults = append(u.faults, f)
	return u
}

// toTell is the error to return: without ErrNoCgroup, about which nothing can be done.
func toTell(err error) error {
	if u, ok := err.(*unknown); ok && len(u.faults) == 1 && u.faults[0].kind == ErrNoCgroup {
		return nil
	}
	return err
}
