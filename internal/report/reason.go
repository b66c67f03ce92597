package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/stat"
)

// reasons words a verdict's reasons. Those of one kind that follow one another share
// a line, under what they have in common.
func (w words) reasons() []string {
	list := []string{}
	var items []string
	lead := ""
	flush := func() {
		if len(items) > 0 {
			list = append(list, lead+phrase.Semicolons(items))
		}
		items = nil
	}
	for i := range w.group.Recommendation.Reasons {
		r := &w.group.Recommendation.Reasons[i]
		of := w.lead(r.Code)
		if of == "" || of != lead {
			flush()
		}
		lead = of
		items = append(items, w.reason(r))
	}
	flush()
	return list
}

// lead is what reasons of a kind have in common; empty where each stands alone.
func (w words) lead(code stat.ReasonCode) string {
	switch code {
	case stat.ReasonSlower:
		return "proven worse in throughput: "
	case stat.ReasonAsFast:
		return fmt.Sprintf("proven as good within %s: ", phrase.Percent(w.plan.Margin))
	case stat.ReasonSpeedOpen:
		return "open in throughput, neither as good nor worse with 95 % confidence: "
	case stat.ReasonLater, stat.ReasonSaturated:
		return "proven worse in p99: "
	case stat.ReasonAsPrompt:
		return fmt.Sprintf("proven as good in p99 within %s: ", phrase.Percent(w.plan.MarginP99))
	case stat.ReasonP99Open:
		return "open in p99: "
	case stat.ReasonMetricWorse:
		return "not for every figure: "
	}
	return ""
}

func (w words) reason(r *stat.Reason) string {
	switch r.Code {
	case stat.ReasonFastest:
		among := ""
		if len(w.group.Others.Withheld) > 0 { // the table shows them too
			among = " of those compared"
		}
		return name(r.Of) + " has the highest median throughput" + among + ": " + w.figures(r.Of)
	case stat.ReasonLowestP99:
		return name(r.Of) + " has the lowest median p99: " + w.figures(r.Of)
	case stat.ReasonP99NotJudged:
		return "p99 is not judged: in closed loop latency only restates throughput"
	case stat.ReasonUnsetUnread:
		return "the unset arm is compared with none: which value it chose could not be read"
	case stat.ReasonUnsetDiffers:
		return fmt.Sprintf("the unset arm is compared with none: it chose %d, but is %s than GOMAXPROCS=%d (n %d)", r.Of.Procs, slower(r.Change), r.Of.Procs, r.N)
	case stat.ReasonNoise:
		return w.noise(r)
	case stat.ReasonWithheld:
		return names(r.List) + " " + isAre(len(r.List)) + " not compared: " + w.others() + ", and what needs these CPUs had what they left"
	case stat.ReasonHolds:
		return w.holds()
	case stat.ReasonCarried:
		return name(r.Of) + " " + carried(r.Carried, p99Clause(r.Of))
	case stat.ReasonCarrierP99:
		return fmt.Sprintf("its p99 is %s than that of %s, at least %s (n %d)", higher(r.Change), name(r.Than), phrase.Percent(r.Bound), r.N)
	case stat.ReasonMetricWorse:
		return fmt.Sprintf("%s is %s at %s than at %s, at least %s (n %d)",
			r.Metric, higher(r.Change), name(r.Of), name(r.Than), phrase.Percent(math.Abs(r.Bound)), r.N)
	}
	return comparison(r)
}

// comparison is one setting against the best in a metric.
func comparison(r *stat.Reason) string {
	switch r.Code {
	case stat.ReasonSlower:
		return fmt.Sprintf("%s is %s, at least %s (n %d)", name(r.Of), slower(r.Change), phrase.Percent(-r.Bound), r.N)
	case stat.ReasonAsFast:
		text := name(r.Of) + " is " + slower(r.Change)
		if bound := slower(r.Bound); bound != same {
			text += ", at most " + bound
		}
		return fmt.Sprintf("%s (n %d)", text, r.N)
	case stat.ReasonSpeedOpen:
		if r.N == 0 {
			return name(r.Of) + " shares no valid block with it"
		}
		return fmt.Sprintf("%s seems %s (n %d)", name(r.Of), slower(r.Change), r.N)
	case stat.ReasonSaturated:
		return name(r.Of) + " could not carry the common rate"
	case stat.ReasonLater:
		return fmt.Sprintf("%s is %s, at least %s (n %d)", name(r.Of), higher(r.Change), phrase.Percent(r.Bound), r.N)
	case stat.ReasonAsPrompt:
		return fmt.Sprintf("%s is %s (n %d)", name(r.Of), higher(r.Change), r.N)
	}
	if r.N == 0 {
		return name(r.Of) + " shares no valid block with it"
	}
	return fmt.Sprintf("%s seems %s (n %d)", name(r.Of), higher(r.Change), r.N)
}

func (w words) noise(r *stat.Reason) string {
	text := fmt.Sprintf("noise: two copies of %s differ by up to %s in throughput", w.group.NoiseFloor.Arm, phrase.Percent(r.Change))
	if r.P99Change != nil {
		text += fmt.Sprintf(" and %s in p99", phrase.Percent(*r.P99Change))
	}
	return text + fmt.Sprintf(" (95 %%, %s); no difference estimated at less is called worse", phrase.Count(r.N, "pair"))
}

// others is what other programs took: "other programs used 1.6 of 2 CPUs".
func (w words) others() string {
	o := w.group.Others
	if o.CPUs == nil {
		return "other programs used CPUs that the target may use"
	}
	return fmt.Sprintf("other programs used %s of %s", strconv.FormatFloat(math.Round(*o.CPUs*100)/100, 'g', 3, 64), phrase.CPUs(float64(o.Of)))
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// holds is what a result is of: it is worth nothing elsewhere.
func (w words) holds() string {
	text := "holds for " + phrase.CPUs(w.group.EffectiveCPUs)
	if n := w.group.Replicas; n > 1 {
		text += " a replica, " + phrase.Count(n, "replica")
	}
	if q := w.group.QuotaCPUs; q != nil {
		text += ", a quota of " + phrase.CPUs(*q)
	} else {
		text += ", no quota"
	}
	return text + "; measure again elsewhere"
}

// carried has what is known of the latency between the counts and what they lack.
func carried(c *stat.Carried, latency string) string {
	text := "carried " + percentDown(c.Share) + " of the rate"
	switch {
	case c.Share < stat.CarriedRatio:
		text = "carried " + percentDown(c.Share) + ", below " + percentDown(stat.CarriedRatio) + " of the rate"
	case c.Closed != nil && *c.Closed < 1:
		of := "median"
		if c.Low {
			of = "low end of its interval"
		}
		text += fmt.Sprintf(", but its closed loop reached only %s of it (%s)", percentDown(*c.Closed), of)
	}
	text += fmt.Sprintf(" (median, n %d)", c.Trials) + latency
	if c.Blocks < stat.FewestPairs {
		text += fmt.Sprintf("; it takes %d blocks to say so", stat.FewestPairs)
	}
	return text
}
