package page

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// trialWarnings are what a journal says of one trial.
var trialWarnings = map[journal.WarningCode]string{
	journal.WarnLoadLimited:    "the load generator's busiest thread used {percent} of a CPU: it may have been the limit",
	journal.WarnLoadTook:       "the load generator took {cpus} of a machine that had no idle CPUs",
	journal.WarnSaturated:      "answered {rounded down} of the offered rate",
	journal.WarnSentLate:       "the load generator itself sent requests late: {seconds} at p99",
	journal.WarnProcsUnproven:  "the GOMAXPROCS value in use could not be read",
	journal.WarnNoGo:           "none of the target's processes is a Go program",
	journal.WarnProcsChanged:   "GOMAXPROCS changed{from to}",
	journal.WarnKilled:         "did not end within {seconds} of SIGTERM and was killed",
	journal.WarnCounters:       "the kernel's counters could not be read",
	journal.WarnQuery:          "a query returned nothing",
	journal.WarnFailedRequests: "{requests} failed{phase}",
	journal.WarnUnanswered:     "{requests} without a response at the end{phase}",
	journal.WarnLatencyClock:   "its latency is not judged, because it is counted from the actual send time, and sending waits for a free connection",
	journal.WarnRedirects:      "{responses} (3xx){phase}",
	journal.WarnNoResult:       "the output has no result of {benchmarks}, which are in no number here",
}

func trialWarning(w *journal.Warning) string {
	value, change := 0.0, " during the trial"
	if w.Value != nil {
		value = *w.Value
	}
	if w.From != nil && w.To != nil {
		change = fmt.Sprintf(" from %d to %d", *w.From, *w.To)
	}
	text := strings.NewReplacer(
		"{percent}", number.Percent(value), "{rounded down}", percentDown(value), "{cpus}", number.CPUsUsed(value), "{seconds}", number.Short(number.Seconds(value)),
		"{requests}", phrase.Count(w.Count, "request"), "{responses}", phrase.CountOf(w.Count, "response was a redirect", "responses were redirects"), "{benchmarks}", phrase.Count(w.Count, "benchmark"),
		"{phase}", inPhase(w.Phase), "{from to}", change,
	).Replace(cmp.Or(trialWarnings[w.Code], string(w.Code)))
	detail := w.Detail
	if w.Code == journal.WarnFailedRequests { // a kind of error: no_response
		detail = strings.ReplaceAll(detail, "_", " ")
	}
	return phrase.Join(": ", text, detail)
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
				if n[x.Reason] += x.Count; n[x.Reason] > n[why] {
					why = x.Reason
				}
			}
		}
	}
	return why
}
