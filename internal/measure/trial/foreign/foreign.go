// Package foreign reads what load generators print: wrk, wrk2, hey, vegeta, k6, and
// procfit load itself when it runs elsewhere. Of others the user names the numbers, with
// --metric.
//
// # Model
//
// A generator is recognized by its output, so that it may run behind ssh or a script;
// a word of the command that names it only tells whose output could not be read. Of
// its figures a Report has those that it printed, in seconds, and the Clock: what its
// latency counts from. That decides whether the latency may be judged. A server that
// stalls for a second makes a blocking generator send nothing for a second: of
// thousands of late requests it counts as many as it has connections.
//
// # Limits
//
// Only a summary is read: percentiles of several replicas or generators are not
// joined. The formats are those of the versions in testdata, each from a run of its
// own, but for wrk2's, which is from its project's documentation.
package foreign

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// generator is a load generator whose output is known.
type generator string

const (
	unknown generator = "" // figures come from metrics alone
	wrk     generator = "wrk"
	wrk2    generator = "wrk2"
	hey     generator = "hey"
	vegeta  generator = "vegeta"
	k6      generator = "k6"
	procfit generator = "procfit"
)

// Clock is what a generator's latency counts from.
type Clock string

const (
	ClockUnknown  Clock = ""
	ClockIntended Clock = "intended" // the moment at which a request was due
	// ClockPaced is the actual send, which comes when it is due whatever still waits,
	// as connections or workers are added without bound. A request waits for no other.
	ClockPaced Clock = "paced"
	// ClockSend is the actual send, which waits for a free connection or worker: a
	// stall of the server keeps from being sent what it would have made late.
	ClockSend Clock = "send"
)

// Judged reports whether a latency by this clock may be compared. The user vouches for
// the latency of an unknown generator.
func (c Clock) Judged() bool { return c != ClockSend }

// Figures are what was printed, by its name; what was not printed is not there. Times are in
// seconds. Requests are those that were answered, whatever the status, errors the bad statuses
// and what was not answered, and throughput is answers per second.
type Figures map[string]float64

// reserved are the names of figures that a metric can have.
var reserved = []string{"requests", "errors", "throughput", "p50", "p75", "p90", "p99", "max", "mean"}

// Get is a figure; nil: it was not printed.
func (f Figures) Get(name string) *float64 {
	if v, ok := f[name]; ok {
		return &v
	}
	return nil
}

// Fill takes the metrics with reserved names as figures, and returns the others. A time is in seconds.
func (f Figures) Fill(found map[string]load.Value) map[string]load.Value {
	rest := map[string]load.Value{}
	for name, value := range found {
		if slices.Contains(reserved, name) {
			f[name] = value.Value
		} else {
			rest[name] = value
		}
	}
	return rest
}

// Schema is the version of Offered.
const Schema = "procfit.load/v1"

// Offered is what procfit load --json prints: one phase, and what offering it cost.
type Offered struct {
	Schema string `json:"schema"`
	journal.Phase
	Load journal.LoadCost `json:"load"`
}

// Report is what a generator printed about a run.
type Report struct {
	Generator generator
	Clock     Clock
	Figures
	Offered *Offered // of procfit load --json, in place of figures
}

// Names lists the generators for help texts.
func Names() string {
	names := append(phrase.Each(formats, func(f format) string { return string(f.name) }), string(procfit))
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// Read reads what a command printed. It finds nothing in the output of an unknown
// generator; other output than expected from a known one is an error.
func Read(argv []string, printed load.Output) (*Report, error) {
	o := newOutput(printed)
	switch ours := o.with("mode", "achieved_per_second", "latency_seconds", "load"); len(ours) {
	case 0:
	case 1:
		return readOurs(ours[0])
	default:
		return nil, manySummaries(procfit)
	}
	for _, f := range formats {
		text := f.find(o)
		if text == "" {
			continue
		}
		figures, repeated := f.read(text)
		if repeated {
			return nil, manySummaries(f.name)
		}
		if figures.Get("requests") == nil || figures.Get("throughput") == nil {
			return nil, fmt.Errorf("the output of %s has no throughput or no number of requests; %s", f.name, load.QuoteEnd(o.printed))
		}
		r := &Report{Generator: f.name, Clock: f.clock, Figures: figures}
		if f.otherIf != nil && f.otherIf(strings.Join(argv, " "), o.text) {
			r.Clock = f.other
		}
		return r, nil
	}
	if name := named(argv); name != unknown {
		return nil, fmt.Errorf("procfit does not know the output format of %s; %s", name, load.QuoteEnd(o.printed))
	}
	return &Report{Figures: Figures{}}, nil
}

// manySummaries is the error of an output that has more than one summary: whether they follow
// one another or ran at the same time, and which of them counts, nothing tells.
func manySummaries(of generator) error {
	return fmt.Errorf("the command printed the summaries of several runs of %s, and procfit reads one: let only the run that counts print, for example sh -c 'warm-up >/dev/null; measured run'", of)
}

// named is the generator that a word of the command names, so that 'ssh box wrk …'
// and 'taskset -c 3 /usr/bin/hey …' count. A script that is called load, or procfit,
// may print what it likes.
func named(argv []string) generator {
	for _, word := range argv {
		name := generator(strings.TrimSuffix(path.Base(word), ".exe"))
		if slices.ContainsFunc(formats, func(f format) bool { return f.name == name }) {
			return name
		}
	}
	return unknown
}

// readOurs reads procfit load --json, which is a phase as a journal has it.
func readOurs(raw []byte) (*Report, error) {
	r := &Report{Generator: procfit, Clock: ClockSend, Figures: Figures{}, Offered: &Offered{}}
	if err := json.Unmarshal(raw, r.Offered); err != nil {
		return nil, fmt.Errorf("invalid JSON from procfit load: %w", err)
	}
	p := &r.Offered.Phase
	if p.Requests < 0 || p.Errors < 0 || p.Unanswered < 0 || p.AchievedPerSecond < 0 || p.DurationSeconds <= 0 {
		return nil, fmt.Errorf("the JSON of procfit load has numbers below 0: %d requests, %d errors, %g req/s in %g s", p.Requests, p.Errors, p.AchievedPerSecond, p.DurationSeconds)
	}
	if p.Mode == journal.ModeOpen && p.RatePerSecond != nil && *p.RatePerSecond > 0 {
		r.Clock = ClockIntended
	}
	if l := p.LatencySeconds; l != nil {
		for _, v := range []*float64{l.P50, l.P90, l.P99, l.P999, l.Max, l.Mean} {
			if v != nil && *v <= 0 {
				return nil, fmt.Errorf("the JSON of procfit load has a latency of %g s", *v)
			}
		}
	}
	return r, nil
}
