package observe

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/goproc"
	"github.com/procfit/procfit/internal/procstat"
	"github.com/procfit/procfit/internal/rule"
	"github.com/procfit/procfit/maxprocs"
)

// ErrNoProcess means that there is no such process, or none any more.
var ErrNoProcess = errors.New("no such process")

// automaxprocs is a module that sets GOMAXPROCS when it is imported.
const automaxprocs = "go.uber.org/automaxprocs"

// Subject reads all that is seen of a process: its CPUs and limits, the program
// that it runs, its live GOMAXPROCS, how it was throttled since its groups were
// made. What permissions deny is marked so in the Subject; the error is
// ErrNoProcess, or that this system is not Linux.
func (r *Reader) Subject(pid int) (rule.Subject, error) {
	stat, err := procstat.ReadStat(pid)
	if errors.Is(err, errors.ErrUnsupported) {
		return rule.Subject{}, err
	}
	if err != nil {
		return rule.Subject{}, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	s, _, err := r.subject(pid, stat, new(maxprocs.Reader))
	if s.NotGo && err == nil {
		if s.Facts, err = maxprocs.ReadPID(pid); err != nil {
			return rule.Subject{}, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
		}
		s = rule.Decide(s)
	}
	s.Throttling = worst(newGroups(nil, 0).of(s.Facts.Limits))
	return s, err
}

// program is what was read of the program itself.
type program struct {
	live goproc.Live
	why  error // why it could not be read
}

// subject reads what Subject does, but for a program that is not Go's, which has
// no facts. Throttling is left to the caller.
func (r *Reader) subject(pid int, stat procstat.Stat, facts *maxprocs.Reader) (rule.Subject, program, error) {
	s := rule.Subject{Place: rule.Place{PID: pid}, Name: name(pid, stat.Name)}
	// Live value and program come from one opening of the file where both can be
	// read; the program alone needs less permission.
	live, err := r.cache.Live(pid)
	p := program{live: live}
	if err == nil {
		s.Live, s.LiveSource = &live.Procs, string(live.Source)
		s.NumCPU, s.Custom = live.NumCPU, live.Custom
	} else {
		s.LiveUnknown = err.Error()
		if p.live.Program, err = r.cache.Program(pid); err != nil {
			p.why, s.ProgramUnknown, s.NotGo = err, err.Error(), errors.Is(err, goproc.ErrNotGo)
		}
	}
	if errors.Is(err, goproc.ErrGone) {
		return rule.Subject{}, program{}, fmt.Errorf("process %d has ended: %w", pid, ErrNoProcess)
	}
	if s.NotGo {
		return s, p, nil
	}
	if s.Facts, err = facts.ReadPID(pid); err != nil {
		return rule.Subject{}, program{}, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	s.Facts.GoVersion, s.Facts.DefaultGODEBUG = p.live.GoVersion, p.live.DefaultGODEBUG
	s.Automaxprocs = automaxprocsIn(p.live.Deps)
	return rule.Decide(s), p, nil
}

// name is the process's name. The kernel cuts it off after 15 bytes; where that
// happened the executable's goes on.
func name(pid int, comm string) string {
	const longest = 15 // TASK_COMM_LEN, include/linux/sched.h
	if len(comm) < longest {
		return comm
	}
	exe, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if base := strings.TrimSuffix(filepath.Base(exe), " (deleted)"); err == nil && strings.HasPrefix(base, comm) {
		return base
	}
	return comm
}

// kind is why a program could not be read, in words that many share.
func kind(err error) string {
	switch {
	case errors.Is(err, goproc.ErrPermission):
		if os.Geteuid() == 0 {
			return "permission denied to this root: CAP_SYS_PTRACE is missing, or a capability that the process has"
		}
		return "permission denied: run as root or with CAP_SYS_PTRACE"
	case errors.Is(err, goproc.ErrUndecodable):
		return "the file is damaged or of an unknown kind"
	}
	if inner := errors.Unwrap(err); inner != nil { // without "process N: "
		err = inner
	}
	return err.Error()
}

// Self is the Subject of this process.
func Self() rule.Subject {
	live := runtime.GOMAXPROCS(0)
	s := rule.Subject{Place: rule.Place{PID: os.Getpid()}, Facts: maxprocs.Read(), Live: &live}
	if info, ok := debug.ReadBuildInfo(); ok {
		s.Automaxprocs = automaxprocsIn(info.Deps)
	}
	return rule.Decide(s)
}

// automaxprocsIn is the version of automaxprocs among the modules, or empty.
func automaxprocsIn(deps []*debug.Module) string {
	for _, d := range deps {
		if d.Path == automaxprocs {
			return d.Version
		}
	}
	return ""
}
