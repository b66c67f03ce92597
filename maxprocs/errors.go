package maxprocs

import (
	"errors"
	"syscall"
)

// What an error of Set, Watch or Start is, to errors.Is. The system's own error is
// in it too: errors.Is(err, fs.ErrPermission), syscall.EIO.
var (
	// ErrNoCgroup: there is no mount of the cgroups that the program is in, as in
	// some sandboxes. Set returns nil for it, since there is nothing to do about it,
	// and Result.Unknown has it.
	ErrNoCgroup = errors.New("no cgroup mount")
	// ErrHidden: there are such mounts, and none shows the program's own group.
	ErrHidden = errors.New("no mount shows the group")
	// ErrMalformed: the kernel, or what stands for it, wrote what makes no sense.
	ErrMalformed = errors.New("malformed")
	// ErrPermission: the program may not read it.
	ErrPermission = errors.New("permission denied")
)

// fault is what could not be read, or made no sense.
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

// unknown is all that could not be known; nil is nothing.
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

// toTell is the error without what nothing can be done about.
func toTell(err error) error {
	if u, ok := err.(*unknown); ok && len(u.faults) == 1 && u.faults[0].kind == ErrNoCgroup {
		return nil
	}
	return err
}
