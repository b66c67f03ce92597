package page

import (
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict"
)

// unitRuns is what the throughput of a batch program counts.
const unitRuns = "runs"

// runs tells that whole runs of a program are counted: people know how long one takes,
// and not how many there are a second.
func (g *group) runs() bool { return g.ThroughputUnit == unitRuns }

// throughputShown is its unit.
func (g *group) throughputShown() number.Unit {
	if g.runs() {
		return number.Time()
	}
	return number.PerSecond(throughputUnit(g.ThroughputUnit))
}

// asShown is a throughput as it is shown: of runs the time of one, where each replica makes
// its own.
func (g *group) asShown(i verdict.Interval) verdict.Interval {
	if !g.runs() {
		return i
	}
	replicas := float64(max(1, g.Replicas))
	i = inverse(i)
	return verdict.Interval{Median: scaled(i.Median, replicas), Low: scaled(i.Low, replicas), High: scaled(i.High, replicas), N: i.N}
}

// againstPeak heads the ratios of throughput, which stay those where times stand beside
// them.
func (g *group) againstPeak() string {
	if g.runs() {
		return "Runs a second, against the peak"
	}
	return "Against the peak"
}
