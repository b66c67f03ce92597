package trial

import (
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
)

// tried is one rate of a search, as the load engine saw it.
type tried struct {
	*load.Result
	Usage     *journal.Usage
	Head      time.Duration // that is in no figure
	MaxErrors float64       // share of failed requests that may be
}

// addProbe adds an open loop at one of the rates of a search, and says what the
// objective sees of it. More errors than may be are a rate that is not carried; a
// program that answers nothing more at a rate may do so at a lower one.
func addProbe(t *journal.Trial, o slo.Objective, l tried) (slo.Probe, error) {
	if err := addPhase(t, l.Result, l.Usage); err != nil {
		return slo.Probe{}, err
	}
	p := &t.Phases[len(t.Phases)-1]
	p.DroppedHeadSeconds = l.Head.Seconds()
	bad := float64(l.Errors + l.Unanswered)
	probe := slo.Probe{RatePerSecond: l.Rate, Carried: l.AchievedPerSecond >= Carried*l.Rate && bad <= l.MaxErrors*float64(l.Requests+l.Unanswered)}
	if l.Latency.TotalCount() > 0 {
		probe.Seconds = time.Duration(l.Latency.ValueAtQuantile(100 * o.Quantile)).Seconds()
	}
	paced := Cost(l.Result)
	if t.Load != nil && o.Meets(probe) { // at a rate that is too high the generator may well be late
		t.Load.SendLagP99Seconds, t.Load.Dropped = paced.SendLagP99Seconds, paced.Dropped
	}
	return probe, nil
}

// attain makes the capacity within the objective the trial's throughput, in place
// of the closed loop's, whose latency restates it.
func attain(t *journal.Trial, s slo.Search, done []slo.Probe) {
	capacity, met := s.Capacity(done)
	for _, p := range done {
		if !met && (capacity == 0 || p.RatePerSecond < capacity) {
			capacity = p.RatePerSecond // it carries less than that
		}
	}
	t.ThroughputPerSecond = &capacity
	t.Attained = &journal.Attainment{Met: met, Probes: len(done)}
}
