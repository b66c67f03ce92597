package page

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
)

// butFor adds the metrics that are worse in spite of the claim.
func (w words) butFor(claim string) string {
	rec := &w.Recommendation
	var losses []string
	for _, x := range rec.Reasons {
		if _, is := x.(verdict.ReasonMetricWorse); is {
			losses = append(losses, w.say(x).text)
		}
	}
	if len(losses) == 0 {
		return claim
	}
	first := losses[0]
	if n := len(losses) - 1; n > 0 {
		first += ", and " + phrase.Count(n, "more metric")
	}
	if _, differ := rec.Claim.(verdict.CauseBenchmarksDiffer); differ {
		return strings.TrimSuffix(claim, ".") + ": " + first + "."
	}
	return strings.TrimSuffix(claim, ".") + ". But not for every metric: " + first + "."
}

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
	for _, x := range w.Recommendation.Reasons {
		said := w.say(x)
		if said.lead == "" || said.lead != lead {
			flush()
		}
		lead, items = said.lead, append(items, said.text)
	}
	flush()
	if text := w.ended(); text != "" {
		list = append(list, text)
	}
	return list
}

// ended is why a race took fewer trials than it might have, where that is not that it
// has its answer.
func (w words) ended() string {
	race := w.Race
	if race == nil || race.Stop == "" {
		return ""
	}
	why := ""
	switch tooFewCPUs := w.Others.TooFewCPUs; {
	case len(tooFewCPUs) > 0 && race.Stop != string(contest.StopTime):
		why = "other programs left GOMAXPROCS " + phrase.And(tooFewCPUs) + " too few CPUs every time"
		if w.Others.CPUs == nil {
			why = "what other programs used could not be counted for GOMAXPROCS " + phrase.And(tooFewCPUs)
		}
		why += ", so " + verb(len(tooFewCPUs), "it was", "they were") + " not tried again"
	case race.Stop == string(contest.StopFutile):
		why = "more trials would not prove the likely value, because trials vary too much"
	case race.Stop == string(contest.StopUnmet):
		why = "more trials would not prove a value, because the throughput of one that missed --slo is not known"
	case race.Stop == string(contest.StopNothing):
		why = "no value could be measured"
	case race.Stop == string(contest.StopTime):
		why = "the next trials would take longer than --for"
	}
	if why == "" || w.r.TrialsRun+w.r.PilotsRun >= w.r.TrialsPlanned {
		return ""
	}
	if len(w.r.Best) > 0 { // one of several comparisons
		return "this comparison ended: " + why
	}
	return fmt.Sprintf("the sweep ended after %s: %s", ranOf(w.r), why)
}

// ranOf is how many trials a race took, of how many where these ended it and not its time.
func ranOf(r *verdict.Result) string {
	ran := r.TrialsRun + r.PilotsRun
	if outOfTime(r) {
		return phrase.Count(ran, "trial")
	}
	return fmt.Sprintf("%d of at most %s", ran, phrase.Count(r.TrialsPlanned, "trial"))
}
