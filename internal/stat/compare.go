package stat

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// judge holds what comparisons in one group are made with. Margins and floors
// are logarithms; a floor that is not known is 0.
type judge struct {
	margin, marginP99 float64 // ln(1+m) of p99, -ln(1-m) of throughput
	floor, floorP99   float64
}

func newJudge(margin, marginP99 float64) *judge {
	margin = min(max(margin, 0), 0.99) // a plan is checked, a journal may be anyone's
	return &judge{margin: -math.Log1p(-margin), marginP99: math.Log1p(max(marginP99, 0))}
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

// noise fills the floors from the A/A arm. Floors are in logarithms within the
// judge, as ratios in the result.
func (j *judge) noise(g *group) NoiseFloor {
	var f NoiseFloor
	for _, a := range g.current() {
		if len(a.aa) == 0 {
			continue
		}
		throughput := locateNarrow(g.series(throughputOf, a.aa).minus(g.series(throughputOf, a.measure)))
		p99 := locateNarrow(g.series(p99Of, a.aa).minus(g.series(p99Of, a.measure)))
		f = NoiseFloor{Arm: a.Label, Pairs: throughput.n}
		j.floor, f.Throughput = floorOf(throughput)
		j.floorP99, f.P99 = floorOf(p99)
		break
	}
	return f
}

func floorOf(e estimate) (float64, *float64) {
	if e.n < minPairs {
		return 0, nil
	}
	log := max(math.Abs(e.low), math.Abs(e.high))
	return log, new(expm1(log))
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
	if sd, n := spread(speedOf, best, settings); n >= 2 {
		d.Throughput = new(expm1(detectable(sd, n)))
	}
	if sd, n := spread(tailOf, best, settings); n >= 2 {
		d.P99 = new(expm1(detectable(sd, n)))
	}
	return d
}
