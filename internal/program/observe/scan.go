package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Snapshot is all Go processes at one instant.
type Snapshot struct {
	At         time.Time
	Interval   time.Duration // since the Scan before; 0 in the first
	Processes  []Process     // by PID
	Unreadable []Unreadable  // by PID
	Others     int           // processes that are known to be no Go programs
	NotGo      []int         // these, of those that were named

	// Counters is where context switches and run-queue wait come from, and
	// CountersWhy why that is not taskstats.
	Counters    procstat.Source
	CountersWhy error
}

// Scanner looks at all processes, again and again. Each Scan gives what was
// counted since the one before. It is for one goroutine at a time; Close it.
type Scanner struct {
	Except int // a process that is looked at only where its PID is given; 0: none
	// Uncounted leaves context switches and run-queue wait unknown, for a list without them.
	Uncounted bool
	// Unjudged leaves out what follows from what was observed, for a Scan that only begins
	// the span of the next one.
	Unjudged bool

	reader  Reader
	sampler *Sampler
	at      time.Time
	last    map[Identity]looked
	faults  *procstat.FaultWatch    // since the Scan before
	groups  map[string]groupReading // by directory, as of the Scan before
	looks   looks                   // that have not ended
}

// ErrTime as the cause of the end of a Scan's context ends the Scan in good order: it
// returns what it has. Programs that are known are looked at first, and what was not
// looked at is Unreadable for want of time.
var ErrTime = errors.New("the time of the scan is over")

// looked is what one Scan keeps of a process for the next.
type looked struct {
	counts  procstat.Reading
	latency *Latency
}

// NewScanner opens the kernel's counters.
func NewScanner() (*Scanner, error) {
	sampler, err := NewSampler()
	if err != nil {
		return nil, err
	}
	return &Scanner{sampler: sampler}, nil
}

// Close closes the counters, and ends what goes on between two Scans.
func (s *Scanner) Close() error {
	s.held()
	return s.sampler.Close()
}

// Scan looks at the processes, all of them when none is named. One that ends
// meanwhile is left out. One that is named is among the Processes with what is
// known of it also when it is Unreadable, unless for want of time. The error is that of ctx, but see ErrTime,
// or that /proc cannot be listed.
func (s *Scanner) Scan(ctx context.Context, pids ...int) (Snapshot, error) {
	if len(pids) > 0 {
		return s.scan(ctx, pids, nil, true)
	}
	pids, err := s.all()
	if err != nil {
		return Snapshot{}, err
	}
	return s.scan(ctx, pids, nil, false)
}

// ScanNamed is Scan of the processes given and of those whose names match finds,
// which may be none. The programs that share a CPU limit with one of them are judged with
// it, and are not in the Snapshot.
func (s *Scanner) ScanNamed(ctx context.Context, pids []int, match func(name string) bool) (Snapshot, error) {
	all, err := s.all()
	if err != nil {
		return Snapshot{}, err
	}
	found := append(named(all, match), pids...)
	slices.Sort(found)
	found = slices.Compact(found)
	rest := slices.DeleteFunc(all, func(pid int) bool {
		_, yes := slices.BinarySearch(found, pid)
		return yes
	})
	return s.scan(ctx, found, rest, true)
}

// all are the processes that are looked at if none is named.
func (s *Scanner) all() ([]int, error) {
	pids, err := procstat.IDs("/proc")
	return slices.DeleteFunc(pids, func(pid int) bool { return pid == s.Except }), err
}

// named are the processes whose names match finds. The kernel's own threads are
// left out.
func named(all []int, match func(name string) bool) []int {
	return slices.DeleteFunc(slices.Clone(all), func(pid int) bool {
		stat, err := procstat.ReadStat(pid)
		return err != nil || stat.Kernel || !match(name(pid, stat.Name))
	})
}

