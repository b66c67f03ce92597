package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/paired"
)

func (w experiment) liveFacts() document.Pairs {
	share, queries := number.Ratio(), ""
	if len(w.live.Queries) > 0 {
		queries = ", queries " + share.Number(w.r.Plan.MarginP99)
	}
	var sized document.Pairs
	if list := w.live.SizedAtStart; len(list) > 0 {
		sized = document.Pairs{{Name: "Kept its size", Value: phrase.And(list) + ": a restart with another value changes it"}}
	}
	blocks := fmt.Sprintf("%s in random order, with slices of about %s", phrase.Count(w.live.Blocks, "block"), number.Short(number.Seconds(w.SliceSeconds)))
	if w.live.Carried {
		blocks += "; slices before the burn-in became longer are not used"
	}
	return append(document.Pairs{
		{Name: "Margins", Value: fmt.Sprintf("CPU time %s, p50 %s, p99 %s%s (a value that is worse by less is equally good)", share.Number(w.r.Plan.Margin), share.Number(live.MarginP50), share.Number(w.r.Plan.MarginP99), queries)},
		{Name: "Changes", Value: "from pairs of slices of the same block, so that a change can differ from the ratio of the two medians next to it"},
		{Name: "Blocks", Value: blocks},
		w.sees(),
		{Name: "Not judged", Value: "memory: threads and caches of the highest value stay"},
	}, sized...)
}

func (w experiment) sees() document.Pair {
	switch {
	case w.live.Uncounted:
		return document.Pair{Name: "Requests", Value: "not known, so CPU time is per second: less may also mean that fewer requests are served, which then wait; a difference below 0.1 connections or 0.1 ms does not matter"}
	case w.live.Metrics != nil:
		by := "by " + cmp.Or(w.live.Metrics.Histogram, w.live.Metrics.Counter) + " of " + w.live.Metrics.URL
		if w.live.LatencyBy == live.ByMetrics {
			by += ": its latency omits the wait before the handler, which connections with unread requests show"
		}
		slow, failed := live.Harmed(&w.live.Live)
		if !slow {
			by += "; which requests are slow is not known"
		}
		if !failed {
			by += "; which requests fail is not known, because its labels do not have the status of every answer"
		}
		return document.Pair{Name: "Requests", Value: by + w.withoutP99()}
	}
	return document.Pair{Name: "Not visible from inside", Value: "waits before the kernel has a request: in a client's pool, in a load balancer, until a connection is made"}
}

// withoutP99 is why the program's own histogram has no p99; empty: it has.
func (w experiment) withoutP99() string {
	known := func(s verdict.CanarySetting) bool { return s.Of(live.FigureLatencyP99) != nil }
	if w.live.LatencyBy != live.ByMetrics || slices.ContainsFunc(w.Settings, known) {
		return ""
	}
	return "; its p99 is not known, because 99% of the requests are in the first bucket of the histogram, or more than 1% in the last"
}

// rates are the requests per second of the slices that count; empty: that is not known.
func (w experiment) rates() string {
	if w.live.Seconds <= 0 || w.live.Uncounted {
		return ""
	}
	return number.PerSecond("req/s").Number(w.live.Least) + " to " + number.PerSecond("req/s").Value(w.live.Most)
}

func (w experiment) liveOn() []string {
	parts := []string{number.CPUs(w.r.Host.EffectiveCPUs)}
	switch {
	case w.live.LimitCPUs > 0:
		parts = append(parts, "limit "+number.CPUs(w.live.LimitCPUs))
	case w.live.LimitUnknown, w.r.Host.LimitsUnknown:
		parts = append(parts, noKnownLimit)
	default:
		parts = append(parts, "no CPU limit")
	}
	if v := goVersion(w.r.Target.GoVersion); v != "" {
		parts = append(parts, "Go "+v)
	}
	if rate := w.rates(); rate != "" {
		parts = append(parts, rate)
	}
	return append(parts, phrase.Count(w.live.Blocks, "block"))
}

func (w experiment) came(o paired.Outcome) (list []verdict.LiveSetting) {
	if w.live == nil {
		return nil
	}
	for _, s := range w.live.Settings {
		if s.Came == string(o) {
			list = append(list, s)
		}
	}
	return list
}

// cheaper returns what may decide it; empty: no further slice does.
func (w experiment) cheaper(v *Verdict, list []verdict.LiveSetting, more string) string {
	var labels, costs, open []string
	for _, s := range list {
		labels = append(labels, s.Label)
		costs = append(costs, w.differences(s.CanarySetting, []string{paired.FigureCPU}))
		for _, f := range s.In(verdict.OutcomeUndecided) {
			if name := w.figureName(f); !slices.Contains(open, name) {
				open = append(open, name)
			}
		}
	}
	unknown := phrase.And(open) + " may be worse"
	if open == nil {
		unknown, more = "latency is not known", ""
	}
	v.Answer.Text = fmt.Sprintf("%s: GOMAXPROCS %s costs less CPU, but %s", labelUndecided, phrase.Or(labels), unknown)
	v.Answer.Plain = fmt.Sprintf("Under this traffic GOMAXPROCS %s takes less CPU time than %s: %s. Do not change the value for that alone: ", phrase.And(labels), w.start(), phrase.And(costs))
	switch {
	case more != "":
		v.Answer.Plain += phrase.And(open) + " may be worse, and " + more + "."
	case w.live.LatencyBy == live.ByArrival:
		v.Answer.Plain += fmt.Sprintf("latency is not judged with fewer than %d requests in a slice; use a longer --slice.", live.FewRequests)
	case !w.live.Uncounted && w.live.Metrics == nil:
		v.Answer.Plain += "latency is not known, because no request came through the Meter's Listener; add it to the program, or name " + phrase.If(w.inPod(), "the program's --metrics.", "a --query.")
	default:
		v.Answer.Plain += "nothing that waits was seen, neither requests nor goroutines; name the program's --metrics" + phrase.If(w.inPod(), ".", ", or a --query.")
	}
	return more
}

