package race_test

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
)

// pilots are the trials that a sweep takes before its race.
const pilots = 2

// Tally counts how races ended.
type Tally struct {
	Trials      []int // of each run, pilots counted
	Cannot      int   // runs that named nothing
	Slow, Late  int   // that named a value wrong by throughput, by p99
	Wrong       int   // by either
	Harmful     int   // that loses more than a tenth of the throughput, or 40 % of p99
	Exact       int   // that named the smallest good value
	Excess      int   // sum of Ps above it
	Proven      int
	ProvenWrong int
	Claims      int // in which some difference beyond a margin was called proven that is none
	Throughput  coverage
	P99         coverage
	Kept, Back  int // sums over the runs
}

// coverage counts intervals at 95% of the ratio of two values.
type coverage struct {
	Intervals, Held int
	Width           float64 // sum of the logarithms of high over low
}

// Share of the intervals that hold the truth.
func (c coverage) Share() float64 { return float64(c.Held) / float64(max(1, c.Intervals)) }

// Mean width, as a ratio less one.
func (c coverage) Mean() float64 { return math.Expm1(c.Width / float64(max(1, c.Intervals))) }

// Runs that were counted.
func (t Tally) Runs() int { return len(t.Trials) }

// MeanTrials of a run.
func (t Tally) MeanTrials() float64 {
	total := 0
	for _, n := range t.Trials {
		total += n
	}
	return float64(total) / float64(max(1, len(t.Trials)))
}

// MostTrials is the 95th percentile.
func (t Tally) MostTrials() int {
	x := slices.Sorted(slices.Values(t.Trials))
	return x[len(x)*95/100]
}

// MeanExcess is the Ps above the smallest good value, where a value was named.
func (t Tally) MeanExcess() float64 { return float64(t.Excess) / float64(max(1, t.Runs()-t.Cannot)) }

func (t *Tally) count(run Run) {
	t.Trials = append(t.Trials, len(run.Trials)+pilots)
	t.Kept += run.Kept
	t.Back += one(run.Back)
	a, truth := run.Lead, run.Curve.truth()
	t.cover(run)
	t.Claims += one(claims(run))
	if a.Pick == 0 {
		t.Cannot++
		return
	}
	slow, late := truth.wrong(run.Curve, a.Pick)
	t.Slow += one(slow)
	t.Late += one(late)
	t.Wrong += one(slow || late)
	t.Harmful += one(truth.Harmful(run.Curve, a.Pick))
	t.Exact += one(a.Pick == truth.Smallest)
	t.Excess += a.Pick - truth.Smallest
	t.Proven += one(a.Confidence == race.Proven)
	t.ProvenWrong += one(a.Confidence == race.Proven && (slow || late))
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// claims reports whether a difference is called proven that is not there.
func claims(run Run) bool {
	a := run.Lead
	for _, l := range a.Levels {
		if l.Slower && run.Curve.Throughput[l.Value] > run.Curve.Throughput[a.Peak]-marginT-hair ||
			l.Later && run.Curve.P99[l.Value] < run.Curve.P99[a.BestP99]+marginP+hair {
			return true
		}
	}
	return false
}

// fewest trials of both values of an interval that is counted: below, none is shown.
const fewest = 3

// cover compares the intervals of what was named, or of the peak, against every other
// value with the truth.
func (t *Tally) cover(run Run) {
	a := run.Lead
	from := a.Pick
	if from == 0 {
		from = a.Peak
	}
	for _, l := range a.Levels {
		t.Throughput.add(a.Model, from, l.Value, race.Throughput, run.Curve.Throughput)
		t.P99.add(a.Model, from, l.Value, race.P99, run.Curve.P99)
	}
}

func (c *coverage) add(m *race.Model, a, b int, by race.Figure, truth []float64) {
	if a == b || min(m.Trials(a, by), m.Trials(b, by)) < fewest {
		return
	}
	_, low, high := m.Interval(a, b, by)
	want := math.Exp(truth[a] - truth[b])
	c.Intervals++
	c.Held += one(low <= want && want <= high)
	c.Width += math.Log(high / low)
}

// Add counts the other's runs too.
func (t *Tally) Add(x Tally) {
	t.Trials = append(t.Trials, x.Trials...)
	t.Kept += x.Kept
	t.Back += x.Back
	t.Cannot += x.Cannot
	t.Slow += x.Slow
	t.Late += x.Late
	t.Wrong += x.Wrong
	t.Harmful += x.Harmful
	t.Exact += x.Exact
	t.Excess += x.Excess
	t.Proven += x.Proven
	t.ProvenWrong += x.ProvenWrong
	t.Claims += x.Claims
	for to, from := range map[*coverage]coverage{&t.Throughput: x.Throughput, &t.P99: x.P99} {
		to.Intervals += from.Intervals
		to.Held += from.Held
		to.Width += from.Width
	}
}
