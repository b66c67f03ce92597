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

// liveWords are those of a live experiment. Its table and its charts are a canary's, whose
// control is the start value.
type liveWords struct {
	*verdict.Live
	canaryWords
}

func liveWordsOf(r *verdict.Result) liveWords {
	c := &verdict.Canary{Canary: journal.Canary{SliceSeconds: r.Live.SliceSeconds}, PerRequest: !r.Live.Uncounted}
	for i, s := range r.Live.Settings {
		if i == 0 {
			s.Procs = nil
		}
		c.Settings = append(c.Settings, s.CanarySetting)
	}
	return liveWords{r.Live, canaryWords{c, r}}
}

// ownTraffic is of what was measured under the program's own traffic.
func (v *View) ownTraffic(r *verdict.Result) {
	v.canary(r)
	v.live(r)
}

// live makes the values of a live experiment a group, as canary does.
func (v *View) live(r *verdict.Result) {
	if r.Live == nil {
		return
	}
	v.Name, v.Progress = v.Name+" under its own traffic", ""
	w := liveWordsOf(r)
	v.Groups = []Group{{ID: "g1", Verdict: w.verdict(), Table: w.table(), Facts: w.facts(), Paste: w.canaryWords.paste(), OverTime: w.charts()}}
}

// facts are what limits the answer.
func (w liveWords) facts() document.Pairs {
	share, queries := number.Ratio(), ""
	if len(w.Queries) > 0 {
		queries = ", queries " + share.Number(w.r.Plan.MarginP99)
	}
	var sized document.Pairs
	if list := phrase.CleanAll(w.SizedAtStart); len(list) > 0 {
		sized = document.Pairs{{Name: "Kept its size", Value: phrase.And(list) + ": a restart with another value changes it"}}
	}
	return append(document.Pairs{
		{Name: "Margins", Value: fmt.Sprintf("CPU time %s, p50 %s, p99 %s%s (a value that is worse by less is equally good)", share.Number(w.r.Plan.Margin), share.Number(live.MarginP50), share.Number(w.r.Plan.MarginP99), queries)},
		{Name: "Changes", Value: "from pairs of slices of the same block, so that a change can differ from the ratio of the two medians next to it"},
		{Name: "Proven for", Value: w.proofHolds()},
		w.sees(),
		{Name: "Not judged", Value: "memory: threads and caches of the highest value stay"},
	}, sized...)
}

// sees is what is known of requests, and what is not.
func (w liveWords) sees() document.Pair {
	switch {
	case w.Uncounted:
		return document.Pair{Name: "Requests", Value: "not known, so CPU time is per second: less may also mean that fewer requests are served, which then wait; a difference below 0.1 connections or 0.1 ms does not matter"}
	case w.Metrics != nil:
		return document.Pair{Name: "Requests", Value: "by " + phrase.Clean(cmp.Or(w.Metrics.Histogram, w.Metrics.Counter)) + " of " + phrase.Clean(w.Metrics.URL) + ": its latency omits the wait before the handler, which connections with unread requests show"}
	}
	return document.Pair{Name: "Not visible from inside", Value: "waits before the kernel has a request: in a client's pool, in a load balancer, until a connection is made"}
}

// proofHolds is what the proof is for.
func (w liveWords) proofHolds() string {
	from := w.r.Started.UTC()
	s := fmt.Sprintf("Go %s, %s", goVersion(w.r.Target.GoVersion), number.CPUs(w.r.Host.EffectiveCPUs))
	if w.Live.Seconds > 0 && !w.Uncounted { // else no slice counts
		s = fmt.Sprintf("%s to %s, %s", number.PerSecond("req/s").Number(w.Least), number.PerSecond("req/s").Value(w.Most), s)
	}
	if w.LimitCPUs > 0 {
		s += " under a CPU limit of " + number.BareCPUs(w.LimitCPUs)
	}
	if w.Live.End != nil {
		s += fmt.Sprintf(", %s to %s UTC", from.Format("15:04"), w.Live.End.Time.UTC().Format("15:04"))
	}
	return s
}

