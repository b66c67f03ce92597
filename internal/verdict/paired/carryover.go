package paired

import (
	"math"

	"github.com/procfit/procfit/internal/verdict/eprocess"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// carryAlpha is how likely it is that carry-over is claimed where there is none. It costs
// time alone: the burn-in is doubled.
const carryAlpha = 0.02

// carry looks for what one value leaves behind in the slices after it: memory that grew,
// caches per P, connections. No random order removes it, but the blocks show it for nothing:
// a value's slices after a smaller value must be like its slices after a larger one, and the
// first half of a slice that follows a switch must be like its second.
type carry struct {
	level  float64
	traits []*trait
}

// trait is a metric in which it may show.
type trait struct {
	name     string
	at       int               // its place among the metrics
	values   map[int]*contrast // of their slices' first halves
	after    eprocess.Signs    // of a smaller value minus after a larger one
	up, down fading            // after switches upwards and downwards
}

func newCarry(r Rules) (c carry) {
	for i, m := range r.Metrics {
		if m.Halves {
			c.traits = append(c.traits, &trait{name: m.Name, at: i, values: map[int]*contrast{}})
		}
	}
	c.level = carryAlpha / float64(6*max(1, len(c.traits)))
	return c
}

func (t *trait) add(block []Slice) {
	after := 0.0
	for i := range block {
		s := &block[i]
		if !s.Counts() || s.After == 0 {
			continue
		}
		x, y := math.Log(s.Halves[0][t.at]), math.Log(s.Halves[1][t.at])
		if stat.Known(x-y) == nil {
			continue
		}
		if t.values[s.Value] == nil {
			t.values[s.Value] = &contrast{}
		}
		up := s.After > 0
		after += t.values[s.Value].add(up, x)
		if up {
			t.up.add(x - y)
		} else {
			t.down.add(x - y)
		}
	}
	// Read from the largest value to the smallest instead, each switch upwards is one
	// downwards, and that order is as likely.
	if after != 0 {
		t.after.Add(after)
	}
}

// fading is what the first halves have more than the second ones.
type fading struct {
	eprocess.Signs
	sum float64
	n   int
}

func (f *fading) add(d float64) {
	f.Signs.Add(d)
	f.sum, f.n = f.sum+d, f.n+1
}

func (f *fading) mean() float64 { return f.sum / float64(max(1, f.n)) }

// hidden is how many times what fades within slices a difference must be. What fades is
// known less well than the difference, and once as much let 1 of 8 experiments claim what
// was carry-over alone.
const hidden = 1.5

// hides reports that a difference may be what earlier values left behind, since slices
// change by about as much from their first half to their second.
func (c *carry) hides(metric string, difference float64) bool {
	for _, t := range c.traits {
		if (t.name == FigureCPU) == (metric == FigureCPU) { // the others have no halves
			return math.Abs(difference) < hidden*max(math.Abs(t.up.mean()), math.Abs(t.down.mean()))
		}
	}
	return false
}

func (c *carry) proven() bool {
	for _, t := range c.traits {
		for _, s := range []*eprocess.Signs{&t.after, &t.up.Signs, &t.down.Signs} {
			if s.IsAbove(c.level) || s.IsBelow(c.level) {
				return true
			}
		}
	}
	return false
}

// contrast compares what follows a switch upwards with what follows one downwards.
type contrast struct{ up, down []float64 }

// recent is how many of each are remembered: the level of the traffic changes.
const recent = 4

// add returns how far x lies on the side on which it would lie if switches upwards made it
// greater.
func (c *contrast) add(up bool, x float64) (d float64) {
	if len(c.up) > 0 && len(c.down) > 0 {
		d = x - (stat.Mean(c.up)+stat.Mean(c.down))/2
	}
	list := &c.up
	if !up {
		list, d = &c.down, -d
	}
	if *list = append(*list, x); len(*list) > recent {
		*list = (*list)[1:]
	}
	return d
}
