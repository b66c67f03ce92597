package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/host/sockets"
	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/measure/paired"
	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
)

// Program is a running program. Its values are set by a call from outside, and what it does is
// seen from outside. If it has the Meter of maxprocs/live, its requests are known, and if it
// allows leases, it sets the values itself.
type Program struct {
	steer.Program
	Before steer.Value // what it gets back
	// For is the longest that it may have another value, and Spare what of that is beyond the plan.
	For, Spare time.Duration
	Idle       func() // is called where the first call waits for a program in which no Go code runs; may be nil
	After      int    // GOMAXPROCS when the old value was given back; 0: not known

	meter *meter.Program // nil: it has none
	// Counted: its Meter counts its requests. Most is the highest value of a lease; 0: it allows
	// none, and is called.
	Counted bool
	Most    int

	guard   *steer.Guard // nil: nothing is set yet, or the program has a lease
	unsure  bool         // nobody knows what the first call did
	now     steer.Value  // what it is to have; 0: anything
	leased  bool         // a value is
	renewed time.Time    // the lease

	Metrics *Metrics // of its own, where its requests are counted; nil: they are not known

	cache   goproc.Cache
	sampler *procstat.Sampler
	limits  []observe.Limit
	unread  *unread    // nil: it cannot be seen
	cpus    cpuset.Set // that it may run on; nil: not known
	others  float64    // seconds that other programs used of these since boot, which the kernel counts in ticks
	first   Reading
	last    Reading
	// Blind is what cannot be seen of it, and why.
	Blind []string
}

// Watch begins to look at a program, which gets the value before back; none: it is not changed.
// Close ends it.
func Watch(p steer.Program, before steer.Value) (*Program, error) {
	sampler, err := procstat.NewSampler()
	if err != nil {
		return nil, err
	}
	out := &Program{Program: p, Before: before, now: before, sampler: sampler}
	if out.limits, err = observe.Limits(p.PID); err != nil {
		out.Blind = append(out.Blind, err.Error())
	}
	if m, err := new(meter.Reader).Open(p.PID); err == nil {
		out.meter = m
		_, err := m.Metrics()
		out.Counted = err == nil
		if s, err := m.State(); err == nil && s.Allowed {
			out.Most = s.Most
		}
	}
	if out.cpus, err = observe.AllowedCPUs(p.PID); err != nil {
		out.Blind = append(out.Blind, "what other programs use: "+err.Error())
	}
	listening, err := sockets.Of(p.PID)
	if err != nil {
		out.Blind = append(out.Blind, "requests that wait in sockets: "+err.Error())
	} else {
		out.unread = watchUnread(listening.Unread, listening.Close)
		if apart := out.unread.apart; apart > time.Second/fewLooks {
			out.Blind = append(out.Blind, fmt.Sprintf("what waits in sockets between two looks, which are %s apart: each takes %s of CPU time", number.Short(number.Duration(apart)), number.Short(number.Duration(apart/lookShare))))
		}
	}
	return out, nil
}

// Close ends the looks.
func (p *Program) Close() {
	p.sampler.Close()
	if p.meter != nil {
		p.meter.Close()
	}
	if p.unread != nil {
		p.unread.stop()
	}
}

// ours sees that nothing else has changed the program, and renews a lease.
func (p *Program) ours(ctx context.Context, live goproc.Live, err error) error {
	switch {
	case p.leased && time.Since(p.renewed) > keptFor/4:
		_, err = p.lease(ctx, p.now)
		return err
	case p.leased, p.now.Procs == 0, p.now.Auto:
		return nil
	case err == nil && live.Procs != p.now.Procs:
		return endFor(journal.EndTaken, "something else set GOMAXPROCS to %d, where the experiment expected %d", live.Procs, p.now.Procs)
	}
	return err
}

// lease has the program use a value by its lease.
func (p *Program) lease(ctx context.Context, v steer.Value) (time.Duration, error) {
	c, err := p.meter.Lease(ctx, v.Procs, keptFor)
	if err == nil {
		p.now, p.leased, p.renewed = v, true, time.Now()
	}
	return c.Took, unleased(err)
}

