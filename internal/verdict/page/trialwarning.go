package page

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// trialWarning words what a journal says of one trial.
func trialWarning(w *journal.Warning) string {
	value := 0.0
	if w.Value != nil {
		value = *w.Value
	}
	switch w.Code {
	case journal.WarnLoadLimited:
		return "the load generator's busiest thread used " + number.Percent(value) + " of a CPU: it may have been the limit"
	case journal.WarnLoadTook:
		return "the load generator took " + number.CPUsUsed(value) + " of a machine that had no idle CPUs"
	case journal.WarnSaturated:
		return "answered " + percentDown(value) + " of the offered rate"
	case journal.WarnSentLate:
		return "the load generator itself sent requests late: " + number.Seconds(value) + " at p99"
	case journal.WarnProcsUnproven:
		return withDetail("the GOMAXPROCS value in use could not be read", w.Detail)
	case journal.WarnNoGo:
		return "none of the target's processes is a Go program"
	case journal.WarnProcsChanged:
		if w.From != nil && w.To != nil {
			return fmt.Sprintf("GOMAXPROCS changed from %d to %d", *w.From, *w.To)
		}
		return "GOMAXPROCS changed during the trial"
	case journal.WarnKilled:
		return "did not end within " + number.Short(number.Seconds(value)) + " of SIGTERM and was killed"
	case journal.WarnCounters:
		return withDetail("the kernel's counters could not be read", w.Detail)
	case journal.WarnQuery:
		return withDetail("a query returned nothing", w.Detail)
	case journal.WarnFailedRequests:
		return withDetail(phrase.Count(w.Count, "request")+" failed"+inPhase(w.Phase), strings.ReplaceAll(w.Detail, "_", " "))
	case journal.WarnUnanswered:
		return phrase.Count(w.Count, "request") + " without a response at the end" + inPhase(w.Phase)
	case journal.WarnLatencyClock:
		return withDetail("its latency is not judged, because it is counted from the actual send time, and sending waits for a free connection", w.Detail)
	case journal.WarnRedirects:
		return phrase.CountOf(w.Count, "response was a redirect", "responses were redirects") + " (3xx)" + inPhase(w.Phase)
	case journal.WarnNoResult:
		return withDetail("the output has no result of "+phrase.Count(w.Count, "benchmark")+", which are in no number here", w.Detail)
	}
	return withDetail(string(w.Code), w.Detail)
}

func withDetail(what, detail string) string {
	if detail == "" {
		return what
	}
	return what + ": " + detail
}

func inPhase(m journal.Mode) string {
	switch m {
	case journal.ModeClosed:
		return " in the throughput phase"
	case journal.ModeOpen:
		return " in the latency phase"
	}
	return ""
}

// MostInvalid is the reason of most of the invalid trials.
func MostInvalid(r *verdict.Result) string {
	n, why := map[string]int{}, ""
	for _, g := range r.Groups {
		for _, a := range g.Settings {
			for _, x := range a.InvalidReasons {
				if n[invalidReason(x.Reason, x.Code)] += x.Count; n[invalidReason(x.Reason, x.Code)] > n[why] {
					why = invalidReason(x.Reason, x.Code)
				}
			}
		}
	}
	return why
}
