package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Machine is a Runner that can look at the machine that it measures on.
type Machine interface {
	// Speed does a fixed piece of work on each CPU that target or load may use, and returns
	// how often a second of CPU time holds it; 0: not known.
	Speed(ctx context.Context) float64
	// Others is what other programs use of the target's CPUs just now.
	Others(ctx context.Context) Others
}

// Others is what other programs use of the target's CPUs.
type Others struct {
	CPUs, OfCPUs float64        // of 0: not known
	Busiest      []observe.Used // those that used most, as far as it is known
}

const mostNamed = 3

func (o Others) String() string {
	text := fmt.Sprintf("%.2g of %s", o.CPUs, number.CPUs(o.OfCPUs))
	list := phrase.Each(o.Busiest[:min(mostNamed, len(o.Busiest))], func(u observe.Used) string {
		return fmt.Sprintf("%s (PID %d): %s", phrase.Clean(strings.TrimSpace(u.Name)), u.PID, number.CPUsUsed(u.CPUs))
	})
	if len(list) == 0 {
		return text
	}
	return text + " [" + strings.Join(list, ", ") + "]"
}

const (
	speedEvery = 2 * time.Second      // between measurements of some 30 ms: at most 2% of a sweep
	speedTries = 3                    // of a low speed: what lasts for less than their time is no slower machine
	quietFrom  = contest.OthersMatter // of the target's CPUs: below it, every machine is as busy
	lookAgain  = time.Second          // between two looks at a machine that is busy
	tellAgain  = 30 * time.Second     // between two notices that it is still busy
)

// others is the share of the CPUs that other programs took of a trial; nil: too little, or not known.
func others(t *journal.Trial) *float64 {
	if share := contest.CountedOthers(t); contest.AtLeast(share, contest.OthersMatter) {
		return share
	}
	return nil
}

// speed measures the machine's speed, where it is known and was not measured just now.
func (r *Execution) speed(ctx context.Context) *float64 {
	if r.Machine == nil || len(r.speeds) > 0 && r.Now().Sub(r.speedAt) < speedEvery {
		return nil
	}
	best := 0.0
	for try := 0; try == 0 || try < speedTries && best < (1-contest.SlowFrom)*contest.UsualSpeed(r.speeds); try++ {
		best = max(best, r.Machine.Speed(ctx))
	}
	if r.speedAt = r.Now(); best <= 0 || ctx.Err() != nil {
		return nil
	}
	r.speeds = append(r.speeds, best)
	return &best
}

// slow reports the trials during which the machine was slow, at the end of their block.
func (r *Execution) slow() {
	slowed := contest.Slowed(r.have.Trials)
	last := len(slowed) - 1
	if slowed[last] <= contest.SlowFrom {
		return
	}
	var numbers []int // of the trials since the speed was measured before
	for i := last; i >= 0 && (i == last || r.have.Trials[i].SpeedAfter == nil); i-- {
		if t := &r.have.Trials[i]; t.Valid && t.Role != journal.RolePilot {
			numbers = append(numbers, r.done-(last-i))
		}
	}
	slices.Reverse(numbers)
	if len(numbers) > 0 {
		r.Observe.Tell(Activity{Step: StepSlow, Share: slowed[last], Trials: numbers})
	}
}

// slow counts the blocks before a number during which the machine was slow.
func (r Record) slow(below int) int {
	blocks := map[int]bool{}
	for i, share := range contest.Slowed(r.Trials) {
		if t := r.Trials[i]; t.Role != journal.RolePilot && t.Block < below && share > contest.SlowFrom {
			blocks[t.Block] = true
		}
	}
	return len(blocks)
}

// BusyError is that other programs used the CPUs for longer than the run waits, or at all once the
// answer is proven.
type BusyError struct {
	Others
	Waited  time.Duration
	Trials  int  // that ran
	Settled bool // nothing was waited for
}

func (e *BusyError) Error() string {
	if e.Settled {
		return fmt.Sprintf("the answer is proven, so the sweep ended with %s and does not wait for other programs, which use %s",
			phrase.Count(e.Trials, "trial"), e.Others)
	}
	return fmt.Sprintf("other programs still use %s after a wait of %s, so the sweep ended with %s",
		e.Others, number.Short(number.Seconds(e.Waited.Seconds())), phrase.Count(e.Trials, "trial"))
}

// quiet waits before a block for a machine that other programs keep busy, once these left
// a block nothing to compare. It is a *BusyError where patience ends, or the answer is proven.
func (r *Execution) quiet(ctx context.Context, next Task) error {
	if r.Machine == nil || r.Spec.Tolerant || r.Spec.Patience <= 0 || next.OneStart || next.Role == journal.RolePilot || len(r.have.of(next.Block)) > 0 {
		return nil
	}
	if r.busy = r.busy || crowded(r.Header, r.have.Trials); !r.busy {
		return nil
	}
	for first, tell := r.waited, r.waited; ; {
		began := r.Now()
		others := r.Machine.Others(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case others.CPUs < quietFrom*others.OfCPUs || others.OfCPUs == 0:
			return nil
		case r.waited == first && r.Settled != nil && r.Settled(r.have):
			return &BusyError{Others: others, Waited: r.waited, Trials: len(r.have.Trials), Settled: true}
		case r.waited >= r.Spec.Patience:
			return &BusyError{Others: others, Waited: r.waited, Trials: len(r.have.Trials)}
		case r.waited >= tell:
			tell = r.waited + tellAgain
			r.Observe.Tell(Activity{Step: StepBusy, Others: others, Waited: r.waited - first, Left: r.Spec.Patience - r.waited})
		}
		if err := wait.For(ctx, min(lookAgain, r.Spec.Patience-r.waited)); err != nil {
			return err
		}
		r.waited += r.Now().Sub(began)
	}
}

// crowded reports whether others left the latest block fewer than two settings with enough CPU time.
func crowded(h journal.Header, trials []journal.Trial) bool {
	if len(trials) == 0 || h.Target.Attached != nil {
		return false
	}
	last := trials[len(trials)-1]
	others := func(t journal.Trial) bool { return contest.AtLeast(contest.MostOthers(&t), quietFrom) || !hadCPUs(t) }
	if last.Role == journal.RolePilot || !slices.ContainsFunc(Record{Trials: trials}.of(last.Block), others) {
		return false
	}
	counted := contest.Count(h, trials)
	group := counted.Contest(last.Setting.Group())
	starved, compared := false, map[journal.SettingKey]bool{}
	for _, t := range (Record{Trials: counted.Trials}).of(last.Block) {
		switch {
		case t.Valid && !group.HadTooFewCPUs(t.Setting):
			compared[t.Setting.Key()] = true
		case t.Valid, t.InvalidCode == journal.InvalidCrowded, !hadCPUs(t):
			starved = true
		}
	}
	return starved && len(compared) < 2
}
