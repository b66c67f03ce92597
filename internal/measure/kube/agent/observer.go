package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/live"
)

// observer sees the processes of the container that it was put next to: with the process
// namespace of that, /proc holds those and its own.
type observer struct {
	list    func() []int // of the target's processes
	reader  observe.Reader
	meters  meter.Reader
	once    sync.Once
	sampler *observe.Sampler
	err     error
}

// pids are all processes but its own.
func pids() (list []int) {
	entries, _ := os.ReadDir("/proc") // none is what there then is to be seen
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() {
			list = append(list, pid)
		}
	}
	return list
}

// target is the process that listens at the port, or the busiest Go program.
func (e *observer) target(port int, all []int) (int, error) {
	if port > 0 {
		if pid, err := observe.Listener(port, all); err == nil {
			return pid, nil
		}
	}
	return e.reader.FindGo(all)
}

func (e *observer) look(port int) (l Look) {
	all := e.list()
	if len(all) == 0 {
		return Look{Error: "procfit's container in the pod sees no process of the target"}
	}
	pid, err := e.target(port, all)
	if err != nil {
		if l.noProgram(trial.NoProgram(&e.reader, all)); !l.NoGo {
			l.UID, l.GID = ownerOf(all[0])
		}
		return l
	}
	l.UID, l.GID = ownerOf(pid)
	if host, err := facts.ReadFS(viewOf(pid), 0); err == nil {
		if env := host.Env; env.State != facts.Absent && env.State != facts.Unreadable {
			l.Env = &env.Raw
		}
	}
	live, err := e.reader.Live(pid)
	if errors.Is(err, observe.ErrNotGo) {
		if _, err := e.reader.FindGo(all); err != nil { // else it is what a Go program started, or passes requests on to one
			l.noProgram(trial.NoProgram(&e.reader, all))
			return l
		}
	}
	if err != nil {
		l.Error = err.Error()
		return l
	}
	l.Procs, l.Source, l.GoVersion, l.MainModule = live.Procs, string(live.Source), live.GoVersion, live.MainModule
	return l
}

// named is look with the names of the programs if none is Go.
func (e *observer) named(port int) Look {
	l := e.look(port)
	if l.NoGo {
		l.Programs = trial.Names(e.list())
	}
	return l
}

// noProgram takes over why no Go program is seen.
func (l *Look) noProgram(none trial.Reading) { l.NoGo, l.Error = none.NoGo, none.Err.Error() }

// ownerOf is as whom a process runs, which anybody may see.
func ownerOf(pid int) (uid, gid *int64) {
	info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return nil, nil
	}
	return owner(info)
}

type processRoot struct {
	fs.FS
	proc string // the process's own folder
}

// viewOf is what a process sees as its / and as itself: the mounts that lead to its
// groups are its own, not those of who looks.
func viewOf(pid int) fs.FS { return processRoot{os.DirFS(rootOf(pid)), fmt.Sprintf("proc/%d", pid)} }

func (s processRoot) name(name string) string {
	if rest, ok := strings.CutPrefix(name, "proc/self"); ok {
		return s.proc + rest
	}
	return name
}

func (s processRoot) Open(name string) (fs.File, error) { return s.FS.Open(s.name(name)) }

func (s processRoot) Stat(name string) (fs.FileInfo, error) { return fs.Stat(s.FS, s.name(name)) }

func rootOf(pid int) string { return fmt.Sprintf("/proc/%d/root", pid) }

// span is what is counted from a moment on.
type span struct {
	id       string // empty: nobody asks for it
	observer *observer
	began    time.Time
	counts   *observe.Span
	node     observe.CPU
	limits   []observe.Limit
	pid      int              // of the Go program; 0: none was found
	waited   *observe.Latency // of its goroutines until then; nil: not readable
	gc       *observe.GC      // what its collector had done; nil: it told nothing
	metered  *live.Metrics    // what its Meter had counted; nil: it has none
	last     []observe.Limit  // of a program that ends by itself, before it did; nil: they can be read at the end
	at       *observe.CPU     // the machine's at the end; nil: it is now
	ended    bool             // what was counted has been asked for
	err      error
}

