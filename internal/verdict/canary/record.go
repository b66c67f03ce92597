package canary

import (
	"slices"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Header is the header of a canary's journal: its Canary is never nil. Its duration is that
// of each round, and its margin of a p99 is how far above the control's a query may be.
type Header struct{ journal.Header }

func (h Header) slice() time.Duration    { return seconds(h.Canary.SliceSeconds) }
func (h Header) warmup() time.Duration   { return seconds(h.Load.WarmupSeconds) }
func (h Header) duration() time.Duration { return seconds(h.Load.DurationSeconds) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Slices is how many a round has.
func (h Header) Slices() int { return int(h.duration() / h.slice()) }

// Lasts is how long all rounds take, their pods' starts aside.
func (h Header) Lasts() time.Duration {
	return time.Duration(len(h.Canary.Rounds)) * (h.warmup() + time.Duration(h.Slices())*h.slice())
}

// Slice is what all settings of a round did in the same time: the trials of a block.
type Slice []journal.Trial

// slicesOf are the blocks of a journal.
func slicesOf(trials []journal.Trial) (list []Slice) {
	for i, t := range trials {
		if i == 0 || t.Block != trials[i-1].Block {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], t)
	}
	return list
}

// of is what the pods of one setting did together; nil: it was not there. Its metrics are
// the queries that have a value.
func (s Slice) of(label string) *journal.Trial {
	i := slices.IndexFunc(s, func(t journal.Trial) bool { return t.Setting.Label == label })
	if i < 0 {
		return nil
	}
	return &s[i]
}

// metric is the value of a query, or of what an agent read of the runtime; nil: not known.
func metric(t *journal.Trial, name string) *float64 {
	if m, ok := t.Metrics[name]; ok {
		return &m.Value
	}
	return nil
}

// served reports that a query counted requests.
func served(t journal.Trial) bool {
	n := metric(&t, Requests)
	return n != nil && *n > 0
}

// podSeconds is the time that the counters span, of all pods together; nil: there are none.
func podSeconds(t *journal.Trial) *float64 {
	if !(t.MeasuredSeconds > 0) {
		return nil
	}
	return new(t.MeasuredSeconds * float64(len(t.ObservedProcs)))
}

func cpuSeconds(t *journal.Trial) *float64 {
	if t.CPUSeconds == nil {
		return nil
	}
	return new(t.CPUSeconds.Total())
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

// idle reports that no request came to a setting's pods: they used next to no CPU time, or
// where that is not known they counted none. What is not known at all is not idle.
func idle(t *journal.Trial) bool {
	return quiet(cpuSeconds(t), metric(t, Requests), podSeconds(t))
}

// quiet reports it of CPU time, requests and the time of pods.
func quiet(cpu, counted, seconds *float64) bool {
	cpus, requests := share(cpu, seconds), share(counted, seconds)
	switch {
	case cpus == nil:
		return counted != nil && *counted == 0
	case requests != nil && *requests >= idleRate:
		return false
	}
	return *cpus < idleCPUs
}

// unreached reports that no request came to any setting. A setting's slices are taken
// together where their CPU time is known: the kernel may count it by ticks of 10 ms, and
// one of them is 0.0025 CPUs in a slice of 4 s.
func unreached(list []Slice) bool {
	type use struct{ cpu, counted, seconds *float64 }
	all := map[string]*use{}
	add := func(to **float64, x *float64) {
		if x == nil {
			return
		}
		if *to == nil {
			*to = new(float64)
		}
		**to += *x
	}
	for _, s := range list {
		for i := range s {
			t := &s[i]
			if cpuSeconds(t) == nil || podSeconds(t) == nil {
				if !idle(t) {
					return false
				}
				continue
			}
			u := all[t.Setting.Label]
			if u == nil {
				u = &use{}
				all[t.Setting.Label] = u
			}
			add(&u.cpu, cpuSeconds(t))
			add(&u.seconds, podSeconds(t))
			add(&u.counted, metric(t, Requests))
		}
	}
	for _, u := range all {
		if !quiet(u.cpu, u.counted, u.seconds) {
			return false
		}
	}
	return len(list) > 0
}
