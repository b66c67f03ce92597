package cli

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// arrangement says where target and load run, after the name of what is measured;
// nothing where they share what there is.
func arrangement(s *session.Session) string {
	host := s.Header.TargetHost
	if split := s.Spec.Split; split != nil {
		target, load := len(split.Target), len(split.Load)
		return fmt.Sprintf(" on %d of %d CPUs; the load generator has %d;", target, target+load, load)
	}
	if s.Spec.ApartOn(host.EffectiveCPUs) {
		return fmt.Sprintf(" on the CPUs of %d that the load generator leaves, once two trials have shown what it needs;", host.AffinityCPUs)
	}
	return ""
}

// unjudged says beforehand of which quotas the p99 will not be judged, and what would
// do; nothing where it will be, or where only the pilots can tell.
func unjudged(s *session.Session) string {
	var list []string
	quotas := s.Spec.Quotas
	if len(quotas) == 0 {
		quotas = []*float64{nil}
	}
	for _, q := range quotas {
		if short := s.Spec.Shortfall(s.Spec.Load.Rate, q != nil); short != nil {
			text := shortfall(*short)
			if len(quotas) > 1 && q != nil {
				text += fmt.Sprintf(" (quota %g)", *q)
			}
			list = append(list, text)
		}
	}
	return strings.Join(list, "; ")
}

// shortfall is why a p99 will not be judged, in words.
func shortfall(s plan.Shortfall) string {
	one, many := " request", " requests"
	if s.Code == journal.UnjudgedFewPeriods {
		one, many = " period of the quota", " periods of the quota"
	}
	of := number.Count(float64(s.Have)) + many
	if s.Have == 1 {
		of = "1" + one
	}
	return fmt.Sprintf("p99 will not be judged: %s in %s; --duration %s would", of, number.Short(number.Seconds(s.In.Seconds())), s.Duration)
}