// verdict is how it ended, and what is proven.
func (w liveWords) verdict() Verdict {
	v := Verdict{State: document.Unknown, Label: "Not finished"}
	switch e := w.Live.End; {
	case e == nil:
		v.Sentence = liveUnfinished("its journal has no end: procfit was killed, or is still running")
	case e.Code == journal.EndHarm && e.Harm != nil && e.Harm.Code == journal.HarmBudget:
		v.State, v.Label, v.Answer.Text, v.Sentence = document.Attention, "Ended by its budget", "Ended by its budget", w.harm(e)
	case e.Code == journal.EndHarm:
		v.State, v.Label, v.Sentence = document.Attention, "Harm", w.harm(e)
		if e.Harm != nil {
			v.Answer.Text = "Harm at GOMAXPROCS " + phrase.Clip(phrase.Clean(e.Harm.Setting), nameRoom)
		}
	case e.Code == journal.EndComplete || e.Code == journal.EndDecided:
		v = w.compared()
	case e.Code == journal.EndInterrupted:
		v.Sentence = liveUnfinished("it was interrupted")
	default:
		v.Sentence = liveUnfinished(phrase.Clean(e.Reason))
	}
	if v.Answer.Text == "" {
		v.Answer.Text = v.Label
	}
	v.Context, v.Answer.Plain = w.how(), v.Sentence
	for _, s := range w.Live.Settings[1:] {
		v.Reasons = append(v.Reasons, w.reason(s))
	}
	return v
}

func liveUnfinished(why string) string { return "The experiment did not finish: " + why + "." }

func (w liveWords) start() string { return strconv.Itoa(w.Start) }

// compared is what the slices show.
func (w liveWords) compared() Verdict {
	rec := w.r.Recommendation
	if w.Same {
		return w.checked()
	}
	row := called(rec)
	v := Verdict{State: row.tone, Label: row.label}
	row.live(w, &v)
	return v
}

// came are the values that came to this.
func (w liveWords) came(o paired.Outcome) (list []verdict.LiveSetting) {
	for _, s := range w.Live.Settings {
		if s.Came == string(o) {
			list = append(list, s)
		}
	}
	return list
}

// cheaper is that the CPU time of some values is proven less, and what is not known of them.
// more is what may decide it; empty: no further slice does.
func (w liveWords) cheaper(v *Verdict, list []verdict.LiveSetting, more string) string {
	var labels, costs, open []string
	for _, s := range list {
		labels = append(labels, phrase.Clean(s.Label))
		costs = append(costs, w.differences(s.CanarySetting, []string{paired.FigureCPU}))
		for _, f := range s.In(verdict.OutcomeOpen) {
			if name := w.name(f); !slices.Contains(open, name) {
				open = append(open, name)
			}
		}
	}
	unknown := phrase.And(open) + " undecided"
	if open == nil {
		unknown, more = "latency unknown", ""
	}
	v.Label, v.Answer.Text = "Cheaper, not better", fmt.Sprintf("GOMAXPROCS %s costs less CPU; %s", phrase.Or(labels), unknown)
	v.Sentence = fmt.Sprintf("Under this traffic GOMAXPROCS %s takes less CPU time than %s, the value at start: %s. Do not change the value for that alone: ", phrase.And(labels), w.start(), phrase.And(costs))
	switch {
	case more != "":
		v.Sentence += phrase.And(open) + " may be worse, and " + more + "."
	case w.LatencyBy == live.ByArrival:
		v.Sentence += fmt.Sprintf("latency is not judged with fewer than %d requests in a slice; use a longer --slice.", live.FewRequests)
	case !w.Uncounted && w.Metrics == nil:
		v.Sentence += "latency is not known, because no request came through the Meter's Listener; add it to the program, or name a --query."
	default:
		v.Sentence += "nothing that waits was seen, neither requests nor goroutines; name the program's --metrics, or a --query."
	}
	return more
}

// checked is what the start value came to, compared with itself.
func (w liveWords) checked() Verdict {
	v := Verdict{State: document.OK, Label: "No difference", Sentence: "The value at start was compared with itself, and no difference was found: there is none."}
	if came := w.Live.Settings[1].Came; !slices.Contains([]string{string(paired.Open), string(paired.Same)}, came) {
		v.State, v.Label = document.Attention, "A difference from itself"
		v.Sentence = fmt.Sprintf("The value at start was compared with itself, and came out as %s. By chance this happens in fewer than 5 of 100 checks; if it happens again, do not trust an experiment on this program.", came)
	}
	return v
}

