package maxprocs

import (
	"errors"
	"strconv"
	"syscall"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

// Action is what was done.
type Action string

const (
	KeptEnv   Action = "kept_env"   // the environment sets it
	Kept      Action = "kept"       // it was already correct; if the runtime updates it, it continues to
	Changed   Action = "changed"    // it was changed; the runtime no longer updates it
	Automatic Action = "automatic"  // the runtime's default is correct, and the runtime updates it again
	NotRaised Action = "not_raised" // the known limits allow more, but not all limits are known
	Leased    Action = "leased"     // nothing was changed: an experiment of package live has GOMAXPROCS
	Left      Action = "left"       // by Start: another value is better, but no limit that the runtime ignores is tighter
)

// Result is what was found and done.
type Result struct {
	Action   Action
	Procs    int     // GOMAXPROCS now
	Before   int     // GOMAXPROCS before
	Affinity int     // CPUs that the program may run on
	Limit    float64 // the tightest CPU limit, in CPUs; 0: none is known
	File     string  // the file of that limit
	Env      string  // GOMAXPROCS in the environment
	EnvSet   bool    // the environment has the variable
	Unknown  error   // what could not be read or is not valid; nil: nothing

	followed bool // the runtime followed a limit until now
}

// String is the result in one line.
func (r Result) String() string {
	s := "GOMAXPROCS=" + cgfs.Itoa(r.Procs) + ": "
	asKnown, known := "", "" // a limit that is not known may be tighter
	if r.Unknown != nil {
		asKnown, known = " as far as is known", "known "
	}
	switch r.Action {
	case KeptEnv:
		if n, _ := cgfs.ParseInt(r.Env); n != int64(r.Procs) { // the runtime reads it before any code runs
			return s + "GOMAXPROCS=" + r.Env + " in the environment was set too late, or code has set another"
		}
		return s + "set in the environment"
	case Kept:
		s += "already correct" + asKnown + "; "
	case Changed:
		s += "was " + cgfs.Itoa(r.Before) + "; "
	case Automatic:
		s += "was " + cgfs.Itoa(r.Before) + "; the runtime's default is correct and is used again; "
	case Left:
		s += "unchanged, because no " + known + "limit that the runtime ignores is tighter; "
	case Leased:
		s += "unchanged, because an experiment has GOMAXPROCS; "
	case NotRaised:
		s += "not raised, because not all limits are known; "
	}
	if r.Limit > 0 {
		s += r.File + " limits it to " + amount(r.Limit) + ", "
	} else {
		s += "no CPU limit is known, "
	}
	s += "its affinity is " + amount(float64(r.Affinity))
	if r.Action == Changed && r.followed {
		s += "; the runtime no longer updates it"
	}
	if r.EnvSet {
		s += "; GOMAXPROCS=" + cgfs.Quote(r.Env) + " in the environment is " + whyIgnored(r.Env) + ", so it is ignored"
	}
	if u, ok := r.Unknown.(*unknown); ok {
		s += "; unknown: " + u.text()
	}
	return s
}

// whyIgnored says what the runtime has against a value that it does not take: of
// digits alone it takes all but 0 and what is no int32.
func whyIgnored(env string) string {
	zero := true
	for i := 0; i < len(env); i++ {
		if env[i] < '0' || env[i] > '9' {
			return "not a positive integer"
		}
		zero = zero && env[i] == '0'
	}
	if zero {
		return "not a positive integer"
	}
	return "above 2147483647"
}

func amount(cpus float64) string {
	s := strconv.FormatFloat(cpus, 'g', 6, 64) + " CPU"
	if cpus != 1 {
		s += "s"
	}
	return s
}

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

type fault struct {
	kind  error // of the errors above, or nil
	where string
	cause error
}

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
