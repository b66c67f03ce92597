package stat

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// judge holds what comparisons in one group are made with. Margins and floors
// are logarithms, ln(1+m) of p99 and -ln(1-m) of throughput, so that what is
// "12 % slower" has exceeded a floor of 12 %; a floor that is not known is 0.
type judge struct {
	margin, marginP99 float64
	floor, floorP99   float64
}

// loss and growth are a ratio as the logarithm of what becomes less or more by it.
func loss(ratio float64) float64 {
	if ratio >= 1 {
		return math.Inf(1) // nothing falls by all of itself
	}
	return -math.Log1p(-ratio)
}

func growth(ratio float64) float64 { return math.Log1p(ratio) }

func newJudge(margin, marginP99 float64) *judge {
	margin = min(max(margin, 0), 0.99) // a plan is checked, a journal may be anyone's
	return &judge{margin: loss(margin), marginP99: growth(max(marginP99, 0))}
}

// comparison is one setting against another in one metric. Neither asGood nor
// worse means that these blocks cannot tell.
type comparison struct {
	estimate // of ln(a ÷ b)
	// asGood: not worse by more than the margin, with 95 % confidence.
	asGood bool
	// worse: worse by more than the margin with 95 % confidence, and by more than
	// what copies of one arm differ by.
	worse bool
}

func (j *judge) throughput(a, b series) comparison {
	e := locate(a.minus(b))
	return comparison{e, e.lower > -j.margin, e.upper < -j.margin && e.mid < -j.floor}
}

func (j *judge) p99(a, b series) comparison {
	e := locate(a.minus(b))
	return comparison{e, e.upper < j.marginP99, e.lower > j.marginP99 && e.mid > j.floorP99}
}

// apart says whether what should be two copies of one setting is proven not to
// be. Throughput decides; p99 is noisier and adds nothing but false alarms.
func (j *judge) apart(a, b *setting) bool {
	return j.throughput(a.throughput, b.throughput).worse || j.throughput(b.throughput, a.throughput).worse
}

// noise fills the floors from the A/A arm.
func (j *judge) noise(g *group) NoiseFloor {
	var f NoiseFloor
	for _, a := range g.current() {
		if len(a.aa) == 0 {
			continue
		}
		throughput := locateNarrow(g.series(throughputOf, a.aa).minus(g.series(throughputOf, a.measure)))
		p99 := locateNarrow(g.series(p99Of, a.aa).minus(g.series(p99Of, a.measure)))
		f = NoiseFloor{Arm: a.Label, Pairs: throughput.n}
		f.Throughput, f.P99 = floorOf(throughput), floorOf(p99)
		j.floors(f)
		break
	}
	return f
}

func (j *judge) floors(f NoiseFloor) {
	if f.Throughput != nil {
		j.floor = loss(*f.Throughput)
	}
	if f.P99 != nil {
		j.floorP99 = growth(*f.P99)
	}
}

func floorOf(e estimate) *float64 {
	if e.n < minPairs {
		return nil
	}
	return new(expm1(max(math.Abs(e.low), math.Abs(e.high))))
}

// spread is the typical standard deviation of differences between settings: the
// median over all that are compared with the first.
func spread(of func(*setting) series, best *setting, settings []*setting) (sd float64, n int) {
	var sds []float64
	for _, s := range settings {
		if d := of(s).minus(of(best)); s != best && len(d) >= 2 {
			sds = append(sds, stat.StdDev(d, nil))
			n = max(n, len(d))
		}
	}
	if len(sds) == 0 {
		return 0, 0
	}
	return medianFloat(sds), n
}

func speedOf(s *setting) series { return s.throughput }
func tailOf(s *setting) series  { return s.p99 }

// detectableEffect is the smallest difference that the blocks so far can show.
func detectableEffect(best *setting, settings []*setting) Detectable {
	var d Detectable
	d.Throughput = detectableRatio(spread(speedOf, best, settings))
	d.P99 = detectableRatio(spread(tailOf, best, settings))
	return d
}

func detectableRatio(sd float64, n int) *float64 {
	const most = 10 // 1000 %: blocks that can show no less show nothing
	if n < minPairs {
		return nil
	}
	if x := expm1(detectable(sd, n)); x <= most {
		return &x
	}
	return nil
}
