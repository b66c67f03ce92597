package race

import "math"

// Trial is one value measured once.
type Trial struct {
	Value      int     // GOMAXPROCS as a number: unset counts at what it resolved to
	Unset      bool    // it ran as the unset setting
	Block      int     // trials of one block ran close in time
	Start      int     // of the program that slices are of: of another the speed is another; 0 where each trial has its own
	Throughput float64 // higher is better; 0: none
	P99        float64 // seconds, of the quantile that is judged; 0: not to be judged
	Saturated  bool    // it did not carry the offered rate
	Unmet      bool    // no rate met the objective: it carries less than its throughput
	Failed     bool    // invalid: it carries no figures
}

// Figure is what two values are compared by.
type Figure string

const (
	Throughput Figure = "throughput"
	P99        Figure = "p99"
)

// log is the trial's figure, ready for a model in which effects multiply.
func (t Trial) log(by Figure) (float64, bool) {
	x := t.Throughput
	if by == P99 {
		x = t.P99
		if t.Saturated { // what it queued is the length of the trial and not its latency
			return 0, false
		}
	}
	if t.Failed || !(x > 0) || math.IsInf(x, 0) {
		return 0, false
	}
	return math.Log(x), true
}

// samplesOf are the trials that have the figure, under the name that key gives each.
func samplesOf(trials []Trial, by Figure, key func(Trial) int) []sample {
	var out []sample
	for _, t := range trials {
		if y, ok := t.log(by); ok {
			out = append(out, sample{setting: key(t), block: t.Block, start: t.Start, y: y})
		}
	}
	return out
}

func byValue(t Trial) int { return t.Value }

// byCopy tells the unset copies of the default from those of its number.
func byCopy(t Trial) int {
	if t.Unset {
		return -t.Value
	}
	return t.Value
}

// How far a trial may stray, as a coefficient of variation, for anything less than a
// proof to be reported.
const (
	WildThroughput = 0.15
	WildLatency    = 0.75
)

// Stray is how far a figure strays from trial to trial of one value.
type Stray struct {
	CV    float64 // coefficient of variation
	DF    int     // trials that it comes from, less the values
	Apart bool    // two values are distinguished by it all the same
}

// StrayOf measures one figure of the trials. It knows nothing of before.
func StrayOf(trials []Trial, by Figure) Stray {
	f := newFit(samplesOf(trials, by, byValue), priorOf(by))
	if f == nil {
		return Stray{}
	}
	s := Stray{CV: cv(f.sigma)}
	for _, n := range f.count {
		s.DF += n - 1
	}
	for i, a := range f.settings {
		for _, b := range f.settings[:i] {
			d, se := f.difference(a, b)
			s.Apart = s.Apart || math.Abs(d) > f.quantile(outLevel)*se
		}
	}
	return s
}