// confirm is how a value is confirmed that was set in a process which had started with
// another.
func (w liveWords) confirm(procs int) []document.Item {
	restart := fmt.Sprintf("restart the program with GOMAXPROCS=%d", procs)
	named := strings.Join(w.r.Spec.Operands, "")
	_, err := strconv.Atoi(named)
	switch {
	case named == "" || err == nil: // it has another process ID then
		return document.Items([]string{restart + ", and compare its CPU time and latency with those of before"})
	case procs > w.Start:
		return []document.Item{{Text: restart + ", and compare it with the old value", Command: spec.Spec{Command: "live", Operands: []string{named}}.With(spec.Set("procs", w.start())).Shell()}}
	}
	return []document.Item{{Text: restart + ", and compare its CPU time and latency with those of now", Command: spec.Spec{Command: "live", Operands: []string{named}}.With(spec.Set("for", "1m")).Shell()}}
}

// reason is what one value came to.
func (w liveWords) reason(s verdict.LiveSetting) string {
	lead := "GOMAXPROCS " + phrase.Clean(s.Label) + ": "
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
	var list []string
	for _, f := range s.Figures {
		if f.Outcome != verdict.OutcomeNotJudged {
			list = append(list, w.name(f.Name)+" "+changes(f.Ratio)+" ("+outcomeWords[f.Outcome]+")")
		}
	}
	text := lead + phrase.Clean(s.Came) + ": " + phrase.And(list)
	if s.Left > 0 {
		text += "; " + w.left(s)
	}
	return text
}

// left is how often a value was left because requests piled up.
func (w liveWords) left(s verdict.LiveSetting) string {
	last := ", the last time after"
	if s.Left == 1 {
		last = " after"
	}
	usual := number.Count(math.Round(w.InSystemMax))
	if b := s.Beyond; b != nil {
		usual = seenFigures[b.Metric].count(b.Usual)
	}
	return fmt.Sprintf("left %s%s %s with %s, where %s had at most %s", howOften(s.Left), last, number.Short(number.Seconds(s.LeftAfter)), Beyond(s.Beyond, s.InSystem), w.start(), usual)
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

// seenFigure is a metric that is seen of a program from outside, in words.
type seenFigure struct {
	name string
	unit number.Unit
	what string // that there are so many of
}

var seenFigures = map[string]seenFigure{
	live.FigureMean:       {"latency mean", number.Time(), ""},
	live.FigureLatencyP99: {"latency p99", number.Time(), ""},
	live.FigureUnread:     {"connections with unread requests", number.Plain(""), "connections with unread requests"},
	live.FigureSched:      {"scheduling latency p99", number.Time(), ""},
	live.FigureRunnable:   {"goroutines waiting for a CPU", number.Plain(""), "goroutines waiting for a CPU"},
	live.FigureThrottled:  {"throttled periods", number.Ratio(), "of the CPU limit's periods throttled"},
	live.FigureSwitches:   {"context switches per second", number.Plain(""), ""},
}

// count is so many of it.
func (f seenFigure) count(x float64) string {
	if f.unit == number.Ratio() {
		return number.Share(x)
	}
	return number.Count(math.Round(x))
}

func howOften(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return strconv.Itoa(n) + " times"
}

// how is what was done, and what a value that is set live cannot show.
func (w liveWords) how() string {
	s := fmt.Sprintf("Set live, with %s at start: what sized itself at start has kept its size. %s in random order, with slices of about %s, for %s", w.start(), phrase.Count(w.Blocks, "block"), number.Short(number.Seconds(w.Live.SliceSeconds)), w.proofHolds())
	if w.Carried {
		s += "; slices before the burn-in became longer are not used"
	}
	return s + "."
}

// harm is what happened.
func (w liveWords) harm(e *journal.End) string {
	if e.Harm == nil {
		return "The experiment ended because of harm."
	}
	who := "with GOMAXPROCS " + phrase.Clean(e.Harm.Setting)
	switch e.Harm.Code {
	case journal.HarmBudget:
		return fmt.Sprintf("The experiment ended before another slice %s: it might cost more than is left of the budget of %s slow or failed requests beyond those of %s. That the value caused them is not proven by this.", who, number.Count(w.Budget), w.start())
	case journal.HarmPanic:
		return fmt.Sprintf("A handler panicked %s, so the experiment ended.", who)
	case journal.HarmQuery:
		return fmt.Sprintf("A query is proven worse %s, so the experiment ended: %s. By chance alone, fewer than 1 experiment in 100 ends like this.", who, w.above(e.Harm))
	}
	return fmt.Sprintf("The process did not keep running %s, so the experiment ended: %s.", who, phrase.Clean(e.Harm.Detail))
}
