// Package canary compares settings of GOMAXPROCS under the real traffic of a Service. A few
// canary pods join the pods of the user behind the Service, each with one setting. One
// setting is the control: it is that of the user's pods, in pods as new as the others.
//
// [Divide] decides how many pods there may be, and whether all settings run at the same
// time or one after the other, each next to a control. Package measure/paired makes them,
// counts by slices of time, and ends at the first harm. The journal is that of any
// sweep: a slice is a block with one trial of each setting. [Analyze] makes a result of
// it: package paired compares every setting with the control of the same slice, so that changes
// of the traffic affect both.
//
// Connections that clients keep open do not move to new pods. While no request has reached
// any of the pods, by their requests or their CPU time, the canary reports it after
// [ToldAfter] slices, and ends the run after half of a round: there is nothing to compare.
//
// A query whose value is above that of the control ends the run, by a test that may be
// looked at after every slice. Simulated with equal pods, at most one canary in 100 ends.
//
// Limits: the package does not correct traffic that is spread unevenly, for example over
// connections that clients keep for hours (compare the requests of each setting), nor the
// effect of a pod's node; the pods of a run therefore share one. A run that ended cannot be
// resumed, because its pods and its traffic belong to another time.
package canary

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Control is what the control is called: GOMAXPROCS is not set in it.
const Control = journal.Default

// SettingOf is the setting of a value; nil is the control.
func SettingOf(procs *int) journal.Setting {
	return journal.Setting{Label: journal.LabelOf(procs), Procs: procs, Replicas: 1}
}

// Divide makes rounds of the values: which settings are there at once, the control
// first, each in N pods. serve is how many pods of the user's do; of all that
// then serve ours are no more than the share.
func Divide(values []*int, quota *float64, pods, serve int, share float64) ([][]journal.Setting, error) {
	var settings []journal.Setting
	for _, v := range values {
		if v != nil {
			settings = append(settings, SettingOf(v))
		}
	}
	if len(settings) == 0 {
		return nil, fmt.Errorf("--procs: expected at least one number; the default is always measured, as the control")
	}
	const hair = 1e-9 // 0.1/0.9 of 18 is not 2 in binary
	most := int(math.Floor(share/(1-share)*float64(serve) + hair))
	at := most/pods - 1 // next to a control
	if at < 1 {
		least := 2 * pods
		of := float64(least) / float64(serve+least)
		return nil, fmt.Errorf("%s next to %s would be %s of the endpoints, more than the share of %s: at least %d pods must serve, or use --share %g%%",
			phrase.Count(least, "canary pod"), phrase.Count(serve, "serving pod"), number.Percent(of), number.Percent(share), int(math.Ceil(float64(least)*(1-share)/share-hair)), math.Ceil(of*100))
	}
	var rounds [][]journal.Setting
	for len(settings) > 0 {
		n := min(at, len(settings))
		round := append([]journal.Setting{SettingOf(nil)}, settings[:n]...)
		for i := range round {
			round[i].Replicas, round[i].QuotaCPUs = pods, quota
		}
		rounds = append(rounds, round)
		settings = settings[n:]
	}
	return rounds, nil
}

// Requests is the name of the query for how many requests a setting served in a
// slice. All others are of metrics for which less is better.
const Requests = "requests"

// ParseQuery reads NAME=QUERY.
func ParseQuery(s string) (journal.Query, error) {
	q, err := journal.ParseQuery(s, `p99='histogram_quantile(0.99, …{pod=~"$pods"}…)'`)
	switch {
	case err != nil:
	case slices.Contains(own, q.Name):
		err = fmt.Errorf("%q: %s is the name of a metric that procfit always counts: choose another name", s, q.Name)
	case !strings.Contains(q.Text, journal.PodsPlaceholder):
		err = fmt.Errorf("%q: %s must be in it, for the pods of a setting: {pod=~\"$pods\"}; in a shell, use single quotes", s, journal.PodsPlaceholder)
	}
	return q, err
}

// Header is the header of a canary's journal: its Canary is never nil. Its duration is that
// of each round, and its margin of a p99 is how far above the control's a query may be.
type Header struct{ journal.Header }

