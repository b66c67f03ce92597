package trial

import (
	"time"

	"github.com/procfit/procfit/internal/measure/trial/foreign"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// External adds what an external generator printed. It is open loop where the command
// was told the rate; its latency is judged where its clock allows that.
func External(t *journal.Trial, r *foreign.Report, wall time.Duration, rate *float64, usage *journal.Usage) error {
	if r.Throughput == nil {
		return Invalid(journal.InvalidLoadOutput, "procfit found no throughput in the output of the load command (it reads the output of %s); name it with --metric 'throughput=REGEXP'", foreign.Names())
	}
	p := printedPhase(r, wall)
	if o := r.Offered; o != nil {
		p = o.Phase
		t.Load = &o.Load
		if p.Mode == journal.ModeOpen {
			rate = p.RatePerSecond // which it knows better than the command that asked for it
		}
	}
	p.Usage, p.Generator, p.LatencyFrom = usage, string(r.Generator), string(r.Clock)
	if rate != nil {
		p.Mode, p.RatePerSecond = journal.ModeOpen, rate
		t.Saturated = p.AchievedPerSecond < Carried**rate
		switch {
		case p.LatencySeconds == nil:
		case r.Clock.Judged():
			t.LatencySeconds = p.LatencySeconds
			judge(t, &p, p.Requests+p.Unanswered, printed(p.LatencySeconds))
		default:
			p.Judged, p.UnjudgedReason = new(false), journal.UnjudgedClock
			warn(t, journal.Warning{Code: journal.WarnLatencyClock, Detail: string(r.Generator)})
		}
	}
	if usage != nil {
		t.Usage = *usage
	}
	t.Phases = append(t.Phases, p)
	t.ThroughputPerSecond, t.ThroughputUnit = &p.AchievedPerSecond, ThroughputRequests
	return nil
}

// printedPhase is the phase of a generator's figures.
func printedPhase(r *foreign.Report, wall time.Duration) journal.Phase {
	p := journal.Phase{Mode: journal.ModeClosed, DurationSeconds: wall.Seconds(), AchievedPerSecond: *r.Throughput}
	p.Requests = max(1, int64(*r.Throughput*wall.Seconds())) // it gave a throughput, so some were
	if r.Requests != nil {
		p.Requests = int64(*r.Requests)
	}
	if r.Errors != nil {
		p.Errors = int64(*r.Errors)
	}
	if r.P50 != nil || r.P99 != nil || r.Mean != nil {
		p.LatencySeconds = &journal.Latency{P50: r.P50, P90: r.P90, P99: r.P99, P999: r.P999, Max: r.Max, Mean: r.Mean}
	}
	return p
}
