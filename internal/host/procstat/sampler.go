package procstat

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Sampler measures processes. It is safe for concurrent use; a Span is not.
type Sampler struct {
	choose    func()     // nil: it has been done
	taskstats *taskstats // nil: thread by thread
	why       error
}

// NewSampler chooses the source of the counters when the first are read. The error is that this
// system has none.
func NewSampler() (*Sampler, error) {
	if _, err := bootTicks(); err != nil {
		return nil, err
	}
	s := new(Sampler)
	s.choose = sync.OnceFunc(func() { s.taskstats, s.why = openTaskstats() })
	return s, nil
}

// Source returns where counters come from and, when that is not taskstats, why.
func (s *Sampler) Source() (Source, error) {
	if s.choose != nil {
		s.choose()
	}
	if s.taskstats != nil {
		return Taskstats, nil
	}
	return Tasks, s.why
}

func (s *Sampler) Close() error {
	if s.taskstats == nil {
		return nil
	}
	return s.taskstats.close()
}

// Span is the time from a Start to the last Look.
type Span struct {
	sampler *Sampler
	began   time.Time
	ticks   uint64 // began, as Stat.Started
	looked  time.Time
	seen    map[Identity]*process
	threads int
	before  Times // of the processes that are older than the span, with their Reaped children, as they were first seen
	tree    Times // the most that all had beyond that at one look

	pids   atomic.Pointer[[]int] // of the last look
	faults *FaultWatch           // nil: stopped
	held   FaultUse
}

// Start begins a span with the processes that are there.
func (s *Sampler) Start(pids []int) (*Span, error) {
	ticks, err := bootTicks()
	if err != nil {
		return nil, err
	}
	sp := &Span{sampler: s, began: time.Now(), ticks: ticks, seen: make(map[Identity]*process)}
	sp.look(pids, true)
	sp.faults = watchFaults(func() []int { return *sp.pids.Load() })
	return sp, nil
}

// Look reads the processes that are there now. One that began within the span
// counts from its beginning, an older one that is new here from now, one that
// has ended with what was last seen. Look just before processes end, and in
// between for ThreadsMax and for short-lived ones.
func (sp *Span) Look(pids []int) { sp.look(pids, false) }

func (sp *Span) look(pids []int, start bool) {
	threads, tree := 0, Times{}
	sp.pids.Store(new(slices.Clone(pids)))
	for _, pid := range pids {
		stat, err := ReadStat(pid)
		if err != nil {
			continue
		}
		r, err := sp.read(stat)
		if err != nil {
			continue
		}
		id := r.Identity()
		p := sp.seen[id]
		if p == nil {
			p = &process{old: start || r.Started < sp.ticks}
			if p.old {
				p.base = r
				sp.before.add(r.Tree())
			}
			sp.seen[id] = p
		}
		p.look(r)
		threads += r.Threads
		tree.add(r.Tree())
	}
	sp.threads = max(sp.threads, threads)
	sp.tree = Times{max(sp.tree.User, tree.User-sp.before.User), max(sp.tree.System, tree.System-sp.before.System)}
	sp.looked = time.Now()
}

// read is ReadOn. Of a process that has ended since its stat was read, what it waited is missing, as of one that
// begins and ends between two looks: that does not make the waits of the others unknown.
func (sp *Span) read(stat Stat) (Reading, error) {
	r, err := sp.sampler.ReadOn(stat)
	if err == nil && r.tasks == nil {
		if _, ended := ReadStat(stat.PID); ended != nil {
			r.tasks = map[int]counters{}
		}
	}
	return r, err
}

// Read reads the counters of a process. Where the counters other than CPU time are
// denied, Use.Uncounted will say so.
func (s *Sampler) Read(pid int) (Reading, error) {
	stat, err := ReadStat(pid)
	if err != nil {
		return Reading{}, err
	}
	return s.ReadOn(stat)
}

// ReadTimes is ReadOn of CPU times alone: of all others Use.Uncounted will say so.
func (s *Sampler) ReadTimes(stat Stat) (r Reading, err error) {
	r = Reading{Stat: stat, At: time.Now()}
	r.ticks, err = bootTicks()
	return r, err
}

// ReadOn is Read for a process whose stat has just been read.
func (s *Sampler) ReadOn(stat Stat) (r Reading, err error) {
	if r, err = s.ReadTimes(stat); err != nil {
		return Reading{}, err
	}
	r.source, _ = s.Source()
	if s.taskstats == nil {
		if tasks, err := readTasks(stat.PID); err == nil && len(tasks) > 0 {
			r.tasks = tasks
		}
	} else if c, err := s.taskstats.process(stat.PID); err == nil {
		r.tasks = map[int]counters{0: c}
	}
	return r, nil
}

// Delta returns the use from Start to the last Look. The first call ends the look at page
// faults.
func (sp *Span) Delta() Use {
	u := Use{Duration: sp.looked.Sub(sp.began), ThreadsMax: sp.threads, tree: sp.tree}
	u.Source, _ = sp.sampler.Source()
	if sp.faults != nil {
		sp.held, sp.faults = sumFaults(sp.faults.Stop()), nil
	}
	u.Faults = sp.held
	for _, p := range sp.seen {
		p.addTo(&u)
	}
	return u
}