// NewHeader is the header of a canary that starts now, with what is chosen for it.
func NewHeader(slice, duration, warmup time.Duration, share float64) (h Header) {
	h.Started = time.Now().Truncate(time.Second)
	h.Target.Kind = journal.KindService
	h.Canary = &journal.Canary{SliceSeconds: slice.Seconds(), Share: share, Counting: []journal.Counter{}}
	h.Load.DurationSeconds, h.Load.WarmupSeconds = duration.Seconds(), warmup.Seconds()
	return h
}

// Slice is how long a slice takes.
func (h Header) Slice() time.Duration { return seconds(h.Canary.SliceSeconds) }

// Warmup is the time of the pods before they are compared.
func (h Header) Warmup() time.Duration { return seconds(h.Load.WarmupSeconds) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Slices is how many a round has.
func (h Header) Slices() int { return int(seconds(h.Load.DurationSeconds) / h.Slice()) }

// Lasts is how long all rounds take, their pods' starts aside.
func (h Header) Lasts() time.Duration {
	return time.Duration(len(h.Canary.Rounds)) * (h.Warmup() + time.Duration(h.Slices())*h.Slice())
}

// metric is the value of a query, or of what an agent read of the runtime; NaN: not known.
func metric(t *journal.Trial, name string) float64 {
	if m, ok := t.Metrics[name]; ok {
		return m.Value
	}
	return math.NaN()
}

// podSeconds is the time that the counters span, of all pods together.
func podSeconds(t *journal.Trial) float64 {
	return t.MeasuredSeconds * float64(len(t.ObservedProcs))
}

func cpuSeconds(t *journal.Trial) float64 {
	if t.CPUSeconds == nil {
		return math.NaN()
	}
	return t.CPUSeconds.Total()
}

// share is a of b; NaN: one of both is not known, or b is nothing.
func share(a, b float64) float64 {
	if !(b > 0) || math.IsInf(a/b, 0) {
		return math.NaN()
	}
	return a / b
}

const (
	// idleCPUs is what a pod uses at most that no request reaches: for probes of the
	// kubelet, and for the Go runtime. idleRate is how many of them it may count as
	// requests in a second.
	idleCPUs = 0.002
	idleRate = 1
	// ToldAfter is after how many slices without a request the canary says so.
	ToldAfter = 2
)

// Patience is after how many slices without a request a round ends: half of them.
func (h Header) Patience() int { return max(ToldAfter+1, (h.Slices()+1)/2) }

// use is what the pods of a setting did: CPU seconds, counted requests, and the time of pods.
type use struct{ cpu, counted, seconds float64 }

func useOf(t *journal.Trial) use { return use{cpuSeconds(t), metric(t, Requests), podSeconds(t)} }

// idle reports that no request came to a setting's pods, or no more than probes may be: they used
// next to no CPU time, or where that is not known they counted none. What is not known at all is
// not idle.
func (u use) idle() bool {
	cpus := share(u.cpu, u.seconds)
	if math.IsNaN(cpus) {
		return u.counted == 0
	}
	return cpus < idleCPUs && !(share(u.counted, u.seconds) >= idleRate)
}

// Slices are trials of one round.
type Slices []journal.Trial

// Counted reports whether requests were counted, however few.
func Counted(trials []journal.Trial) bool {
	return slices.ContainsFunc(trials, func(t journal.Trial) bool { return metric(&t, Requests) > 0 })
}

// Unreached reports that no request came to any setting, or so few that they may be probes: then
// they are Counted. A setting's slices are taken together where their CPU time is known: the kernel
// may count it by ticks of 10 ms, and one of them is 0.0025 CPUs in a slice of 4 s.
func Unreached(trials []journal.Trial) bool {
	all := map[string]use{}
	for i := range trials {
		u, sum := useOf(&trials[i]), all[trials[i].Setting.Label]
		switch {
		case !math.IsNaN(share(u.cpu, u.seconds)):
			sum.cpu, sum.seconds = sum.cpu+u.cpu, sum.seconds+u.seconds
			if !math.IsNaN(u.counted) {
				sum.counted += u.counted
			}
			all[trials[i].Setting.Label] = sum
		case !u.idle():
			return false
		}
	}
	for _, u := range all {
		if !u.idle() {
			return false
		}
	}
	return len(trials) > 0
}
