package observe

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/expected"
	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Reader reads Go processes and remembers their files. The zero value is ready;
// it is safe for concurrent use.
type Reader struct {
	goproc.Cache
	meters meter.Reader

	mu     sync.Mutex
	looked time.Time // for guards
	guards []int
}

// Lent is until when procfit lends a process its value, and whether by a lease; zero: it does not, as
// far as is known.
func (r *Reader) Lent(pid int) (until time.Time, leased bool) {
	if left := r.leased(pid); left > 0 {
		return time.Now().Add(left), true
	}
	return r.lentUntil(pid), false
}

// lentUntil is Lent without leases.
func (r *Reader) lentUntil(pid int) time.Time {
	r.mu.Lock()
	if time.Since(r.looked) > time.Second { // so that all processes share a look
		r.looked, r.guards = time.Now(), steer.Guards()
	}
	guards := r.guards
	r.mu.Unlock()
	return steer.LentUntil(pid, guards)
}

// library is the module whose package live lets a program have leases.
const library = "github.com/procfit/procfit/maxprocs"

// leased is how long a lease of the program lasts; 0: it has none.
func (r *Reader) leased(pid int) time.Duration {
	program, err := r.Program(pid)
	// Some builds name no modules.
	if err != nil || len(program.Deps) > 0 && !slices.ContainsFunc(program.Deps, func(m *debug.Module) bool { return m.Path == library }) {
		return 0
	}
	m, err := r.meters.Open(pid)
	if err != nil {
		return 0
	}
	defer m.Close()
	if s, err := m.State(); err == nil && s.Taken {
		return max(1, s.Left) // the program has not seen yet that one is over
	}
	return 0
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
	return busiest(live, r.Program)
}

func busiest(live []procstat.Stat, program func(pid int) (goproc.Program, error)) (pid int, err error) {
	sorting.Stable(live, func(a, b procstat.Stat) int {
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
	Refused    Cause = "refused"        // although procfit has the permission, as of a process that the kernel protects
	Damaged    Cause = "damaged"        // the program's file is, or is of an unknown kind
	Late       Cause = "late"           // there was no time to, see ErrTime
	Other      Cause = "other"
)

// Permission reports whether more permissions would help.
func (c Cause) Permission() bool { return c == Denied || c == DeniedRoot }

func causeOf(err error) Cause {
	switch {
	case errors.Is(err, goproc.ErrPermission) && goproc.RootMayTrace():
		return Refused
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
		return "root needs CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH here"
	case Refused:
		return "the kernel refuses, although procfit has CAP_SYS_PTRACE"
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
	found, err := r.Find(pid)
	o, _, err := r.observe(found, err, stat, newFacts())
	if o.NotGo && err == nil {
		o.Facts, err = factsOf(pid, newFacts())
	}
	if err != nil {
		return rule.Subject{}, err
	}
	o.Throttling = worst(newGroups(nil, time.Time{}).of(o.Facts.Limits))
	return r.judged(o), nil
}

// newFacts reads, with the facts, the variable of the expected value.
func newFacts() *facts.Reader { return &facts.Reader{Variables: []string{expected.Variable}} }

func factsOf(pid int, r *facts.Reader) (facts.Facts, error) {
	f, err := r.ReadPID(pid)
	if err != nil {
		return facts.Facts{}, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	return f, nil
}

type program struct {
	live goproc.Live
	why  error // why it could not be read
	mem  error // why its memory could not be
}

// observe reads what Subject does, but for a program that is not Go's, which has
// no facts. Throttling is left to the caller. found is the program, unless err says why it could
// not be read.
func (r *Reader) observe(found goproc.Running, err error, stat procstat.Stat, facts *facts.Reader) (rule.Observed, program, error) {
	pid := stat.PID
	o := rule.Observed{Place: rule.Place{PID: pid}, Name: name(pid, stat.Name)}
	p := program{why: err, mem: err}
	if err == nil {
		if p.live, p.mem = found.Live(); p.mem != nil {
			p.live.Program, p.why = r.Program(pid) // which needs less permission
		}
	}
	if p.mem == nil {
		o.Live, o.LiveSource = &p.live.Procs, string(p.live.Source)
		o.NumCPU, o.Custom = p.live.NumCPU, p.live.Custom
	} else {
		o.LiveUnknown = p.mem.Error()
	}
	if p.why != nil {
		o.ProgramUnknown, o.NotGo = p.why.Error(), errors.Is(p.why, ErrNotGo)
	}
	if errors.Is(p.why, goproc.ErrGone) {
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
	o.Mapped, o.Library = p.live.Mapped, p.live.Library
	o.Meant = strings.HasPrefix(path.Base(p.live.Path), "containerd-shim") // with GOMAXPROCS=4, also on 2 CPUs and on 64
	o.Expected, o.ExpectedWrong = r.expectedOf(stat, o.Name, o.Facts.Variables[0].Raw)
	return o, p, nil
}

// judged is the Subject of what was observed of a process. Its code, and who lends it a value, are
// read where that matters.
func (r *Reader) judged(o rule.Observed) rule.Subject {
	s := rule.NewSubject(o)
	switch s.SetBy {
	case rule.SetByCode:
		code := r.Code(s.PID)
		o.NeverSets, o.Watches = code.Never, code.Watches
		o.LentUntil, o.Leased = r.Lent(s.PID)
	case rule.SetByAuto: // which a lease, being a number, is not
		o.LentUntil = r.lentUntil(s.PID)
	default:
		return s
	}
	return rule.NewSubject(o)
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

func Self() rule.Subject {
	live := runtime.GOMAXPROCS(0)
	o := rule.Observed{Place: rule.Place{PID: os.Getpid()}, Facts: facts.Read(), Live: &live}
	if info, ok := debug.ReadBuildInfo(); ok {
		o.Automaxprocs = rule.AutomaxprocsIn(info.Deps)
	}
	return rule.NewSubject(o)
}
