package observe

import (
	"cmp"
	"errors"
	"os"
	"slices"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/goproc"
)

// Reader reads Go processes and remembers their files. The zero value is ready;
// it is safe for concurrent use.
type Reader struct {
	cache goproc.Cache
}

// Procs reads the live GOMAXPROCS of a process, its source and its Go version.
// The error says why it cannot be read: ErrNotGo, or another of package goproc.
func (r *Reader) Procs(pid int) (goproc.Live, error) { return r.cache.Live(pid) }

// GC reads what the garbage collector of a process has done.
func (r *Reader) GC(pid int) (GC, error) { return r.cache.GC(pid) }

// Program reads what the linker wrote into the program that a process runs: its
// Go version, its main module. It needs less permission than Procs.
func (r *Reader) Program(pid int) (Program, error) { return r.cache.Program(pid) }

// BusiestGo is FindGo for whom it is enough to know that there is none.
func (r *Reader) BusiestGo(pids []int) (pid int, ok bool) {
	pid, err := r.FindGo(pids)
	return pid, err == nil
}

// FindGo returns the Go process with the most CPU time. The tools of Go itself
// count only where there is nothing else: below "go run" the go command has often
// used more than the program. The error is ErrNotGo when no process that lives is
// Go's, and otherwise why one of them could not be read.
func (r *Reader) FindGo(pids []int) (pid int, err error) {
	var live []procstat.Stat
	for _, pid := range pids {
		if s, err := procstat.ReadStat(pid); err == nil && s.State != 'Z' && s.State != 'X' {
			live = append(live, s)
		}
	}
	return busiest(live, r.cache.Program)
}

func busiest(live []procstat.Stat, program func(pid int) (goproc.Program, error)) (pid int, err error) {
	slices.SortStableFunc(live, func(a, b procstat.Stat) int {
		return cmp.Compare(b.User+b.System, a.User+a.System)
	})
	tool, unread := 0, error(nil)
	for _, s := range live {
		p, err := program(s.PID)
		switch {
		case err == nil && !p.Toolchain():
			return s.PID, nil
		case err == nil && tool == 0:
			tool = s.PID
		case err != nil && unread == nil && !errors.Is(err, ErrNotGo) && !errors.Is(err, goproc.ErrGone):
			unread = err
		}
	}
	switch {
	case tool != 0:
		return tool, nil
	case unread != nil:
		return 0, unread
	}
	return 0, ErrNotGo
}

// Cause is why something of a process could not be read, to count by.
type Cause string

const (
	Denied     Cause = "denied"         // for want of permission
	DeniedRoot Cause = "denied_to_root" // which root, as which procfit runs, has not here either
	Damaged    Cause = "damaged"        // the program's file is, or is of an unknown kind
	Late       Cause = "late"           // there was no time to, see ErrTime
	Other      Cause = "other"
)

// Permission reports whether more permissions would help.
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
		return "needs root or CAP_SYS_PTRACE"
	case DeniedRoot:
		return "needs CAP_SYS_PTRACE, which this root does not have, or a capability that the process has"
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
