// Package live reads a live experiment's journal: one process ran with several values of
// GOMAXPROCS in turn, in slices of random order, under the traffic that it has anyway. What
// that proves says package paired, whose control is the start value.
package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/paired"
)

// Header is the header of a live experiment's journal: its Live is never nil. The settings
// of its plan are the values, the start value first, and its duration is that of all blocks
// and of the baseline.
type Header struct{ journal.Header }

// NewHeader is the header of an experiment that starts now, with what is chosen for it.
func NewHeader(slice, burnIn, baseline, duration time.Duration) (h Header) {
	h.Started = time.Now().Truncate(time.Second)
	h.Target.Kind = journal.KindLive
	h.Live = &journal.Live{SliceSeconds: slice.Seconds(), BurnInSeconds: burnIn.Seconds(), BaselineSeconds: baseline.Seconds()}
	h.Load.DurationSeconds = duration.Seconds()
	return h
}

// HarmError is that an experiment ended because of harm.
type HarmError struct{ journal.Harm }

func (e *HarmError) Error() string {
	if e.Code == journal.HarmBudget {
		return "the budget of requests (--budget) ended the experiment"
	}
	text := fmt.Sprintf("harm with GOMAXPROCS %s ended the experiment", e.Setting)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Outcome is how an experiment ended, as an error where it did not come to its end, with a
// *HarmError in it after harm; err is what else went wrong.
func Outcome(end *journal.End, err error) error {
	switch {
	case end.Code == journal.EndComplete || end.Code == journal.EndDecided:
		return err
	case end.Code == journal.EndInterrupted:
		return context.Canceled
	case end.Harm != nil:
		return errors.Join(err, &HarmError{*end.Harm})
	}
	return errors.New(end.Reason)
}

// Left reports that a slice ended before its time, since its value did harm.
func Left(t *journal.Trial) bool { return t.InvalidCode == journal.InvalidLeft }

// Settings are the values as a journal has them, the start value first.
func Settings(start int, values []int, same bool) (list []journal.Setting) {
	list = []journal.Setting{settingOf(start)}
	for _, v := range values {
		if v != start && !same {
			list = append(list, settingOf(v))
		}
	}
	if same {
		list = append(list, settingOf(start))
		list[1].Label, list[1].Variant = list[1].Label+" again", "again"
	}
	return list
}

func settingOf(v int) journal.Setting {
	return journal.Setting{Label: strconv.Itoa(v), Procs: new(v), Replicas: 1}
}

// FewRequests in a slice have no percentile to speak of.
const FewRequests = 20

// unequal is how far the requests per second may differ.
const unequal = 0.05

// The metrics that are seen of a program from outside. They stand for the latency of its requests
// where that is not known: what waits in sockets, and how long goroutines wait.
const (
	FigureMean       = "latency_mean"     // seconds, by the program's own metrics
	FigureLatencyP99 = "latency_p99"      // seconds, from the buckets of these
	FigureUnread     = "unread"           // connections in which a request waits that is not read yet, the mean
	FigureSched      = "sched_p99"        // seconds that goroutines were runnable before they ran
	FigureRunnable   = "runnable"         // goroutines that wait for a P, the mean
	FigureThrottled  = "throttled"        // of the periods of the CPU limit
	FigureSwitches   = "context_switches" // per second
	FigureOthers     = "other_cpus"       // that other programs use of those that this one may use, the mean
)

// seen are these, and how much of each does not matter.
var seen = []paired.Metric{
	{Name: FigureMean, Direction: paired.Less},
	{Name: FigureLatencyP99, Direction: paired.Less},
	{Name: FigureUnread, Floor: 0.1, Direction: paired.Less},
	{Name: FigureSched, Floor: 100e-6, Direction: paired.Less},
	{Name: FigureRunnable, Floor: 0.1},
	{Name: FigureThrottled, Floor: 0.01},
	{Name: FigureSwitches, Floor: 1},
	{Name: FigureOthers, Floor: 0.1},
}

// Rules are what is compared: CPU time first, per request or, where requests are not known, per
// second (demand is the same on average with all values, since their order is random), latency,
// what is seen from outside, what the user asks for, and what must be the same.
func (h Header) Rules() paired.Rules {
	latency, margin := paired.Shown, cmp.Or(h.Plan.MarginP99, 0.20)
	if h.Live.LatencyBy == ByArrival {
		latency = paired.Less
	}
	r := paired.Rules{Settings: h.Plan.Settings, Metrics: []paired.Metric{
		{Name: paired.FigureCPU, Direction: paired.Less, Margin: cmp.Or(h.Plan.Margin, 0.05), Halves: true},
		{Name: paired.FigureP50, Direction: latency, Margin: MarginP50, Halves: latency == paired.Less},
		{Name: paired.FigureP99, Direction: latency, Margin: margin},
	}}
	for _, m := range seen {
		if slices.Contains(h.Live.Seen, m.Name) {
			if m.Margin = margin; latency == paired.Less {
				m.Direction = paired.Shown
			}
			r.Metrics = append(r.Metrics, m)
		}
	}
	for _, q := range h.Live.Queries {
		r.Metrics = append(r.Metrics, paired.Metric{Name: q.Name, Direction: paired.Less, Margin: margin, Asked: true, Guarded: true})
	}
	if !h.Live.Uncounted {
		r.Metrics = append(r.Metrics, paired.Metric{Name: paired.FigureRequests, Direction: paired.Alike, Margin: unequal}, paired.Metric{Name: paired.FigureFailed, Direction: paired.NoMore})
	}
	return r
}

// Harmed reports which requests are known of those that count against the budget. Before the
// baseline it is not known yet which are slow.
func Harmed(l *journal.Live) (slow, failed bool) {
	slow = l.LatencyBy != ByNone && (l.Metrics == nil || l.Metrics.Histogram != "") && (l.LatencyBy == "" || l.SlowSeconds > 0)
	return slow && !l.Uncounted, !l.Uncounted && (l.Metrics == nil || !l.Metrics.FailuresUnknown)
}

// What latency counts from.
const (
	ByArrival = "arrival"
	ByHandler = "handler"
	ByMetrics = "metrics" // as the program's own metrics count it
	ByNone    = "none"
)

const (
	// atOnce is how many values there are at most in a block, the start value among them.
	atOnce = 4
	// FewestBlocks are those that a proof takes at least.
	FewestBlocks = 9
	// MarginP50 is how much longer a p50 counts as no longer.
	MarginP50 = 0.10
	// Jitter is how much shorter or longer than the mean a slice is at most, at random.
	Jitter = 0.2
)

// mostBurnIn is how many times the first burn-in is the longest one: what a value leaves behind
// must end.
const mostBurnIn = 4

// Next is what the slices so far lead to, with so much time left, and what they prove: nothing is
// asked of those that end it for harm.
func (h Header) Next(trials []journal.Trial, left time.Duration) (paired.Step, *paired.Look) {
	list, _, _, burn := h.slicesOf(trials)
	next := paired.Step{}
	if len(trials) > 0 {
		next.Block = trials[len(trials)-1].Block + 1
	}
	if harm := h.Rules().Harm(list); harm != nil {
		next.End = &journal.End{Code: journal.EndHarm, Harm: harm}
		return next, nil
	}
	look := paired.Judge(h.Rules(), list)
	now := look
	if look.Carried {
		if burn >= mostBurnIn*h.Live.BurnInSeconds {
			next.End = &journal.End{Code: journal.EndCarryOver, Reason: "what one value leaves behind does not end within " + number.Chosen(seconds(burn))}
			return next, &look
		}
		burn *= 2
		paired.CarriedOver(list)
		now = paired.Judge(h.Rules(), list)
	}
	values := h.compared(now)
	switch takes := time.Duration(len(values)) * seconds(burn+h.Live.SliceSeconds); {
	case values == nil:
		next.End = &journal.End{Code: journal.EndDecided}
	case takes > left:
		next.End = &journal.End{Code: journal.EndComplete}
	}
	next.BurnIn = seconds(burn)
	for _, v := range values {
		next.Settings = append(next.Settings, h.Plan.Settings[v:v+1:v+1])
	}
	return next, &look
}

// compared are the values of the next block, by their places in the plan: the start value,
// and those nearest to it that are not decided. None are: it is over.
func (h Header) compared(l paired.Look) (list []int) {
	far := func(i int) float64 {
		return math.Abs(math.Log(float64(*h.Plan.Settings[i].Procs) / float64(h.Live.Start)))
	}
	for i, v := range l.Values {
		if !v.Decided() {
			list = append(list, i+1)
		}
	}
	sorting.Stable(list, func(a, b int) int { return cmp.Compare(far(a), far(b)) })
	if len(list) == 0 {
		return nil
	}
	return append([]int{0}, list[:min(len(list), atOnce-1)]...)
}

// Block is how long a block takes at first.
func (h Header) Block() time.Duration {
	n := min(atOnce, len(h.Plan.Settings))
	return time.Duration(n) * seconds(h.Live.SliceSeconds+h.Live.BurnInSeconds)
}

// Forecast is what the baseline lets the experiment find.
func (h Header) Forecast(baseline []paired.Slice) paired.Forecast {
	return h.Rules().Forecast(baseline, int(seconds(h.Load.DurationSeconds-h.Live.BaselineSeconds)/h.Block()), h.Block())
}

// Least is how long an experiment takes that may prove something, in whole minutes.
func (h Header) Least() time.Duration {
	least := FewestBlocks*h.Block() + seconds(h.Live.BaselineSeconds)
	return time.Duration(math.Ceil(least.Minutes())) * time.Minute
}

// Check says what of the times cannot be.
func (h Header) Check() error {
	left := seconds(h.Load.DurationSeconds - h.Live.BaselineSeconds)
	if left < FewestBlocks*h.Block() {
		return fmt.Errorf("--for %s: after the baseline of %s that is %s of %s; a proof takes %d at least: --for %s",
			number.Typed(seconds(h.Load.DurationSeconds)), number.Chosen(seconds(h.Live.BaselineSeconds)), phrase.Count(max(0, int(left/h.Block())), "block"), number.Chosen(h.Block()), FewestBlocks,
			number.Typed(h.Least()))
	}
	return nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// own are the names that no query may have.
var own = []string{paired.FigureCPU, paired.FigureP50, paired.FigureP99, paired.FigureFailed, paired.FigureRequests}

// ParseQuery reads NAME=QUERY.
func ParseQuery(s string) (journal.Query, error) {
	q, err := journal.ParseQuery(s, `p99='histogram_quantile(0.99, sum by (le) (rate(…_bucket[$slice])))'`)
	switch {
	case err != nil:
	case slices.Contains(own, q.Name) || slices.ContainsFunc(seen, func(m paired.Metric) bool { return m.Name == q.Name }):
		err = fmt.Errorf("%q: %s is the name of a metric that procfit always counts: choose another name", s, q.Name)
	case strings.Contains(q.Text, journal.PodsPlaceholder):
		err = fmt.Errorf("%q: %s is for kube canary; name the one program that tries the values, for example {pod=\"api-7d9\"}", s, journal.PodsPlaceholder)
	case !strings.Contains(q.Text, journal.SlicePlaceholder):
		err = fmt.Errorf("%q: %s must be in it, so that it is of one value alone: rate(x[$slice]); in a shell, use single quotes", s, journal.SlicePlaceholder)
	}
	return q, err
}

// Asked is the time that queries are of: it fits into the shortest slice.
func Asked(slice time.Duration) time.Duration {
	return max(time.Second, time.Duration(float64(slice)*(1-Jitter)).Truncate(time.Second))
}
