package foreign

import (
	"encoding/json"
	"fmt"

	"github.com/procfit/procfit/internal/verdict/journal"
)

func fitsOurs(o *output) bool {
	return o.with("mode", "achieved_per_second", "latency_seconds", "load") != nil
}

// readOurs reads procfit load --json, which is a phase as a journal has it.
func readOurs(o *output, r *Report) error {
	r.Offered = &journal.Offered{}
	if err := json.Unmarshal(o.with("mode", "achieved_per_second", "latency_seconds", "load").raw, r.Offered); err != nil {
		return fmt.Errorf("the JSON of procfit load: %w", err)
	}
	p := &r.Offered.Phase
	if p.Requests < 0 || p.Errors < 0 || p.Unanswered < 0 || p.AchievedPerSecond < 0 || p.DurationSeconds <= 0 {
		return fmt.Errorf("the JSON of procfit load has figures below 0: %d requests, %d errors, %g a second in %g s", p.Requests, p.Errors, p.AchievedPerSecond, p.DurationSeconds)
	}
	r.Clock = ClockSend
	if p.Mode == journal.ModeOpen && p.RatePerSecond != nil && *p.RatePerSecond > 0 {
		r.Clock = ClockIntended
	}
	setNumber(&r.Throughput, p.AchievedPerSecond)
	setNumber(&r.Requests, float64(p.Requests))
	setNumber(&r.Errors, float64(p.Errors))
	if l := p.LatencySeconds; l != nil {
		for _, v := range []*float64{l.P50, l.P90, l.P99, l.P999, l.Max, l.Mean} {
			if v != nil && *v <= 0 {
				return fmt.Errorf("the JSON of procfit load has a latency of %g s", *v)
			}
		}
		r.P50, r.P90, r.P99, r.P999, r.Max, r.Mean = l.P50, l.P90, l.P99, l.P999, l.Max, l.Mean
	}
	return nil
}
