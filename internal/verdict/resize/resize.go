// Package resize is the rehearsal of a resize: a server under load whose CPU limit
// changes, what it ran with after each step, and what did not follow.
//
// The measure is the program itself, started again under each of the limits: what a fresh
// start has and the resized program does not, was decided at the start. A value that is
// the same in every fresh start is fixed by something else.
package resize

import (
	"slices"
	"time"

	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Schema is the version of Rehearsal.
const Schema = "procfit.resize/v1"

// Rehearsal is what one showed.
type Rehearsal struct {
	Schema        string         `json:"schema"`
	Name          string         `json:"name"`
	Started       time.Time      `json:"started"`
	Spec          spec.Spec      `json:"spec"` // what was asked for
	Tool          journal.Tool   `json:"tool"`
	Host          journal.Host   `json:"host"`
	Target        journal.Target `json:"target"`
	Load          journal.Load   `json:"load"`
	Program       Program        `json:"program"`
	RatePerSecond float64        `json:"rate_per_second"` // offered in every step
	Fresh         []Fresh        `json:"fresh"`           // a start of its own under each limit
	Steps         []Step         `json:"steps"`
	Laggards      []Laggard      `json:"laggards"`             // empty: nothing was seen that did not follow
	Unfinished    string         `json:"unfinished,omitempty"` // why it ended before all was measured
	// PoolsUnjudged are the steps, by index, that carried less than a fresh start while other
	// programs used the CPUs, without a known CPU time of its own or of others, or in a rehearsal that is
	// not finished: whether a pool kept its size is not known of them.
	PoolsUnjudged []int `json:"pools_unjudged,omitempty"`
}

// Program is what is known of the program itself.
type Program struct {
	GoVersion    string `json:"go_version"`
	MainModule   string `json:"main_module"`
	EnvProcs     *int   `json:"env_procs"`              // GOMAXPROCS in its environment; null: none that counts
	Automaxprocs string `json:"automaxprocs,omitempty"` // the version of go.uber.org/automaxprocs in it
	// FollowsLimits is whether its Go runtime reads its CPU limit, if nothing else sets the
	// value.
	FollowsLimits bool `json:"follows_limits"`
	RuntimeProcs  int  `json:"runtime_procs"` // what its Go runtime chooses by itself under the first limit
	// Custom is whether its runtime says that the environment or code set the value; null:
	// not known, as before Go 1.25.
	Custom *bool `json:"custom"`
}

// Reading is what it ran with at a time.
type Reading struct {
	Procs int `json:"gomaxprocs"`
	// DefaultProcs is what the newest Go chooses under the limit, and FitProcs what
	// procfit recommends for it.
	DefaultProcs     int    `json:"default_gomaxprocs"`
	FitProcs         int    `json:"fit_gomaxprocs"`
	MemoryLimitBytes *int64 `json:"gomemlimit_bytes"` // null: not known, or none
	Threads          int    `json:"threads"`
}

// Load is what a stretch of load came to.
type Load struct {
	PerSecond      float64  `json:"per_second"` // answered well
	Requests       int64    `json:"requests"`
	Failed         int64    `json:"failed"`            // unanswered ones too
	Failing        string   `json:"failing,omitempty"` // why a share above --max-errors failed, so that nothing of it is compared; empty: it did not
	P50Seconds     *float64 `json:"p50_seconds"`
	P99Seconds     *float64 `json:"p99_seconds"`
	CPUs           *float64 `json:"cpus"`            // that the program used on average
	ThrottledRatio *float64 `json:"throttled_ratio"` // of the periods of its limit
	OtherCPUs      *float64 `json:"other_cpus"`      // that other programs used on its CPUs
}

// Fresh is a start under a limit that does not change.
type Fresh struct {
	LimitCPUs float64 `json:"limit_cpus"`
	Reading
	Most *Load `json:"most"` // what it carried in a closed loop
}

// Step is a limit while it held.
type Step struct {
	AtSeconds float64 `json:"at_seconds"`
	Seconds   float64 `json:"seconds"`
	LimitCPUs float64 `json:"limit_cpus"`
	Reading           // at its end
	// FollowedSeconds is when GOMAXPROCS changed for the last time, after the limit did;
	// null: it did not change.
	FollowedSeconds *float64 `json:"followed_seconds"`
	Paced           *Load    `json:"paced"` // at the rate, from the change of the limit on
	Most            *Load    `json:"most"`  // in a closed loop, at the end of the step
	Restarts        int      `json:"restarts"`
	Ended           string   `json:"ended,omitempty"` // why the program ended in it
}

// Code is why something did not follow.
type Code string

const (
	Environment Code = "environment" // GOMAXPROCS in the environment
	Fixed       Code = "fixed"       // by code, to one value
	AtStart     Code = "at_start"    // by code or a library, from the limit at the start
	OldGo       Code = "old_go"      // a Go, or a go line, that does not read limits
	Failing     Code = "failing"     // its requests fail, which a fresh start answers
	Pool        Code = "pool"        // fewer workers than a fresh start has
	Slow        Code = "slow"        // it followed, but late
	Killed      Code = "killed"      // the program ended
	Restarted   Code = "restarted"   // its process was replaced
)

// Laggard is one thing that did not follow, at the first step that shows it.
type Laggard struct {
	Code Code `json:"code"`
	Step int  `json:"step"` // its index
}

// SlowAfter is how long a busy program may take to follow: Go's runtime takes about a
// second.
const SlowAfter = 5 * time.Second

const (
	// poolShare is how much of a fresh start's throughput is still the same.
	poolShare = 0.75
	// spareShare is how much of its CPUs a program uses at most that has some left.
	spareShare = 0.8
	// leanShare is how much of a fresh start's CPU time it uses at most: with the same CPU
	// time and fewer answers, something slowed the machine down.
	leanShare = 0.85
	// busyShare is how much of a CPU others may use on a machine that tells of pools.
	busyShare = 0.5
)

// Judge finds what did not follow.
func (r *Rehearsal) Judge() {
	r.Laggards, r.PoolsUnjudged = []Laggard{}, nil
	for i, s := range r.Steps {
		if s.Ended != "" {
			r.add(Killed, i)
			continue
		}
		if s.Restarts > 0 {
			r.add(Restarted, i)
		}
		if code := r.procs(i); code != "" {
			r.add(code, i)
		}
		if i > 0 && s.FollowedSeconds != nil && *s.FollowedSeconds > SlowAfter.Seconds() {
			r.add(Slow, i)
		}
		if s.Fails() != "" {
			r.add(Failing, i)
			continue
		}
		if i == 0 {
			continue
		}
		switch pooled, known := r.pooled(s, r.FreshAt(s.LimitCPUs)); {
		case !known, pooled && r.Unfinished != "": // the fresh start may have been lucky
			r.PoolsUnjudged = append(r.PoolsUnjudged, i)
		case pooled:
			r.add(Pool, i)
		}
	}
}

// Fails is why its requests failed; empty: they did not.
func (s Step) Fails() string {
	for _, l := range []*Load{s.Paced, s.Most} {
		if l != nil && l.Failing != "" {
			return l.Failing
		}
	}
	return ""
}

// add keeps of each code the first step.
func (r *Rehearsal) add(code Code, step int) {
	if slices.ContainsFunc(r.Laggards, func(l Laggard) bool { return l.Code == code }) {
		return
	}
	r.Laggards = append(r.Laggards, Laggard{code, step})
}

// FreshAt is the fresh start under a limit.
func (r *Rehearsal) FreshAt(limit float64) Fresh {
	for _, f := range r.Fresh {
		if f.LimitCPUs == limit {
			return f
		}
	}
	return Fresh{LimitCPUs: limit}
}

// procs is why the GOMAXPROCS of a step is not that of its limit; empty: it is.
func (r *Rehearsal) procs(i int) Code {
	s := r.Steps[i]
	fresh := r.FreshAt(s.LimitCPUs)
	switch {
	case s.Procs == s.DefaultProcs, s.Procs == s.FitProcs:
		return ""
	case s.Procs != fresh.Procs && fresh.Procs > 0:
		switch custom := r.Program.Custom; {
		case i == 0:
			return "" // it had just started: the two starts differ
		case custom != nil && !*custom:
			return Slow
		}
		return AtStart
	case !r.constant():
		return "" // its own rule, which follows
	case r.Program.EnvProcs != nil && s.Procs == *r.Program.EnvProcs:
		return Environment
	case !r.Program.FollowsLimits && s.Procs == r.Program.RuntimeProcs:
		return OldGo
	}
	return Fixed
}

func (r *Rehearsal) constant() bool {
	return !slices.ContainsFunc(r.Fresh, func(f Fresh) bool { return f.Procs != r.Fresh[0].Procs })
}

// pooled reports whether the resized program carried less than a fresh start under the
// same limit, with the same GOMAXPROCS and with CPU time left; not known: fewer workers and
// less CPU time have the same effect.
func (r *Rehearsal) pooled(s Step, fresh Fresh) (pooled, known bool) {
	a, b, own := s.Most, fresh.Most, min(s.LimitCPUs, float64(s.Procs))
	switch {
	case a == nil || b == nil || a.Failing+b.Failing != "" || s.Procs != fresh.Procs || a.PerSecond >= poolShare*b.PerSecond:
		return false, true
	case a.CPUs == nil:
		return false, false
	case b.CPUs != nil && *a.CPUs >= leanShare**b.CPUs, *a.CPUs >= spareShare*own:
		return false, true
	case a.OtherCPUs == nil:
		return false, false
	}
	more := b.OtherCPUs != nil && *a.OtherCPUs > *b.OtherCPUs+busyShare
	less := *a.OtherCPUs+own > r.Host.EffectiveCPUs+busyShare // together with others it had less than its CPUs
	return !more && !less, !more && !less
}

// Doubtful are the limits under which the resized program carried less than a fresh
// start, each once. Another fresh start tells whether that one was lucky.
func (r *Rehearsal) Doubtful() (limits []float64) {
	for i, s := range r.Steps {
		if pooled, _ := r.pooled(s, r.FreshAt(s.LimitCPUs)); i > 0 && s.Ended == "" && pooled && !slices.Contains(limits, s.LimitCPUs) {
			limits = append(limits, s.LimitCPUs)
		}
	}
	return limits
}

// Again takes another fresh start. Of two under the same limit, the one that carried less
// counts.
func (r *Rehearsal) Again(f Fresh) {
	i := slices.IndexFunc(r.Fresh, func(have Fresh) bool { return have.LimitCPUs == f.LimitCPUs })
	switch {
	case i < 0:
		r.Fresh = append(r.Fresh, f)
	case f.Most != nil && f.Most.PerSecond < r.Fresh[i].Most.PerSecond:
		r.Fresh[i] = f
	}
}
