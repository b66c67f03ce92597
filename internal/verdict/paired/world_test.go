package paired

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/procfit/procfit/internal/verdict"
)

// world is a program under a traffic, in which slices are run.
type world struct {
	r       *rand.Rand
	noise   float64                  // of a slice's CPU per request, in logarithms
	draw    func(*rand.Rand) float64 // of the noise; nil: normal
	level   func(w *world) float64   // what the traffic makes of it now; nil: nothing
	burnIn  float64                  // seconds
	exact   bool                     // all slices are of the same length
	carried func(w *world) float64   // what the values before left behind, now
	at      float64                  // seconds
	procs   int                      // now; 0: before the first slice
	past    float64                  // of the level, for what drifts
	since   float64                  // the last switch upwards
	left    float64                  // 1 after a switch upwards, 0 after one downwards
}

// The metrics of these experiments, as a live experiment has them.
const (
	cpu = iota
	p50
	p99
	requests
	failed
	query // and more
)

// rules are those of the values: the control is 2, the first is below it, the others are above.
// Queries come last, and may be 0.
func rules(values int, queries ...string) Rules {
	r := Rules{Values: values - 1, Metrics: []Metric{
		{Name: FigureCPU, Direction: Less, Margin: 0.05, Lacking: verdict.OutcomeOpen, Halves: true},
		{Name: FigureP50, Direction: Less, Margin: 0.10, Lacking: verdict.OutcomeNotJudged, Halves: true},
		{Name: FigureP99, Direction: Less, Margin: 0.20, Lacking: verdict.OutcomeNotJudged},
		{Name: FigureRequests, Direction: Alike, Margin: 0.05},
		{Name: FigureFailed, Direction: NoMore, Zero: true},
	}}
	for _, q := range queries {
		r.Metrics = append(r.Metrics, Metric{Name: q, Direction: Less, Margin: 0.20, Zero: true, Lacking: verdict.OutcomeOpen, Guarded: true})
	}
	return r
}

// procs are the numbers of the values.
var procs = []int{2, 1, 3, 4, 6, 8}

// block runs every value once, in random order.
func (w *world) block(number int, r Rules) (list []Slice) {
	for _, value := range w.r.Perm(1 + r.Values) {
		list = append(list, w.slice(number, value))
	}
	return list
}

func (w *world) slice(block, value int) Slice {
	s := Slice{Block: block, Value: value}
	if w.procs > 0 {
		s.After = cmp.Compare(procs[value], w.procs)
	}
	switch {
	case s.After > 0:
		w.left, w.since = 1, w.at
	case s.After < 0:
		w.left = 0
	}
	w.procs = procs[value]
	w.at += w.burnIn
	seconds := 5.0
	if !w.exact {
		seconds *= 0.8 + 0.4*w.r.Float64()
	}
	ended := float64(uint64(50 * seconds)) // in each half
	all := 0.0
	for i := range s.Halves {
		w.at += seconds / 4
		each := w.now() + w.noise*math.Sqrt2*w.random()
		w.at += seconds / 4
		s.Halves[i] = []float64{0.001 * math.Exp(each), 0.002 * math.Exp(each+w.noise*w.random())}
		all += 0.001 * ended * math.Exp(each)
	}
	median := (s.Halves[0][p50] + s.Halves[1][p50]) / 2
	s.Figures = []float64{all / (2 * ended), median, 5 * median * math.Exp(2*w.noise*w.random()), 2 * ended / seconds, 0}
	return s
}

func (w *world) random() float64 {
	if w.draw != nil {
		return w.draw(w.r)
	}
	return w.r.NormFloat64()
}

func (w *world) now() (x float64) {
	if w.level != nil {
		x = w.level(w)
	}
	if w.carried != nil {
		x += w.carried(w)
	}
	return x
}

// worlds are the traffics in which nothing may be claimed of values that do not differ.
var worlds = []struct {
	name     string
	reported float64 // how often carry-over is wrongly reported, if in more than 5%
	world
}{
	{"5% of noise", 0, world{noise: 0.05}},
	{"20% of noise", 0, world{noise: 0.20}},
	{"heavy tails: Student's t with 2 degrees of freedom", 0, world{noise: 0.10, draw: heavy}},
	{"a day's swing, in an hour", 0, world{noise: 0.05, level: diurnal}},
	{"an autoregression of 0.8 from half to half of a slice", 0, world{noise: 0.05, level: drifting}},
	{"level shifts of 30% every minute", 0, world{noise: 0.05, level: shifting}},
	{"bursts in 5% of the halves, 2.7 times", 0, world{noise: 0.05, level: bursts}},
	{"shocks in 1%, 20 times", 0, world{noise: 0.05, level: shocks}},
	{"collections, a quarter of the CPU time, two in a slice", 0, world{noise: 0.02, level: collections}},
	{"a job of 4 s at +50% every 14 s, as long as a block of two", 0.25, world{noise: 0.05, level: job}},
	{"all of these together", 0, world{noise: 0.05, draw: heavy, level: everything}},
}

func heavy(r *rand.Rand) float64 { return r.NormFloat64() / math.Sqrt(r.ExpFloat64()) }

func diurnal(w *world) float64 { return 0.7 * math.Sin(2*math.Pi*w.at/3600) }

func drifting(w *world) float64 {
	w.past = 0.8*w.past + 0.1*w.r.NormFloat64()
	return w.past
}

func shifting(w *world) float64 {
	if minute := math.Floor(w.at / 60); minute != w.since {
		w.since, w.past = minute, 0.3*w.r.NormFloat64()
	}
	return w.past
}

func bursts(w *world) float64 { return rarely(w, 0.05, 1) }

func shocks(w *world) float64 { return rarely(w, 0.01, 3) }

func rarely(w *world, p, by float64) float64 {
	if w.r.Float64() < p {
		return by
	}
	return 0
}

// collections: a half of a slice has one, by chance none or two.
func collections(w *world) float64 { return math.Log(0.75 + 0.25*float64(w.r.IntN(3))) }

func job(w *world) float64 {
	if math.Mod(w.at, 14) < 4 {
		return math.Log(1.5)
	}
	return 0
}

func everything(w *world) float64 {
	return diurnal(w) + drifting(w) + bursts(w) + shocks(w) + collections(w) + job(w)
}