// ended is nil while the process runs the program.
func (p *Program) ended() error {
	now, err := steer.Identify(p.PID)
	switch {
	case err == nil && now == p.Program:
		return nil
	case err == nil || now.Started != p.Started || procstat.HasEnded(p.PID): // nobody has waited for it yet
		return stopped("the program was restarted, or ended")
	}
	return err
}

// Set sets a value. One guard sets all values, and gives the first one back.
func (p *Program) Set(ctx context.Context, procs int) (time.Duration, error) {
	v := steer.Value{Procs: procs}
	if p.Most > 0 {
		return p.lease(ctx, v)
	}
	var r steer.Result
	var err error
	if p.guard == nil {
		p.guard, r, err = steer.Lend(ctx, steer.Loan{Request: steer.Request{Program: p.Program, Value: v, Idle: p.Idle}, Before: p.Before, For: p.For, Spare: p.Spare})
		p.unsure = slices.Contains([]steer.Why{steer.Late, steer.Lost, steer.Broken}, steer.Because(err))
	} else {
		r, err = p.guard.Change(ctx, v)
	}
	if err == nil {
		p.Before, p.now = p.guard.Before(), v
	}
	if err == nil || steer.Because(err) == steer.Unwanted { // at the end of ctx the guard gives back what it has set
		err = cmp.Or(ctx.Err(), err)
	}
	return r.Stopped, refused(err)
}

// keptFor is after how long a program restores its value by itself if its lease is not renewed.
const keptFor = 2 * patience

// unleased is how an experiment ends in which the program does not use a value, or no longer.
func unleased(err error) error {
	refusal, ok := errors.AsType[*meter.Refusal](err)
	switch {
	case errors.Is(err, meter.ErrGone):
		return stopped("the program was restarted, or ended")
	case !ok || refusal.Why == meter.Silent:
		return err
	case refusal.Why == meter.OutOfRange || refusal.Why == meter.Taken || refusal.Why == meter.Denied:
		return endFor(journal.EndFailed, "%v", err)
	}
	return endFor(journal.EndTaken, "%v", err)
}

// refused is how an experiment ends in which a value cannot be set.
func refused(err error) error {
	switch steer.Because(err) {
	case "", steer.NoPlace: // which is tried again
		return err
	case steer.Ended, steer.Executed, steer.Replaced:
		return stopped("the program was restarted, or ended")
	}
	return endFor(journal.EndFailed, "%v", err)
}

// Release gives the value at start back.
func (p *Program) Release(ctx context.Context) error {
	guard := p.guard
	switch {
	case p.Most > 0: // one that answers late may have the lease all the same
		procs, err := p.meter.Release(ctx)
		p.After = procs
		return err
	case p.unsure:
		return fmt.Errorf("it is not known what the first call did; a second process gives GOMAXPROCS=%d back if that is needed", p.Before.Procs)
	case guard == nil:
		if live, err := p.cache.Live(p.PID); err == nil {
			p.After = live.Procs
		}
		return nil
	}
	now, cancel := context.WithCancel(ctx)
	cancel()
	done := make(chan error, 1)
	go func() {
		r, trying, err := guard.Wait(now)
		if trying {
			err = fmt.Errorf("%w; process %d tries for an hour to give GOMAXPROCS=%d back", err, guard.PID(), p.Before.Procs)
		}
		p.After = r.New
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("GOMAXPROCS is not back yet; process %d gives it back", guard.PID())
	}
}

