package stat

import (
	"fmt"
	"math"
	"strconv"

	"github.com/procfit/procfit/internal/journal"
)

// carriedRatio is the share of the offered rate that counts as carried.
const carriedRatio = 0.99

// carries answers for the smallest setting that carries the asked rate. Its
// verdict rests on counts of requests, not on comparisons, so the noise floor
// has no part in it.
func (g *group) carries(w *walk, t telling) Recommendation {
	r := Recommendation{Verdict: CannotTell, Reasons: []string{}}
	carriers, offered := w.carriers()
	rate := "the rate"
	if t.group.RatePerSecond != nil {
		rate = perSecond(*t.group.RatePerSecond, "requests")
	}
	few := false
	for _, s := range w.settings {
		if c := s.carrying(); c.n > 0 {
			few = few || c.blocks < minPairs
			r.Reasons = append(r.Reasons, t.name(s)+" "+c.words(p99Clause(s)))
		}
	}
	if len(carriers) == 0 {
		if len(r.Reasons) > 0 {
			r.Reasons = append(r.Reasons, t.holds())
		}
		switch {
		case w.best == nil:
			r.Sentence, r.Settle = g.nothing(t)
		case !offered:
			r.Sentence = "Cannot tell: no valid trial offered " + rate + "."
			r.Settle = []string{"a --load command that is told the {rate}, or procfit's own load"}
		case few:
			r.Sentence = fmt.Sprintf("Cannot tell: no value of GOMAXPROCS carried %s in the %d blocks that it takes to say so.", rate, minPairs)
			r.Settle = []string{fmt.Sprintf("--repeats %d or more", minPairs), "a lower --rate, more CPUs, or a higher --quota"}
		default:
			r.Sentence = fmt.Sprintf("Cannot tell: no value of GOMAXPROCS carries %s %s.", rate, t.where())
			r.Settle = []string{"a lower --rate, more CPUs, or a higher --quota"}
		}
		return r
	}
	x := carriers[0]
	r.Verdict = CarriesRate
	if better := w.betterCarrier(x, carriers); better != nil {
		c := w.p99(x.p99, better.p99)
		r.Reasons = append(r.Reasons, fmt.Sprintf("its p99 is %s than that of %s, at least %s (n %d)", shift(c.mid), t.name(better), percent(expm1(c.lower)), c.n))
	}
	r.Reasons = append(r.Reasons, t.holds())
	if x.isDefault {
		r.Arm = unsetLabel(x)
		r.Sentence = fmt.Sprintf("Leave GOMAXPROCS unset: the default chose %d, the smallest measured that carries %s%s %s.", x.procs, rate, p99Clause(x.asDefault()), t.where())
		return r
	}
	r.Arm, r.Procs = x.label, new(x.procs)
	r.Sentence = fmt.Sprintf("Set GOMAXPROCS=%d: the smallest measured that carries %s%s %s.", x.procs, rate, p99Clause(x), t.where())
	return r
}

func p99Clause(s *setting) string {
	if !s.hasP99() {
		return ""
	}
	return ", p99 " + seconds(s.tail)
}

// carriers are the settings that carried the rate, by procs; offered says whether
// any was offered it.
func (w *walk) carriers() (list []*setting, offered bool) {
	for _, s := range w.settings {
		c := s.carrying()
		offered = offered || c.n > 0
		if c.enough() && !s.saturated {
			list = append(list, s)
		}
	}
	return list, offered
}

// betterCarrier is the carrier of the lowest p99 that x is proven worse than.
func (w *walk) betterCarrier(x *setting, carriers []*setting) *setting {
	var best *setting
	for _, s := range carriers {
		if s.hasP99() && w.p99(x.p99, s.p99).worse && (best == nil || s.tail < best.tail) {
			best = s
		}
	}
	return best
}

// carrying is what a setting did with the offered rate. An open loop of a few
// seconds may keep up for as long as its queues have room, so what the setting
// reached in closed loop must come to the rate too.
type carrying struct {
	n      int      // trials
	blocks int      // that they are of
	share  float64  // of the rate, achieved in open loop: the median
	closed Interval // throughput in closed loop ÷ the rate; N is 0 where there was none
}

func (s *setting) carrying() carrying {
	var shares, closed []float64
	blocks := map[int]bool{}
	for _, a := range s.arms {
		for _, t := range a.measure {
			if !t.Valid {
				continue
			}
			var loop *float64
			for i := range t.Phases {
				switch p := &t.Phases[i]; {
				case p.Mode == journal.ModeClosed:
					loop = &p.AchievedPerSecond
				case p.Mode == journal.ModeOpen && p.RatePerSecond != nil && *p.RatePerSecond > 0:
					blocks[t.Block] = true
					shares = append(shares, p.AchievedPerSecond / *p.RatePerSecond)
					if loop != nil {
						closed = append(closed, *loop / *p.RatePerSecond)
					}
				}
			}
		}
	}
	if len(shares) == 0 {
		return carrying{}
	}
	return carrying{len(shares), len(blocks), medianFloat(shares), medianOf(closed)}
}

// capacity is the low end of the closed loop's interval, else its median.
func (c carrying) capacity() (x float64, of string) {
	switch {
	case c.closed.N == 0:
		return math.Inf(1), ""
	case c.closed.Low != nil:
		return *c.closed.Low, "low end of its interval"
	}
	return *c.closed.Median, "median"
}

func (c carrying) enough() bool {
	capacity, _ := c.capacity()
	return c.blocks >= minPairs && c.share >= carriedRatio && capacity >= 1
}

// words have what is known of the latency between the counts and what they lack.
func (c carrying) words(latency string) string {
	text := "carried " + share(c.share) + " of the rate"
	capacity, of := c.capacity()
	switch {
	case c.share < carriedRatio:
		text = "carried " + share(c.share) + ", below " + share(carriedRatio) + " of the rate"
	case capacity < 1:
		text += fmt.Sprintf(", but its closed loop reached only %s of it (%s)", share(capacity), of)
	}
	text += fmt.Sprintf(" (median, n %d)", c.n) + latency
	if c.blocks < minPairs {
		text += fmt.Sprintf("; it takes %d blocks to say so", minPairs)
	}
	return text
}

// share is a part of the rate, rounded down: 98.96 % is not 99 %.
func share(ratio float64) string {
	return strconv.FormatFloat(math.Floor(1000*ratio+1e-9)/10, 'f', -1, 64) + " %"
}
