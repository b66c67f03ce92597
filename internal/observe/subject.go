package observe

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

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
// that it runs, its live GOMAXPROCS. What permissions deny is marked so in the
// Subject; the error is ErrNoProcess, or that this system is not Linux.
func (r *Reader) Subject(pid int) (rule.Subject, error) {
	facts, err := maxprocs.ReadPID(pid)
	if err != nil && runtime.GOOS == "linux" {
		return rule.Subject{}, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	if err != nil {
		return rule.Subject{}, err
	}
	s := rule.Subject{Place: rule.Place{PID: pid}, Facts: facts}
	if stat, err := procstat.ReadStat(pid); err == nil {
		s.Name = stat.Name
	}
	// Live value and program come from one opening of the file where both can be
	// read; the program alone needs less permission.
	live, err := r.cache.Live(pid)
	program := live.Program
	if err == nil {
		s.Live, s.LiveSource = &live.Procs, string(live.Source)
	} else {
		s.LiveUnknown = err.Error()
		if program, err = r.cache.Program(pid); err != nil {
			s.ProgramUnknown, s.NotGo = err.Error(), errors.Is(err, goproc.ErrNotGo)
		}
	}
	if errors.Is(err, goproc.ErrGone) {
		return rule.Subject{}, fmt.Errorf("process %d has ended: %w", pid, ErrNoProcess)
	}
	s.Facts.GoVersion, s.Facts.DefaultGODEBUG = program.GoVersion, program.DefaultGODEBUG
	s.Automaxprocs = automaxprocsIn(program.Deps)
	return rule.Decide(s), nil
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