func (e *observer) start(port int) *span {
	e.open()
	s := &span{observer: e, began: time.Now(), err: e.err}
	if pid, err := e.target(port, e.list()); err == nil {
		s.limits, s.pid = limitsOf(pid), pid
		if live, err := e.reader.Live(pid); err == nil {
			s.waited = live.Latency
		}
		if gc, err := e.reader.GC(pid); err == nil {
			s.gc = &gc
		}
		s.metered = e.metered(pid)
	}
	s.count()
	return s
}

// metered is what the Meter of a program has counted; nil: it has none.
func (e *observer) metered(pid int) *live.Metrics {
	p, err := e.meters.Open(pid)
	if err != nil {
		return nil
	}
	defer p.Close()
	m, err := p.Metrics()
	if err != nil {
		return nil
	}
	return &m
}

// sinceMeter is what the program's Meter counted since the start; nil: that is not known.
func (s *span) sinceMeter() *Metered {
	if s.metered == nil {
		return nil
	}
	now := s.observer.metered(s.pid)
	if now == nil {
		return nil
	}
	has, err := s.observer.reader.Live(s.pid)
	if err != nil {
		return nil
	}
	m, err := meter.Between(*s.metered, *now, time.Since(s.began), max(has.NumCPU, has.Procs))
	if err != nil {
		return nil
	}
	c := &Metered{Requests: m.Requests, Failed: m.Failed}
	if m.Arrival.Count() > 0 {
		c.P50Seconds, c.P99Seconds = new(m.Arrival.Quantile(0.5).Seconds()), new(m.Arrival.Quantile(0.99).Seconds())
	}
	return c
}

func (e *observer) open() { e.once.Do(func() { e.sampler, e.err = observe.NewSampler() }) }

// count starts to count, which unlike a look at the program takes hardly any time.
func (s *span) count() {
	if s.err == nil {
		s.node, s.err = observe.CPUTime()
	}
	if s.err == nil {
		s.counts, s.err = s.observer.sampler.Start(s.observer.list())
	}
}

// close ends the span before its end is asked for.
func (s *span) close() {
	if now, err := observe.CPUTime(); err == nil {
		s.at = &now
	}
}

// limitsOf are the groups with a limit that the process sees around it.
func limitsOf(pid int) []observe.Limit {
	f, err := facts.ReadFS(viewOf(pid), 0)
	if err != nil {
		return nil
	}
	return observe.Reread(limitsIn(f, rootOf(pid)))
}

func limitsIn(f facts.Facts, root string) (list []observe.Limit) {
	for _, l := range f.Limits {
		if l.State == facts.Known {
			list = append(list, observe.Limit{Dir: path.Join(root, l.Dir), CPUs: l.CPUs, Burst: l.Burst.CPUs})
		}
	}
	return list
}

// end is what was counted since the start. It may be asked again.
func (s *span) end() Counted {
	if s.err != nil {
		return Counted{Error: s.err.Error()}
	}
	c := Counted{Usage: journal.Usage{MeasuredSeconds: time.Since(s.began).Seconds()}}
	s.counts.Look(s.observer.list())
	use := s.counts.Delta().WithChildren()
	now, err := observe.CPUTime()
	if s.at != nil {
		now, err = *s.at, nil
	}
	if err != nil {
		return Counted{Error: err.Error()}
	}
	node := now.Since(s.node)
	c.HostUse = &journal.HostUse{StealSeconds: node.Steal.Seconds(), BusyRatio: node.BusyRatio}
	trial.Count(&c.Usage, use)
	if use.Processes > 0 {
		c.HostUse.OtherCPUSeconds = new(max(0, (node.Busy - use.User - use.System).Seconds()))
	}
	if live, err := s.observer.reader.Live(s.pid); err == nil && s.waited != nil && live.Latency != nil {
		if p99, ok := live.Latency.Since(s.waited).Quantile(0.99); ok {
			c.SchedLatencyP99Seconds = &p99
		}
	}
	c.Meter = s.sinceMeter()
	if s.pid != 0 { // of a program that ends by itself there is nothing left to read
		c.Memory, c.GC = trial.MemoryOf(s.observer.list()), trial.Collected(&s.observer.reader, s.pid, s.gc, s.began)
	}
	last := s.last
	if last == nil {
		last = observe.Reread(s.limits)
	}
	c.Limits = trial.LimitsSince(s.limits, last, path.Base)
	return c
}
