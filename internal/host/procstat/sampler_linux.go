//go:build !portable

package procstat

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
)

// Sampler measures processes. It is safe for concurrent use; a Span is not.
type Sampler struct {
	choose    func()     // nil: it has been done
	taskstats *taskstats // nil: thread by thread
	why       error
}

// NewSampler chooses the source of the counters when the first are read.
func NewSampler() (*Sampler, error) {
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

// Close closes the netlink socket.
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
	threads := 0
	sp.pids.Store(new(slices.Clone(pids)))
	for _, pid := range pids {
		r, err := sp.sampler.Read(pid)
		if err != nil {
			continue
		}
		id := r.Identity()
		p := sp.seen[id]
		if p == nil {
			p = &process{old: start || r.Started < sp.ticks}
			if p.old {
				p.base = r
			}
			sp.seen[id] = p
		}
		p.look(r)
		threads += r.Threads
	}
	sp.threads = max(sp.threads, threads)
	sp.looked = time.Now()
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
	u := Use{Duration: sp.looked.Sub(sp.began), ThreadsMax: sp.threads}
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

// The generic netlink interface of taskstats (include/uapi/linux/taskstats.h).
const (
	cmdGet       = 1
	attrPID      = 1 // in a request: one thread
	attrTGID     = 2 // in a request: a whole process
	typeStats    = 3
	typeAggrPID  = 4 // holds typeStats
	typeAggrTGID = 5
)

// taskstats asks the kernel for the counters of whole processes.
type taskstats struct {
	conn   *genetlink.Conn
	family genetlink.Family
}

// openTaskstats returns an error where taskstats is missing, not allowed, or not
// what is expected here: the counters of procfit's main thread must lie between
// two readings of the same in /proc.
func openTaskstats() (*taskstats, error) {
	// Answers have some hundred bytes. Without a buffer for them, the size of each is asked for.
	conn, err := genetlink.Dial(&netlink.Config{MessageBufferSize: 16 << 10})
	if err != nil {
		return nil, fmt.Errorf("taskstats: %w", err)
	}
	t := &taskstats{conn: conn}
	if err := t.prepare(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("taskstats: %w", err)
	}
	return t, nil
}

func (t *taskstats) prepare() (err error) {
	if t.family, err = t.conn.GetFamily("TASKSTATS"); err != nil {
		return err
	}
	pid := os.Getpid()
	before, err := readTask(pid, pid)
	if err != nil {
		return err
	}
	got, err := t.get(attrPID, pid)
	if err != nil {
		return err
	}
	after, err := readTask(pid, pid)
	if err != nil {
		return err
	}
	if !got.between(before, after) {
		return errors.New("this kernel's structure has another layout")
	}
	return nil
}

func (t *taskstats) close() error { return t.conn.Close() }

// process returns the counters of all threads of a process, exited ones too.
func (t *taskstats) process(pid int) (counters, error) { return t.get(attrTGID, pid) }

func (t *taskstats) get(attr uint16, id int) (counters, error) {
	enc := netlink.NewAttributeEncoder()
	enc.Uint32(attr, uint32(id))
	data, err := enc.Encode()
	if err != nil {
		return counters{}, err
	}
	msgs, err := t.conn.Execute(genetlink.Message{
		Header: genetlink.Header{Command: cmdGet, Version: t.family.Version},
		Data:   data,
	}, t.family.ID, netlink.Request)
	if err != nil {
		return counters{}, err
	}
	for _, m := range msgs {
		c, ok, err := parseReply(m.Data)
		if ok || err != nil {
			return c, err
		}
	}
	return counters{}, fmt.Errorf("no counters in the answer for %d", id)
}

// parseReply reads the attributes of an answer; false without any counters.
func parseReply(b []byte) (c counters, found bool, err error) {
	dec, err := netlink.NewAttributeDecoder(b)
	if err != nil {
		return c, false, err
	}
	for dec.Next() {
		if dec.Type() != typeAggrTGID && dec.Type() != typeAggrPID {
			continue
		}
		dec.Nested(func(in *netlink.AttributeDecoder) error {
			for in.Next() {
				if in.Type() == typeStats {
					if c, err = parseTaskstats(in.Bytes()); err != nil {
						return err
					}
					found = true
				}
			}
			return nil
		})
	}
	if err := dec.Err(); err != nil {
		return counters{}, false, err
	}
	return c, found, nil
}
