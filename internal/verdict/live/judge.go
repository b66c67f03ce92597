package live

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/eprocess"
)

// alpha is how likely it is that anything is claimed of values that do not differ, at all
// looks together. All values and their figures share it.
const alpha = 0.05

// A value that is left for harm in leftTwice of its latest visits is out. Once may be
// chance, and in half an hour so may be twice: bursts of the traffic come to every value.
const (
	leftTwice = 2
	visits    = 3
)

// Judge says what the slices prove. It may be asked after every block.
func Judge(r Rules, list []Slice) Look {
	p := newProof(r)
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to].Block == list[from].Block {
			to++
		}
		p.add(list[from:to])
		from = to
	}
	return p.look()
}

// proof is what the blocks so far come to.
type proof struct {
	Rules
	values []value
	level  float64
	carry  carry
}

// value is one that is compared with the start value.
type value struct {
	figures []*figure
	failed  eprocess.Signs // of the failed requests' share
	left    []bool         // in its latest visits
	out     bool
}

func newProof(r Rules) *proof {
	p := &proof{Rules: r, values: make([]value, len(r.Values)), level: r.level(), carry: newCarry(r)}
	for i := range p.values {
		p.values[i].figures = r.figures()
	}
	return p
}

// level is the error of one claim in one direction. Of each value it may be claimed that a
// figure is less, or that it is more, and that more requests fail. A query has two ways to be
// proven: by its ratios, and where it is mostly 0 by its differences.
func (r Rules) level() float64 {
	judged := len(r.Queries)
	for _, f := range r.figures() {
		if f.judged {
			judged++
		}
	}
	return alpha / float64(max(1, len(r.Values))*(2*judged+1))
}

// add takes a block.
func (p *proof) add(block []Slice) {
	start := slices.IndexFunc(block, func(s Slice) bool { return s.Value == 0 && s.Void == "" })
	p.carry.add(block)
	loaded := slices.ContainsFunc(block, func(s Slice) bool { return s.Value == 0 && s.Void == voidLoaded })
	for i := range block {
		s := &block[i]
		if s.Value < 1 || s.Value > len(p.values) {
			continue
		}
		v := &p.values[s.Value-1]
		if s.Void != voidLeft || !loaded { // a slice that carry-over made void was not left
			v.visited(s.Void == voidLeft)
		}
		if s.Void == "" && start >= 0 {
			v.add(s, &block[start])
		}
	}
}

func (v *value) visited(left bool) {
	v.left = append(v.left, left)
	v.left = v.left[max(0, len(v.left)-visits):]
	n := 0
	for _, left := range v.left {
		if left {
			n++
		}
	}
	v.out = v.out || n >= leftTwice
}

func (v *value) add(s, start *Slice) {
	for _, f := range v.figures {
		f.add(f.of(s), f.of(start))
	}
	// Shares are often 0, which has no logarithm. The signs are the same.
	if d := share(s.Failed, s.Requests) - share(start.Failed, start.Requests); !math.IsNaN(d) {
		v.failed.Add(d)
	}
}

func (p *proof) look() Look {
	l := Look{Carried: p.carry.proven()}
	for i := range p.values {
		l.Values = append(l.Values, p.judged(i))
	}
	return l
}

func (p *proof) judged(i int) judged {
	v, level := &p.values[i], p.level
	j := judged{Procs: p.Values[i], Failing: v.failed.IsAbove(level)}
	for _, f := range v.figures {
		b := f.bound(level)
		if p.carry.hides(f.name, math.Log(b.Ratio)) {
			b.disclaim()
		}
		// CPU is the figure that every slice has.
		if f.judged && 2*f.pairs < len(v.figures[0].d) {
			b.Outcome, b.Same = f.lacking, false
		}
		if f.name == figureRequests {
			j.Unequal = f.beyond(level)
		}
		j.Bounds = append(j.Bounds, b)
	}
	j.Outcome = v.outcome(j)
	j.Out = j.Outcome == Worse || j.Outcome == Left
	return j
}

// outcome is what the bounds come to. CPU time alone never makes a value better: fewer Ps
// are cheaper nearly always, and it is the wait that they may cost.
func (v *value) outcome(j judged) Outcome {
	is := func(o verdict.Outcome) bool {
		return slices.ContainsFunc(j.Bounds, func(b bound) bool { return b.Outcome == o })
	}
	waits, same := false, true
	for _, b := range j.Bounds {
		judged := b.Outcome != verdict.OutcomeNotJudged
		waits = waits || judged && b.Figure != FigureCPU
		same = same && (b.Same || !judged)
	}
	better, worse := is(verdict.OutcomeBetter), is(verdict.OutcomeWorse)
	switch {
	case v.out:
		return Left
	case j.Failing:
		return Worse
	case j.Unequal:
		return Open
	case better && worse:
		return Mixed
	case worse:
		return Worse
	case better && waits && !is(verdict.OutcomeOpen):
		return Better
	case j.Bounds[0].Outcome == verdict.OutcomeBetter:
		return Cheaper
	case same:
		return Same
	}
	return Open
}