// Read reads what the program has done since it began. It fails where that is no longer the
// experiment's.
func (p *Program) Read(ctx context.Context) (Reading, error) {
	if err := p.ended(); err != nil {
		return Reading{}, err
	}
	used, err := procstat.ReadCPUTime(p.PID)
	if err != nil {
		return Reading{}, err
	}
	r := Reading{At: time.Now(), CPU: used.Seconds(), Seen: map[string]float64{}}
	if p.Metrics != nil { // first: CPU time and requests are to be of one moment
		if err := p.Metrics.read(ctx, &r); err != nil {
			return Reading{}, err
		}
	}
	if p.Metrics == nil && p.Counted {
		m, err := p.meter.Metrics()
		if err != nil {
			return Reading{}, err
		}
		r.Requests, r.Failed, r.Panics, r.InFlight, r.Arrival, r.Handler = m.Requests, m.Failed, m.Panics, m.InFlight, m.Arrival, m.Handler
		if r.shrank(p.last) {
			return Reading{}, endFor(journal.EndFailed, "the counts of its Meter began again: live.Allow got another Meter")
		}
	}
	live, err := p.cache.Live(p.PID)
	if err == nil {
		r.Waits = live.Latency
	}
	if err := p.ours(ctx, live, err); err != nil {
		return Reading{}, err
	}
	if counted, err := p.sampler.Read(p.PID); err == nil {
		if u := counted.Total(); u.Uncounted == 0 {
			r.Seen[judge.FigureSwitches] = float64(u.Voluntary + u.Involuntary)
		}
	}
	r.Limits = observe.Reread(p.limits)
	own, errOwn := procstat.ReadCPUTime(os.Getpid())
	if all, err := observe.CPUTime(p.cpus...); err == nil && errOwn == nil && len(p.cpus) > 0 {
		p.others = max(p.others, (all.Since(observe.CPU{}).Busy - used - own).Seconds())
		r.Seen[judge.FigureOthers] = p.others
	}
	if p.unread != nil {
		if sum, known := p.unread.sum(); known {
			r.Seen[judge.FigureUnread] = sum
		}
	}
	if p.last = r; p.first.At.IsZero() {
		p.first = r
	}
	return r, nil
}

// OtherCPUs is what other programs used between the first Read and the last one, and of how many
// CPUs; of 0: that is not known.
func (p *Program) OtherCPUs() (used, of float64) {
	used, known := Seen(p.first, p.last)[judge.FigureOthers]
	if !known {
		return 0, 0
	}
	return used, float64(len(p.cpus))
}

const (
	// looksPerSecond is how often the sockets are looked at, at most: the mean of a slice of 5 s is
	// then of 300 looks.
	looksPerSecond = 60
	// lookShare is how many times as long as a look takes the next one is after it: for each, the
	// kernel goes through all connections of a port, which may be thousands.
	lookShare = 20
	// fewLooks per second see little of what waits for a short time.
	fewLooks = 10
)

// unread sums the connections in which something waits to be read over time.
type unread struct {
	stop  func()
	apart time.Duration // from the first look to the next, at least

	mu     sync.Mutex
	summed float64 // connections times seconds, until the last look
	n      int     // in the last look
	at     time.Time
	failed error // of the last look
}

// watchUnread has looked once when it returns: what begins at once has a sum to begin from.
func watchUnread(count func() (int, error), done func() error) *unread {
	u := &unread{}
	own := func() time.Duration { // without the time for which it waits for a CPU
		used, _ := procstat.ReadCPUTime(os.Getpid()) // 0 where it cannot be read
		return used
	}
	var next time.Time
	look := func() {
		now, was := time.Now(), own()
		if now.Before(next) {
			return
		}
		u.look(count())
		apart := lookShare * (own() - was)
		if next.IsZero() {
			u.apart = apart
		}
		next = now.Add(apart)
	}
	look()
	end := wait.Every(time.Second/looksPerSecond, look)
	u.stop = func() {
		end()
		done()
	}
	return u
}

// mostUnread is more than any experiment sums.
const mostUnread = 1e9

func (u *unread) look(n int, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	if u.summed = u.until(now); err != nil && u.failed == nil {
		u.summed -= mostUnread // what ends with less than it began with is not known: a part is missing
	}
	u.n, u.at, u.failed = n, now, err
}

// sum is false while the sockets cannot be looked at: what is not known is not 0.
func (u *unread) sum() (float64, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.until(time.Now()), u.failed == nil
}

// until is the sum at a time: until the next look there are as many as in the last one.
func (u *unread) until(now time.Time) float64 {
	return u.summed + float64(u.n)*now.Sub(u.at).Seconds()
}

// stopped is that the process does not keep running.
func stopped(reason string) error {
	return &paired.EndError{End: journal.End{Code: journal.EndHarm, Reason: reason, Harm: &journal.Harm{Code: journal.HarmEnded, Detail: reason}}}
}