// checked is what the start value came to, compared with itself.
func (w experiment) checked() Verdict {
	v := Verdict{State: document.OK, Label: "No difference", Answer: Answer{Text: "No difference", Plain: "The value at start was compared with itself, and no difference was found: there is none."}}
	switch came := w.live.Settings[1].Came; paired.Outcome(came) {
	case paired.Undecided, paired.Same:
	case paired.Left:
		v.State, v.Label, v.Answer.Text = document.Attention, "Bursts", "Left because of bursts"
		v.Answer.Plain = "The value at start was compared with itself, and was left for harm. The traffic or the machine has bursts that the baseline did not have: use a longer --baseline, or a value that does no harm may be left, too."
	default:
		v.State, v.Label, v.Answer.Text = document.Attention, "A difference from itself", "A difference from itself"
		v.Answer.Plain = fmt.Sprintf("The value at start was compared with itself, and came out as %s. By chance this happens in fewer than 5 of 100 checks; if it happens again, do not trust an experiment on this program.", came)
	}
	return v
}

// inPod reports whether the program is one of a pod, which procfit only tries values in.
func (w experiment) inPod() bool { return w.r.Spec.Command == "kube live" }

// confirm is how a value is confirmed that was not the one at start.
func (w experiment) confirm(procs int) []document.Item {
	restart := fmt.Sprintf("restart the program with GOMAXPROCS=%d", procs)
	named := strings.Join(w.r.Spec.Operands, "")
	again := spec.Spec{Command: "live", Operands: []string{named}}
	if w.inPod() {
		again = w.r.Spec.With(newFolder)
	}
	_, err := strconv.Atoi(named)
	switch {
	case named == "" || err == nil || w.inPod() && procs < w.live.Start: // it has another process ID then, or cannot be watched
		return document.Items([]string{restart + ", and compare its CPU time and latency with those of before"})
	case procs > w.live.Start:
		return []document.Item{{Text: restart + ", and compare it with the old value", Command: again.With(spec.Set("procs", strconv.Itoa(w.live.Start))).Shell()}}
	}
	return []document.Item{{Text: restart + ", and compare its CPU time and latency with those of now", Command: again.With(spec.Set("for", "1m")).Shell()}}
}

func (w experiment) liveReason(s verdict.LiveSetting) string {
	lead := "GOMAXPROCS " + s.Label + ": "
	switch {
	case s.Came == string(paired.Left):
		return lead + w.left(s)
	case s.Failing:
		return lead + "worse: more of its requests fail than with " + w.start()
	case s.Unequal:
		return lead + "not judged, because its requests per second differ from those of " + w.start()
	case s.Slices == 0:
		return lead + "no slice was counted"
	}
	text := w.reason(s.CanarySetting)
	if s.Left > 0 {
		text += "; " + w.left(s)
	}
	return text
}

// left is how often a value was left because requests piled up.
func (w experiment) left(s verdict.LiveSetting) string {
	last := phrase.If(s.Left == 1, " after", ", the last time after")
	usual := number.Count(math.Round(w.live.InSystemMax))
	if b := s.Beyond; b != nil {
		usual = seenFigures[b.Metric].count(b.Usual)
	}
	return fmt.Sprintf("left %s%s %s with %s, where %s had at most %s", cmp.Or(map[int]string{1: "once", 2: "twice"}[s.Left], phrase.Count(s.Left, "time")), last, number.Short(number.Seconds(s.LeftAfter)), Beyond(s.Beyond, s.InSystem), w.start(), usual)
}

// Beyond is what a value was left for: a metric that is seen from outside, else how many
// requests were in the system.
func Beyond(b *journal.Beyond, inSystem float64) string {
	if b == nil {
		return number.Count(math.Round(inSystem)) + " requests in the system"
	}
	f := seenFigures[b.Metric]
	return f.count(b.Value) + " " + f.what
}

func (w experiment) liveHarm(h *journal.Harm) string {
	who := "with GOMAXPROCS " + h.Setting
	switch h.Code {
	case journal.HarmBudget:
		return fmt.Sprintf("The experiment ended before another slice %s: it might cost more than is left of the budget of %s slow or failed requests beyond those of %s. That the value caused them is not proven by this.", who, number.Count(w.live.Budget), w.start())
	case journal.HarmPanic:
		return fmt.Sprintf("A handler panicked %s, so the experiment ended.", who)
	case journal.HarmQuery:
		return fmt.Sprintf("A query is proven worse %s, so the experiment ended: %s. By chance alone, fewer than 1 experiment in 100 ends like this.", who, w.above(h))
	}
	return fmt.Sprintf("The process did not keep running %s, so the experiment ended: %s.", who, h.Detail)
}