// scan looks at the processes, and at the rest as far as it takes to judge these.
func (s *Scanner) scan(ctx context.Context, pids, rest []int, named bool) (Snapshot, error) {
	snap := Snapshot{At: time.Now(), Processes: []Process{}, Unreadable: []Unreadable{}}
	if !s.Uncounted {
		snap.Counters, snap.CountersWhy = s.sampler.Source()
	}
	if !s.at.IsZero() {
		snap.Interval = snap.At.Sub(s.at)
	}
	shared := &shared{
		facts: newFacts(), groups: newGroups(s.groups, snap.At), held: s.held(), last: s.last,
		uncounted: s.Uncounted, unjudged: s.Unjudged,
	}
	seen := s.lookAtAll(ctx, pids, shared)
	sharers := s.sharers(ctx, seen, rest, shared)
	if err := ctx.Err(); err != nil && !overTime(ctx) {
		return Snapshot{}, err
	}
	now := make(map[Identity]looked, len(s.last))
	var stats []Stat
	for i := range seen {
		one := &seen[i]
		if !named && (one.oneThread() || one.atWork) {
			one.other, one.unreadable, one.process = true, nil, nil
		}
		if one.unreadable != nil {
			snap.Unreadable = append(snap.Unreadable, *one.unreadable)
			if before, ok := s.last[one.id]; ok && one.process == nil {
				now[one.id] = before // it was not looked at, but may be next time
			}
		}
		switch {
		case one.unreadable != nil && !named:
		case one.process != nil:
			snap.Processes = append(snap.Processes, *one.process)
			now[one.id] = one.looked
			stats = append(stats, one.looked.counts.Stat)
		case one.other:
			snap.Others++
			if named {
				snap.NotGo = append(snap.NotGo, pids[i])
			}
		}
	}
	if !s.Unjudged {
		judge(snap.Processes, sharers)
	}
	sorting.Stable(snap.Processes, func(a, b Process) int { return cmp.Compare(a.PID, b.PID) })
	sorting.Stable(snap.Unreadable, func(a, b Unreadable) int { return cmp.Compare(a.PID, b.PID) })
	s.at, s.last, s.groups = snap.At, now, shared.groups.now(overTime(ctx))
	s.faults = procstat.WatchMany(stats)
	return snap, nil
}

func overTime(ctx context.Context) bool { return errors.Is(context.Cause(ctx), ErrTime) }

// sight is what came of looking at one process; nothing when it is gone.
type sight struct {
	other      bool
	unreadable *Unreadable
	process    *Process
	id         Identity
	looked     looked
	atWork     bool // it is procfit, at work
}

const ownModule = "github.com/procfit/procfit"

var sending = []string{"load", "sweep", "compare", "live", "resize", "fleet", "lab\x00run"}

// atWork reports whether a process is procfit at work for somebody, and no program that serves: of a
// load, each thread that sends has a P in addition to those for the CPUs, which is meant. The parts
// that a procfit starts of itself have a first argument in parentheses: "(supervisor)", "(guard)".
func atWork(p *Process, module string) bool {
	if module != ownModule {
		return false
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/cmdline")
	_, words, _ := strings.Cut(string(b), "\x00")
	is := func(s string) bool { return strings.HasPrefix(words, s+"\x00") }
	return err == nil && (strings.HasPrefix(words, "(") || p.SetBy == rule.SetByCode && slices.ContainsFunc(sending, is))
}

// oneThread reports whether the process could not be read for want of permission and has one thread. A
// Go program has two at least: its runtime starts one of its own, sysmon, before main.
func (s sight) oneThread() bool {
	return s.unreadable != nil && s.process != nil && s.process.Threads == 1 && (s.unreadable.Cause.Permission() || s.unreadable.Cause == Refused)
}

// order is that of looking at the processes. Those that were not among the Processes of the
// Scan before come last: reading a program's file takes longer than a process that is known,
// and whoever starts programs can make that long.
func (s *Scanner) order(pids []int) (places []int) {
	known := make(map[int]bool, len(s.last))
	for id := range s.last {
		known[id.PID] = true
	}
	var unknown []int
	for i, pid := range pids {
		if known[pid] {
			places = append(places, i)
		} else {
			unknown = append(unknown, i)
		}
	}
	return append(places, unknown...)
}

// lookAtAll shares the processes among as many goroutines as run at once.
func (s *Scanner) lookAtAll(ctx context.Context, pids []int, shared *shared) []sight {
	seen, order := make([]sight, len(pids)), s.order(pids)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(pids)) {
		workers.Go(func() {
			for n := int(next.Add(1)) - 1; n < len(order) && (ctx.Err() == nil || overTime(ctx)); n = int(next.Add(1)) - 1 {
				seen[order[n]] = s.lookAt(ctx, pids[order[n]], shared)
			}
		})
	}
	workers.Wait()
	return seen
}

