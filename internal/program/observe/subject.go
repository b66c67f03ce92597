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
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

// ErrNoProcess means that there is no such process, or none any more.
var ErrNoProcess = errors.New("no such process")

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
	o, _, err := r.observe(pid, stat, new(facts.Reader))
	if o.NotGo && err == nil {
		o.Facts, err = factsOf(pid, new(facts.Reader))
	}
	if err != nil {
		return rule.Subject{}, err
	}
	o.Throttling = worst(newGroups(nil, time.Time{}).of(o.Facts.Limits))
	return rule.NewSubject(o), nil
}

func factsOf(pid int, r *facts.Reader) (facts.Facts, error) {
	f, err := r.ReadPID(pid)
	if err != nil {
		return facts.Facts{}, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	return f, nil
}

// program is what was read of the program itself.
type program struct {
	live goproc.Live
	why  error // why it could not be read
	mem  error // why its memory could not be
}

// observe reads what Subject does, but for a program that is not Go's, which has
// no facts. Throttling is left to the caller.
func (r *Reader) observe(pid int, stat procstat.Stat, facts *facts.Reader) (rule.Observed, program, error) {
	o := rule.Observed{Place: rule.Place{PID: pid}, Name: name(pid, stat.Name)}
	// Live value and program come from one opening of the file where both can be
	// read; the program alone needs less permission.
	live, err := r.cache.Live(pid)
	p := program{live: live, mem: err}
	if err == nil {
		o.Live, o.LiveSource = &live.Procs, string(live.Source)
		o.NumCPU, o.Custom = live.NumCPU, live.Custom
	} else {
		o.LiveUnknown = err.Error()
		if p.live.Program, err = r.cache.Program(pid); err != nil {
			p.why, o.ProgramUnknown, o.NotGo = err, err.Error(), errors.Is(err, ErrNotGo)
		}
	}
	if errors.Is(err, goproc.ErrGone) {
		return rule.Observed{}, program{}, fmt.Errorf("process %d has ended: %w", pid, ErrNoProcess)
	}
	if o.NotGo {
		return o, p, nil
	}
	if o.Facts, err = factsOf(pid, facts); err != nil {
		return rule.Observed{}, program{}, err
	}
	o.Facts.GoVersion, o.Facts.DefaultGODEBUG, o.Facts.GOARCH = p.live.GoVersion, p.live.DefaultGODEBUG, p.live.GOARCH
	o.Automaxprocs = rule.AutomaxprocsIn(p.live.Deps)
	return o, p, nil
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

// Self is the Subject of this process.
func Self() rule.Subject {
	live := runtime.GOMAXPROCS(0)
	o := rule.Observed{Place: rule.Place{PID: os.Getpid()}, Facts: facts.Read(), Live: &live}
	if info, ok := debug.ReadBuildInfo(); ok {
		o.Automaxprocs = rule.AutomaxprocsIn(info.Deps)
	}
	return rule.NewSubject(o)
}
