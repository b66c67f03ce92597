// Package slo is a service level objective for latency, the highest rate at which a
// program meets it, and what a setting costs.
//
// # Model
//
// An [Objective] bounds one quantile of the latency: p99=20ms. A [Search] offers
// rates, each in an open loop of its own, and narrows the range between the highest
// rate that met the objective and the lowest that did not. The capacity is where
// the latency crosses the bound between those two, its logarithm taken as straight
// in the logarithm of the rate.
//
// # Limits
//
//   - Each rate is tried once in a trial: how far one may stray shows in the trials'
//     spread, not here.
//   - Latency is taken to rise with the rate. A program that answers later at a low
//     rate, as its CPUs sleep, is searched from above and answers for the higher one.
package slo

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Objective is that a quantile of the latency, counted from the intended send, is
// at most N seconds.
type Objective struct {
	Quantile float64 `json:"quantile"` // 0 to 1: 0.99
	Seconds  float64 `json:"seconds"`
}

// Parse reads "p99=20ms": a percentile, whose digits after the second are fractions
// from p90 on (p999 is 99.9%, p99.9 too), and a duration. The error says what is wrong.
func Parse(s string) (Objective, error) {
	const form = "expected a percentile and its highest latency, for example p99=20ms"
	name, limit, ok := strings.Cut(strings.TrimSpace(s), "=")
	if !ok {
		return Objective{}, fmt.Errorf("%q: %s", s, form)
	}
	quantile, err := parsePercentile(strings.TrimSpace(name))
	if err != nil {
		return Objective{}, fmt.Errorf("%q: %w, for example p99=20ms", s, err)
	}
	limit = strings.TrimSpace(limit)
	if _, bare := strconv.ParseFloat(limit, 64); bare == nil {
		return Objective{}, fmt.Errorf("%q: add a unit, for example %s=%sms", s, strings.TrimSpace(name), limit)
	}
	d, err := time.ParseDuration(limit)
	if err != nil || d <= 0 {
		return Objective{}, fmt.Errorf("%q: %q is not a duration above zero: %s", s, limit, form)
	}
	return Objective{Quantile: quantile, Seconds: d.Seconds()}, nil
}

func parsePercentile(name string) (float64, error) {
	digits, ok := strings.CutPrefix(name, "p")
	whole, fraction, point := strings.Cut(digits, ".")
	if !point && len(digits) > 2 && digits[0] == '9' {
		whole, fraction = digits[:2], digits[2:]
	}
	for _, c := range whole + fraction {
		ok = ok && '0' <= c && c <= '9'
	}
	percent, err := strconv.ParseFloat(whole+"."+fraction, 64)
	if !ok || err != nil || whole == "" || percent <= 0 || percent > 99.99 {
		return 0, fmt.Errorf("%q is not a percentile: write p50, p99 or p999 and its highest latency", name)
	}
	return percent / 100, nil
}

// Name is the percentile's: p99, p99.9.
func (o Objective) Name() string {
	return "p" + strconv.FormatFloat(math.Round(o.Quantile*1e6)/1e4, 'f', -1, 64)
}

// String is the objective as Parse reads it.
func (o Objective) String() string {
	return o.Name() + "=" + time.Duration(math.Round(o.Seconds*1e9)).String()
}

// Probe is what one open loop came to.
type Probe struct {
	RatePerSecond float64
	Seconds       float64 // latency at the objective's quantile; 0: no request was answered
	Carried       bool    // the rate was kept up, and no more requests failed than may
}

// Meets reports whether the objective was met at the probe's rate.
func (o Objective) Meets(p Probe) bool {
	return p.Carried && p.Seconds > 0 && p.Seconds <= o.Seconds
}

// Search looks for the highest rate that meets the objective.
type Search struct {
	Objective
	Ceiling float64 // rate a second beyond which nothing is carried: what the closed loop reached
	Floor   float64 // rate a second below which a probe offers no request
	Probes  int     // at most
}

const (
	firstShare = 0.7 // of the ceiling: the first rate
	growth     = 1.3 // of the rate as long as each met the objective
	near       = 1.03
	lowest     = 1.0 / 256 // of the ceiling: where nothing below is tried
)

// Next is the rate to offer after these probes; false when the search is over.
func (s Search) Next(done []Probe) (rate float64, more bool) {
	met, missed := s.bounds(done)
	switch {
	case !(s.Ceiling > 0) || math.IsInf(s.Ceiling, 1) || len(done) >= s.Probes:
		return 0, false
	case len(done) == 0:
		return firstShare * s.Ceiling, true
	case missed == nil:
		rate = math.Min(s.Ceiling, growth*met.RatePerSecond)
		return rate, rate > met.RatePerSecond
	case met == nil:
		rate = missed.RatePerSecond / 2
		return rate, rate >= max(lowest*s.Ceiling, s.Floor)
	}
	return math.Sqrt(met.RatePerSecond * missed.RatePerSecond), missed.RatePerSecond > near*met.RatePerSecond
}

// bounds are the highest rate that met the objective and the lowest that did not.
func (s Search) bounds(done []Probe) (met, missed *Probe) {
	for i := range done {
		switch p := &done[i]; {
		case s.Meets(*p):
			if met == nil || p.RatePerSecond > met.RatePerSecond {
				met = p
			}
		case missed == nil || p.RatePerSecond < missed.RatePerSecond:
			missed = p
		}
	}
	return met, missed
}

// Capacity is the highest rate that meets the objective, by these probes; false
// when none did.
func (s Search) Capacity(done []Probe) (perSecond float64, met bool) {
	lo, hi := s.bounds(done)
	if lo == nil {
		return 0, false
	}
	if hi == nil || hi.RatePerSecond <= lo.RatePerSecond || hi.Seconds <= s.Seconds {
		return lo.RatePerSecond, true // nothing above missed it by its latency
	}
	share := math.Log(s.Seconds/lo.Seconds) / math.Log(hi.Seconds/lo.Seconds)
	return lo.RatePerSecond * math.Pow(hi.RatePerSecond/lo.RatePerSecond, share), true
}
