package page

import (
	"fmt"
	"slices"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// verdict is how it ended, and where it came to its end, what is proven.
func (w canaryWords) verdict() Verdict {
	v := w.proven()
	if e := w.End; e == nil {
		v = unfinished("it has no end in its journal: its procfit was killed, or is at work", v)
	} else {
		switch e.Code {
		case journal.EndComplete, journal.EndUnreached:
		case journal.EndHarm:
			v.State, v.Label, v.Sentence = document.Attention, "Harm", w.harm(e.Harm)
			if e.Harm != nil && e.Harm.Setting == canary.Control {
				v.State, v.Label = document.Unknown, "Harm of the control"
			}
		case journal.EndInterrupted:
			v = unfinished("it was interrupted", v)
		default:
			v = unfinished(phrase.Clean(e.Reason), v)
		}
	}
	v.Context = w.how()
	for _, a := range w.Settings {
		if a.Procs != nil && a.Slices > 0 && !w.Unreached {
			v.Reasons = append(v.Reasons, w.reason(a))
		}
	}
	return v
}

func unfinished(why string, v Verdict) Verdict {
	v.Sentence = "The canary did not come to its end: " + why + ". What its slices say: " + v.Sentence
	v.State, v.Label = document.Unknown, "Not finished"
	return v
}

// proven is what the slices say.
func (w canaryWords) proven() Verdict {
	by := map[canary.Verdict][]string{}
	for _, a := range w.Settings {
		if a.Procs != nil {
			by[a.Verdict] = append(by[a.Verdict], phrase.Clean(a.Label))
		}
	}
	switch {
	case w.Counted == 0:
		return Verdict{State: document.Unknown, Label: "Nothing counted", Sentence: "No slice of time was counted."}
	case w.Unreached:
		return w.unreached()
	case by[canary.Better] != nil:
		return Verdict{State: document.Act, Label: "Better", Sentence: fmt.Sprintf("Under this traffic GOMAXPROCS %s is better than unset, and proven no worse in what is judged: %s.", phrase.And(by[canary.Better]), phrase.And(w.judged()))}
	case by[canary.Mixed] != nil:
		return Verdict{State: document.Attention, Label: "Trade-off", Sentence: fmt.Sprintf("Under this traffic GOMAXPROCS %s is better than unset in one figure and worse in another.", phrase.And(by[canary.Mixed]))}
	case by[canary.Worse] != nil && by[canary.Open] == nil:
		return Verdict{State: document.OK, Label: "Leave it unset", Sentence: fmt.Sprintf("Under this traffic GOMAXPROCS %s is worse than unset.", phrase.And(by[canary.Worse]))}
	}
	return w.open()
}

// unreached is that there was nothing to compare, with what is likely the cause and what
// helps.
func (w canaryWords) unreached() Verdict {
	over := ""
	if e := w.End; e != nil && e.Code == journal.EndUnreached {
		over = ", and it ended"
	}
	return Verdict{
		State: document.Unknown, Label: "No requests",
		Sentence: fmt.Sprintf("No request reached the canary's pods in %s%s: nothing was compared. Clients that keep their connections do not meet new pods, or %s gets no requests at all.",
			phrase.Count(w.Counted, "slice"), over, services(w.Header.Canary.Services)),
		Settle: []document.Item{
			{Text: "let clients open new connections: restart them, or limit how long a connection lives (gRPC: MaxConnectionAge)"},
			{Text: "put a proxy or a service mesh in front that spreads requests instead of connections"},
			{Text: "use a headless Service whose clients spread their requests over all its addresses"},
			{Text: "where clients reconnect now and then, give it more time: a longer --slice and --duration, since it ends when half of a round brought none"},
		},
	}
}

// open is that no value is better: of one that is so in a figure, where it may be worse.
func (w canaryWords) open() Verdict {
	const more = "more slices, or longer ones, may tell."
	v := Verdict{State: document.Unknown, Label: "Cannot tell", Sentence: "Under this traffic no value is proven better than unset: " + more}
	var list []string
	for _, a := range w.Settings {
		if a.Verdict == canary.Open && len(a.Better) > 0 {
			list = append(list, fmt.Sprintf("GOMAXPROCS %s is better than unset in %s, but may be worse in %s", phrase.Clean(a.Label), w.names(a.Better), w.names(a.Untold)))
		}
	}
	if list != nil {
		v.Sentence = "Under this traffic " + phrase.Semicolons(list) + ": " + more
	}
	return v
}

func (w canaryWords) names(figures []canary.Figure) string {
	var list []string
	for _, f := range figures {
		list = append(list, w.name(f))
	}
	return phrase.And(list)
}

// judged are the figures that decide.
func (w canaryWords) judged() (list []string) {
	for _, a := range w.Settings {
		for _, m := range a.Figures {
			if name := w.name(m.Figure); a.Procs != nil && w.Header.Judges(m.Figure) && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// worseBeside are the figures that do not decide, and in which a setting is worse all the
// same: a table that shows it must not stand under a sentence that is silent on it.
func (w canaryWords) worseBeside(a canary.SettingResult) (list []canary.Figure) {
	for _, m := range a.Figures {
		if low := m.Ratio.Low; !w.Header.Judges(m.Figure) && m.Figure != canary.FigureRequests && low != nil && *low > 1 {
			list = append(list, m.Figure)
		}
	}
	return list
}

// reason is what is proven of one setting.
func (w canaryWords) reason(a canary.SettingResult) string {
	s := "GOMAXPROCS " + phrase.Clean(a.Label) + ": "
	var parts []string
	if len(a.Better) > 0 {
		parts = append(parts, "proven better: "+w.told(a, a.Better))
	}
	if len(a.Worse) > 0 {
		parts = append(parts, "proven worse: "+w.told(a, a.Worse))
	}
	if len(a.Better) > 0 && len(a.Untold) > 0 {
		parts = append(parts, "not proven no worse: "+w.told(a, a.Untold))
	}
	if parts == nil {
		parts = []string{"nothing is proven different from the control"}
	}
	if beside := w.worseBeside(a); beside != nil {
		parts = append(parts, "higher, and not judged, as "+phrase.And(w.judged())+" decide: "+w.told(a, beside))
	}
	return s + phrase.Semicolons(parts)
}

// how is what was done, in a sentence.
func (w canaryWords) how() string {
	h := w.Header
	s := fmt.Sprintf("%s of %s, every setting in %s of ours beside a control as fresh, behind %s", phrase.Count(w.Counted, "slice"), number.Short(number.Seconds(h.Canary.SliceSeconds)), phrase.Count(h.Control().Replicas, "pod"), services(h.Canary.Services))
	if w.Comparisons > 1 {
		s += fmt.Sprintf("; the intervals hold in 95 %% of runs for all %d comparisons together", w.Comparisons)
	}
	return s + "."
}

func services(list []journal.Service) string {
	if len(list) == 1 {
		return "Service " + phrase.Clean(list[0].Name)
	}
	return phrase.Count(len(list), "Service")
}

// harm is what happened.
func (w canaryWords) harm(h *journal.Harm) string {
	if h == nil {
		return "The canary ended for harm."
	}
	who, why := "GOMAXPROCS "+phrase.Clean(h.Setting), ""
	if h.Setting == canary.Control {
		who, why = "The control", " The control runs as the service does: it was not a setting that did it."
	}
	switch h.Code {
	case journal.HarmEnded:
		return fmt.Sprintf("%s did not keep running, and the canary ended: %s.%s", who, phrase.Clean(h.Detail), why)
	case journal.HarmUnready:
		s := fmt.Sprintf("%s was not ready for %s, and the canary ended", who, number.Short(number.Seconds(canary.UnreadyMost.Seconds())))
		if h.Detail != "" {
			s += ": " + phrase.Clean(h.Detail)
		}
		return s + "." + why
	}
	by := "above the control's, which was 0,"
	if h.Ratio != nil {
		by = short(*h.Ratio, number.Digits) + " times the control's"
	}
	return fmt.Sprintf("%s did harm, and the canary ended: %s was %s over %s. The margin is %s, and chance alone ends fewer than one canary in 100 like this.",
		who, phrase.Clean(h.Query), by, phrase.Count(h.Slices, "slice"), number.Percent(w.Header.Plan.MarginP99))
}

// warnings are what weakens it.
func (w canaryWords) warnings() (list document.Notes) {
	add := func(setting, message, fix string) {
		list = append(list, document.Note{Subject: phrase.Clean(setting), Message: phrase.Clean(message), Fix: phrase.Clean(fix)})
	}
	if !w.PerRequest && w.Has(canary.FigureCPU) {
		add("", "CPU time is of a pod and not of a request, as no query told the requests: how the Service spread them is in it.",
			"--query requests='sum(increase(REQUESTS_TOTAL{pod=~\"$pods\"}[$slice]))' tells them")
	}
	for _, a := range w.Settings {
		m := a.Of(canary.FigureRequests)
		if !w.Unreached && (2*a.Idle > a.Slices || m != nil && m.Value.Median != nil && *m.Value.Median == 0) {
			add(a.Label, "no request came to it in most slices: clients that keep their connections for long do not meet new pods", "")
		}
		if a.Same {
			add(a.Label, "it is what unset comes to here: both are the same program, and what they differ in is chance", "")
		}
		if a.Slices > 0 && len(a.Observed) == 0 {
			add(a.Label, "the GOMAXPROCS that it ran with could not be read", "")
		}
	}
	for _, why := range w.unknown() {
		add("", why, "")
	}
	if n := w.Counted; n > 0 && n < 6 {
		add("", fmt.Sprintf("%s: an interval of so few says little", phrase.Count(n, "slice")), "a longer --duration has more of them")
	}
	return list
}

// unknown is why figures lack, each reason once with its count.
func (w canaryWords) unknown() (list []string) {
	n := map[string]int{}
	var order []string
	for _, s := range w.Slices {
		for _, a := range s.Settings {
			for _, one := range a.Warnings {
				if n[one.Detail]++; n[one.Detail] == 1 {
					order = append(order, one.Detail)
				}
			}
		}
	}
	for i, why := range order {
		if i == 5 {
			return append(list, fmt.Sprintf("%d more reasons in the journal", len(order)-i))
		}
		list = append(list, fmt.Sprintf("not known %s: %s", phrase.Count(n[why], "time"), why))
	}
	return list
}
