package paired

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// world is a program under a traffic, in which slices are run.
type world struct {
	r       *rand.Rand
	noise   float64                  // of a slice's CPU per request, in logarithms
	draw    func(*rand.Rand) float64 // of the noise; nil: normal
	level   func(w *world) float64   // what the traffic makes of it now; nil: nothing
	burnIn  float64                  // seconds
	exact   bool                     // all slices are of the same length
	piles   float64                  // share of the slices in which so much waits that a value is left
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
// Queries come last.
func rules(values int, queries ...string) Rules {
	r := Rules{Settings: settings(values), Metrics: []Metric{
		{Name: FigureCPU, Direction: Less, Margin: 0.05, Halves: true},
		{Name: FigureP50, Direction: Less, Margin: 0.10, Halves: true},
		{Name: FigureP99, Direction: Less, Margin: 0.20},
		{Name: FigureRequests, Direction: Alike, Margin: 0.05},
		{Name: FigureFailed, Direction: NoMore},
	}}
	for _, q := range queries {
		r.Metrics = append(r.Metrics, Metric{Name: q, Direction: Less, Margin: 0.20, Asked: true, Guarded: true})
	}
	return r
}

// settings are the control and what is compared with it.
func settings(n int) (list []journal.Setting) {
	for i := range n {
		list = append(list, journal.Setting{Label: strconv.Itoa(i)})
	}
	return list
}

// procs are the numbers of the values.
var procs = []int{2, 1, 3, 4, 6, 8}

// block runs every value once, in random order.
func (w *world) block(number int, r Rules) (list []Slice) {
	for _, value := range w.r.Perm(len(r.Settings)) {
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
	if w.piles > 0 && w.r.Float64() < w.piles {
		s.Void = []journal.InvalidCode{journal.InvalidLoaded, journal.InvalidLeft}[min(1, value)]
	}
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
	{"bursts for which a value is left, in 2% of the slices", 0, world{noise: 0.05, piles: 0.02}},
	{"bursts for which a value is left, in 5% of the slices", 0, world{noise: 0.05, piles: 0.05}},
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

// traffic draws a query of two equal settings in a slice. past is what a pattern keeps from
// one slice to the next.
type traffic func(r *rand.Rand, slice int, past *float64) (is, was float64)

// noisy is a p99 whose level both share, and which strays by itself on each side.
func noisy(by float64, draw func(*rand.Rand) float64, level func(r *rand.Rand, slice int, past *float64) float64) traffic {
	return func(r *rand.Rand, slice int, past *float64) (float64, float64) {
		l := level(r, slice, past)
		return l * math.Exp(by*draw(r)), l * math.Exp(by*draw(r))
	}
}

// exponential is a p99 of so many latencies with an exponential tail.
func exponential(n int) traffic {
	p99 := func(r *rand.Rand) float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = r.ExpFloat64()
		}
		slices.Sort(list)
		return list[n*99/100]
	}
	return func(r *rand.Rand, _ int, _ *float64) (float64, float64) { return p99(r), p99(r) }
}

// failing are so many errors in the mean, all of different requests.
func failing(mean float64) traffic {
	poisson := func(r *rand.Rand) (n float64) {
		for at := r.ExpFloat64(); at < mean; at += r.ExpFloat64() {
			n++
		}
		return n
	}
	return func(r *rand.Rand, _ int, _ *float64) (float64, float64) { return poisson(r), poisson(r) }
}

func normal(r *rand.Rand) float64 { return r.NormFloat64() }

func cauchy(r *rand.Rand) float64 { return r.NormFloat64() / math.Abs(r.NormFloat64()) }

func steady(*rand.Rand, int, *float64) float64 { return 1 }

// ofDay swings three-fold in 30 slices.
func ofDay(_ *rand.Rand, slice int, _ *float64) float64 {
	return 2 + math.Sin(2*math.Pi*float64(slice)/30)
}

func bursting(r *rand.Rand, _ int, _ *float64) float64 {
	if r.Float64() < 0.1 {
		return 10
	}
	return 1
}

// sharing has a level that depends on the one before, as a shared backend's load has.
func sharing(r *rand.Rand, _ int, past *float64) float64 {
	*past = 0.9**past + 0.3*r.NormFloat64()
	return math.Exp(*past)
}

// unsteady strays by 2% in most slices and by 50% in some.
func unsteady(r *rand.Rand, _ int, _ *float64) (float64, float64) {
	by := 0.02
	if r.Float64() < 0.3 {
		by = 0.5
	}
	return math.Exp(by * r.NormFloat64()), math.Exp(by * r.NormFloat64())
}

// inBursts fail in some slices, many at a time, on one side alone.
func inBursts(r *rand.Rand, _ int, _ *float64) (is, was float64) {
	for _, side := range []*float64{&is, &was} {
		if r.Float64() < 0.2 {
			*side = math.Ceil(10 * r.ExpFloat64())
		}
	}
	return is, was
}

// coarse knows two values alone.
func coarse(r *rand.Rand, _ int, _ *float64) (float64, float64) {
	return 0.25 * float64(1+r.IntN(2)), 0.25 * float64(1+r.IntN(2))
}

// oneOfTwo has a p99 three times as long on one side in every slice, and chance says on
// which: as a client's one heavy connection is on the one pod or on the other.
func oneOfTwo(r *rand.Rand, _ int, _ *float64) (is, was float64) {
	is, was = math.Exp(0.05*r.NormFloat64()), math.Exp(0.05*r.NormFloat64())
	if r.IntN(2) == 0 {
		return 3 * is, was
	}
	return is, 3 * was
}

// equalPods are the traffics in which hardly a canary of equal pods ends.
var equalPods = []struct {
	name string
	traffic
}{
	{"steady, straying by 5%", noisy(0.05, normal, steady)},
	{"steady, straying by 25%", noisy(0.25, normal, steady)},
	{"a daily swing", noisy(0.25, normal, ofDay)},
	{"bursts", noisy(0.25, normal, bursting)},
	{"a drift that both share", noisy(0.25, normal, sharing)},
	{"heavy tails", noisy(0.25, heavy, steady)},
	{"heavy tails without a mean", noisy(0.25, cauchy, steady)},
	{"some slices stray far more", unsteady},
	{"a query with two values", coarse},
	{"errors, one in ten slices", failing(0.1)},
	{"errors, one in a slice", failing(1)},
	{"errors, ten in a slice", failing(10)},
	{"errors, many at a time, seldom", inBursts},
}

// asking is a canary of 30 slices that asks one query, with an error that is shared with so
// many comparisons; the value's is so many times what it would be.
func asking(r *rand.Rand, of traffic, times, margin float64, comparisons int) simulation {
	past := 0.0
	return simulation{Rules{Settings: settings(1 + comparisons), Blocks: 30, Metrics: []Metric{{Name: "p99", Direction: Less, Margin: margin, Asked: true, Guarded: true}}}, func(n int) ([]Slice, float64) {
		is, was := of(r, n, &past)
		return []Slice{{Block: n, Figures: []float64{was}}, {Block: n, Value: 1, Figures: []float64{is * times}}}, float64(n + 1)
	}}
}

// pods is a canary of 30 slices with values whose CPU time and p99 stray, of which the first
// takes so many times the CPU time.
func pods(r *rand.Rand, values int, noise, times float64) simulation {
	rules := Rules{Settings: settings(1 + values), Blocks: 30, Metrics: []Metric{
		{Name: "p99", Direction: Less, Margin: 0.2, Asked: true, Guarded: true}, {Name: FigureCPU, Direction: Less, Margin: 0.05},
	}}
	return simulation{rules, func(n int) (list []Slice, at float64) {
		for value := range 1 + values {
			s := Slice{Block: n, Value: value, Figures: []float64{0.02 * math.Exp(2*noise*r.NormFloat64()), 0.001 * math.Exp(noise*r.NormFloat64())}}
			if value == 1 {
				s.Figures[1] *= times
			}
			list = append(list, s)
		}
		return list, float64(n + 1)
	}}
}
