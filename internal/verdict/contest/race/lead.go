package race

import "math"

// Lead is which value is best after some trials, and what is proven.
type Lead struct {
	Pick        int     // the smallest value as good as any; 0: undecided
	Confidence  Goal    // of the pick; empty without one
	Probability float64 // that the pick is right, by the pooled model
	Default     Goal    // how sure it is that the default is as good as any; empty: that is open, or there is none
	Peak        int     // the highest throughput; 0 without figures
	Equal       []int   // proven to lose no more than the margin to the peak, which is among them
	BestP99     int     // the shortest p99 among values that are not out; 0: none
	Trade       int     // a value that is out whose p99 is proven better than the pick's by more than its throughput is worse; 0: none
	Levels      []Level // of each value that was tried, ascending
	Open        []Comparison
	Spread      Spread
	Copies      Copies
	Model       *Model
}

// Interval is an estimate with its two-sided interval at 95%. Zeros: none,
// and no bounds below three trials.
type Interval struct{ Mean, Low, High float64 }

// Level is what is known of one value.
type Level struct {
	Value  int
	Trials int // that carry figures
	Failed int

	Throughput, P99 Interval // at the average block
	Out             bool     // proven worse than the peak by more than the margin, or hopeless
	Saturated       bool     // proven: it does not carry the offered rate
	AsFast          bool     // proven no worse than each rival in throughput
	AsPrompt        bool     // and in p99
	Slower          bool     // proven worse than the peak by more than the margin, all values considered at once
	Later           bool     // and its p99 than the best
}

// Comparison is one that is not decided: is A as good as B?
type Comparison struct {
	A, B             int
	By               Figure
	Ratio, Low, High float64 // of A to B, the two-sided interval at 95%
	Trials           int     // that would decide it as things look, of both values together; 0: more than can be asked
}

// Spread is how much a trial strays about its value and block, as a coefficient of
// variation: the noise floor. DF is how many degrees of freedom it comes from.
type Spread struct {
	Throughput, P99 float64
	DF              float64
}

// Copies is the default as unset against its number, which are one setting.
type Copies struct {
	Ratio, Low, High float64 // of throughput; zeros: no two of each
	Apart            bool    // proven to differ: then nothing is what it seems
}

// Lead is which value is best so far, and what is proven.
func (s *Race) Lead() Lead {
	a := Lead{Model: s.model, Peak: s.top, Copies: copiesOf(s.rules, s.trials)}
	if s.top == 0 {
		a.Levels = s.levels(0)
		return a
	}
	a.Pick = s.final()
	if a.Copies.Apart {
		a.Pick = 0
	}
	if c := s.chance[a.Pick]; a.Pick != 0 {
		a.Confidence, a.Probability = Likely, 1-c.wrong()
		if c.proven() {
			a.Confidence = Proven
		}
	}
	f := s.model.throughput
	a.Spread = Spread{Throughput: cv(f.sigma), DF: f.df}
	if s.model.p99 != nil {
		a.Spread.P99 = cv(s.model.p99.sigma)
	}
	for _, n := range s.values {
		if n == s.top || s.model.asGood(n, s.top, Throughput, s.rules.margin(Throughput)) {
			a.Equal = append(a.Equal, n)
		}
	}
	a.BestP99 = s.shortest()
	a.Default = s.ofDefault()
	a.Levels = s.levels(a.BestP99)
	a.Open = s.open(a)
	a.Trade = s.trade(a.Pick)
	return a
}

// likelier is how much smaller a likely value must be to be named before a proven one.
const likelier = 0.8

// final is the value that is named if nothing more is measured.
func (s *Race) final() int {
	if s.rules.Goal == Likely || s.proven == 0 || s.likely != 0 && float64(s.likely) < likelier*float64(s.proven) {
		return s.likely
	}
	return s.proven
}

// cv is a standard deviation of logarithms as a coefficient of variation, kept within
// what a number holds.
func cv(sd float64) float64 { return math.Sqrt(math.Expm1(min(sd*sd, 700))) }

// shortest is the value of the shortest p99 that is not out, with half a standard
// error for luck.
func (s *Race) shortest() int {
	best, least := 0, math.Inf(1)
	for _, n := range s.rivals {
		if !s.byLatency(n) {
			continue
		}
		if mean, se := s.model.p99.level(n); mean+se/2 < least {
			best, least = n, mean+se/2
		}
	}
	return best
}

// That unset and its number differ, when the program runs with the same value, is asked
// after each block, of trials that are hardly ever of one block, on machines that drift:
// a real sweep of two equal ones had a difference of 14% after three trials each, at
// 99.5%. The rare program that reads the variable itself differs by more.
const copiesLevel = 0.9999

// copiesOf compares the default as unset with its number.
func copiesOf(r Rules, trials []Trial) Copies {
	unset, number := 0, 0
	for _, t := range trials {
		if t.Value == r.Default && t.Unset {
			unset++
		} else if t.Value == r.Default {
			number++
		}
	}
	if unset < 2 || number < 2 {
		return Copies{}
	}
	f := newFit(samplesOf(trials, Throughput, byCopy), priorOf(Throughput))
	if r.Default == 0 || f.trials(r.Default) < 2 || f.trials(-r.Default) < 2 {
		return Copies{}
	}
	d, se := f.difference(-r.Default, r.Default)
	wide := f.quantile((1+confidence)/2) * se
	apart := math.Abs(d) > f.quantile(1-(1-copiesLevel)/2)*se && f.trials(r.Default) >= Enough && f.trials(-r.Default) >= Enough
	return Copies{Ratio: math.Exp(d), Low: math.Exp(d - wide), High: math.Exp(d + wide), Apart: apart}
}