type shared struct {
	facts  *facts.Reader
	groups *groups
	held   map[Identity]procstat.FaultUse // by page faults, since the Scan before
	last   map[Identity]looked            // of the Scan before; nil: there was none

	uncounted, unjudged bool // as of the Scanner, which may have others before a look ends
}

// lookAt looks at a process for as long as one may take.
func (s *Scanner) lookAt(ctx context.Context, pid int, shared *shared) sight {
	stat, err := procstat.ReadStat(pid)
	if err != nil || stat.State == 'Z' || stat.State == 'X' {
		return sight{}
	}
	if stat.Kernel {
		return sight{other: true}
	}
	one, err := s.looks.try(ctx, stat.Identity(), func() sight { return s.look(ctx, stat, shared) })
	if err != nil {
		return late(stat, fmt.Errorf("process %d: %w", pid, err))
	}
	return one
}

// late is what there is of a process that there was no time to look at.
func late(stat Stat, err error) sight {
	return sight{
		id:         stat.Identity(),
		unreadable: &Unreadable{PID: stat.PID, Name: stat.Name, Reason: err.Error(), Cause: Late, Detail: detailOf(err)},
	}
}

func (s *Scanner) look(ctx context.Context, stat Stat, shared *shared) sight {
	pid, one := stat.PID, sight{id: stat.Identity()}
	if overTime(ctx) {
		return late(stat, fmt.Errorf("process %d: %w", pid, ErrTime))
	}
	found, err := s.reader.Learn(ctx, pid)
	switch {
	case errors.Is(err, ErrNotGo):
		return sight{other: true}
	case errors.Is(err, goproc.ErrLate):
		return late(stat, err)
	}
	observed, seen, err := s.reader.observe(found, err, stat, shared.facts)
	switch {
	case err != nil:
		return sight{} // gone
	case observed.NotGo:
		return sight{other: true}
	case seen.why != nil:
		one.unreadable = &Unreadable{PID: pid, Name: stat.Name, Reason: observed.ProgramUnknown, Cause: causeOf(seen.why), Detail: detailOf(seen.why)}
	}
	read := s.sampler.ReadOn
	if shared.uncounted {
		read = s.sampler.ReadTimes
	}
	counts, err := read(stat)
	if err != nil {
		return sight{}
	}
	one.looked = looked{counts: counts, latency: seen.live.Latency}
	p := &Process{Started: stat.Started, Threads: counts.Threads}
	if seen.mem != nil {
		p.LiveCause = causeOf(seen.mem)
	}
	count(p, one, observed.Facts.Limits, shared)
	p.Observed = observed
	p.Throttling, p.Faults = p.Last().Throttling, p.faults()
	if !shared.unjudged {
		p.Subject = s.reader.judged(p.Observed)
	}
	one.process, one.atWork = p, atWork(p, seen.live.MainModule)
	return one
}

// count fills in what the process did, in all and since the Scan before.
func count(p *Process, one sight, limits []facts.Limit, shared *shared) {
	p.Total = total(one.looked)
	p.Total.Groups = shared.groups.of(limits)
	p.Total.Throttling = worst(p.Total.Groups)
	if shared.last == nil {
		return
	}
	// One that is new has begun since the Scan before. Its group is older: what
	// befell that earlier is not its.
	recent := p.Total
	if before, ok := shared.last[one.id]; ok {
		recent = since(one.looked, before)
	}
	recent.Groups = nil
	recent.Throttling = worst(shared.groups.since(limits))
	if use, ok := shared.held[one.id]; ok {
		recent.Held = &use
	}
	p.Recent = &recent
}
