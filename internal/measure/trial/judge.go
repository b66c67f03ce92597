package trial

import (
	"slices"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// judge says whether the p99 of an open loop stands, of so many requests, those that
// failed, were never answered or never sent among them. at is the latency at a quantile;
// null where that is not known.
func judge(t *journal.Trial, p *journal.Phase, requests int64, at func(quantile float64) *float64) {
	var periods *int64
	if t.Arm.QuotaCPUs != nil || limitedFromOutside(p.Usage) {
		periods = new(int64(p.DurationSeconds/journal.QuotaPeriod.Seconds() + 1e-9))
	}
	j := &p.Judgement
	switch {
	case requests < journal.LeastRequests:
		j.UnjudgedReason = journal.UnjudgedFewRequests
	case periods != nil && *periods < journal.LeastPeriods:
		j.UnjudgedReason = journal.UnjudgedFewPeriods
	}
	j.Judged = new(j.UnjudgedReason == "")
	for _, quantile := range journal.CarriedQuantiles(requests, periods) {
		if quantile == 0.99 {
			return // the p99 itself
		}
		if latency := at(quantile); latency != nil {
			j.Quantile, j.QuantileSeconds = quantile, latency
			return
		}
	}
}

// limitedFromOutside tells whether a limit that the arm did not set can throttle the
// target: procfit may itself run in a container.
func limitedFromOutside(u *journal.Usage) bool {
	if u == nil || u.HostUse == nil {
		return false
	}
	cpus := float64(u.HostUse.TargetCPUs)
	return slices.ContainsFunc(u.OuterLimits, func(l journal.OuterLimit) bool { return l.CPUs > 0 && l.CPUs < cpus })
}

// printed are the quantiles that a generator tells.
func printed(l *journal.Latency) func(quantile float64) *float64 {
	return func(quantile float64) *float64 {
		switch quantile {
		case 0.9:
			return l.P90
		case 0.5:
			return l.P50
		}
		return nil
	}
}

func seconds(nanoseconds int64) *float64 { return new(time.Duration(nanoseconds).Seconds()) }
