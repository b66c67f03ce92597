package page

import (
	"fmt"
	"slices"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/paired"
)

// verdict is how it ended, and where it came to its end, what is proven.
func (w canaryWords) verdict() Verdict {
	v := Verdict{State: document.Unknown, Label: "Not finished", Answer: Answer{Text: "Not finished"}}
	switch e := w.End; {
	case e == nil:
		v.Sentence = unfinished("its journal has no end: procfit was killed, or is still running")
	case e.Code == journal.EndComplete || e.Code == journal.EndDecided || e.Code == journal.EndUnreached:
		v = w.compared()
	case e.Code == journal.EndHarm:
		v.State, v.Label, v.Sentence = document.Attention, "Harm", w.harm(e.Harm)
		v.Answer.Text = "The canary found harm"
		if h := e.Harm; h != nil && h.Setting == canary.Control {
			v.State, v.Label, v.Answer.Text = document.Unknown, "Harm to the control", "Harm to the control"
		} else if h != nil {
			v.Answer.Text = "Harm at GOMAXPROCS " + phrase.Clip(phrase.Clean(h.Setting), nameRoom)
		}
	case e.Code == journal.EndInterrupted:
		v.Sentence = unfinished("it was interrupted")
	default:
		v.Sentence = unfinished(phrase.Clean(e.Reason))
	}
	v.Context, v.Answer.Plain = w.how(), v.Sentence
	for _, a := range w.Settings {
		if a.Procs != nil && a.Slices > 0 && !w.Unreached {
			v.Reasons = append(v.Reasons, w.reason(a))
		}
	}
	return v
}

func unfinished(why string) string { return "The canary did not finish: " + why + "." }

// compared is what the slices show.
func (w canaryWords) compared() Verdict {
	rec := w.r.Recommendation
	row := called(rec)
	v := Verdict{State: row.tone, Label: row.label}
	v.Answer.Text = v.Label
	switch {
	case w.Canary.Slices == 0:
		v.Answer.Text, v.Sentence = "Nothing was counted", "The canary has no complete slice."
	case w.Unreached:
		w.unreached(&v)
	default:
		row.canary(w, &v)
	}
	return v
}

// twiceAsLong is what may decide an experiment in a running program.
func twiceAsLong(r *verdict.Result) []document.Item {
	return []document.Item{{Text: "measure for twice as long", Command: r.Spec.With(spec.Part("for", "", doubled(r.Load.DurationSeconds)), fresh).Shell()}}
}

// proven are the settings of a verdict.
func (w canaryWords) proven(v verdict.Verdict) (list []string) {
	for _, a := range w.Settings {
		if a.Verdict == v {
			list = append(list, phrase.Clean(a.Label))
		}
	}
	return list
}

// unreached is that there was nothing to compare, with what is likely the cause and what
// helps.
func (w canaryWords) unreached(v *Verdict) {
	over := ""
	if e := w.End; e != nil && e.Code == journal.EndUnreached {
		over = ", so the canary ended"
	}
	v.Label, v.Answer.Text = "No requests", "No requests"
	v.Sentence = fmt.Sprintf("No request reached the canary pods in %s%s: nothing was compared. Either clients keep their connections open and do not reach new pods, or %s gets no requests at all.",
		phrase.Count(w.Canary.Slices, "slice"), over, services(w.Services))
	v.Settle = document.Items([]string{
		"let clients open new connections: restart them, or limit how long a connection lives (gRPC: MaxConnectionAge)",
		"use a proxy or a service mesh that distributes requests instead of connections",
		"use a headless Service whose clients distribute their requests over all its addresses",
		"if clients reconnect from time to time, use a longer --slice and --for: a canary ends when half of a round had no requests",
	})
}

// open is that no value is better: of one that is so in a metric, where it may be worse.
func (w canaryWords) open() string {
	const more = ": more slices may decide it."
	var list []string
	for _, a := range w.Settings {
		if better := a.In(verdict.OutcomeBetter); a.Verdict == verdict.CannotTell && better != nil {
			list = append(list, fmt.Sprintf("GOMAXPROCS %s is better than the default in %s, but may be worse in %s", phrase.Clean(a.Label), w.names(better), w.names(a.In(verdict.OutcomeOpen))))
		}
	}
	if list == nil {
		return "Under this traffic no value is proven better than the default" + more
	}
	return "Under this traffic " + phrase.Semicolons(list) + more
}

func (w canaryWords) names(figures []string) string {
	var list []string
	for _, f := range figures {
		list = append(list, w.name(f))
	}
	return phrase.And(list)
}

// judged are the metrics that decide.
func (w canaryWords) judged() (list []string) {
	for _, a := range w.Settings {
		for _, m := range a.Figures {
			if name := w.name(m.Name); a.Procs != nil && m.Outcome != verdict.OutcomeNotJudged && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// worseBeside are the metrics that do not decide, and in which a setting is worse all the
// same: a table that shows it must not be under a sentence that is silent on it.
func worseBeside(a verdict.CanarySetting) (list []string) {
	for _, m := range a.Figures {
		if low := m.Ratio.Low; m.Outcome == verdict.OutcomeNotJudged && m.Name != paired.FigureRequests && low != nil && *low > 1 {
			list = append(list, m.Name)
		}
	}
	return list
}

// reason is what is proven of one setting.
func (w canaryWords) reason(a verdict.CanarySetting) string {
	better, worse, open := a.In(verdict.OutcomeBetter), a.In(verdict.OutcomeWorse), a.In(verdict.OutcomeOpen)
	var parts []string
	if better != nil {
		parts = append(parts, "proven better: "+w.differences(a, better))
	}
	if worse != nil {
		parts = append(parts, "proven worse: "+w.differences(a, worse))
	}
	if better != nil && open != nil {
		parts = append(parts, "not proven to be no worse: "+w.differences(a, open))
	}
	if parts == nil {
		parts = []string{"no difference from the control is proven"}
	}
	if beside := worseBeside(a); beside != nil {
		parts = append(parts, "higher, but not judged, because "+phrase.And(w.judged())+" decide: "+w.differences(a, beside))
	}
	return "GOMAXPROCS " + phrase.Clean(a.Label) + ": " + phrase.Semicolons(parts)
}

// how is what was done, in a sentence.
func (w canaryWords) how() string {
	replicas := 0
	for _, a := range w.Settings {
		replicas = a.Replicas // as each has
	}
	s := fmt.Sprintf("%s of %s, every setting in %s next to control pods of the same age, behind %s", phrase.Count(w.Canary.Slices, "slice"), number.Short(number.Seconds(w.SliceSeconds)), phrase.Count(replicas, "pod"), services(w.Services))
	if w.Comparisons > 1 {
		s += fmt.Sprintf("; the 95%% intervals hold for all %d comparisons together", w.Comparisons)
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
		return "The canary ended because of harm."
	}
	who, why := "GOMAXPROCS "+phrase.Clean(h.Setting), ""
	if h.Setting == canary.Control {
		who, why = "The control", " The control runs like the service, so a setting is not the cause."
	}
	switch h.Code {
	case journal.HarmEnded:
		return fmt.Sprintf("%s did not keep running, so the canary ended: %s.%s", who, phrase.Clean(h.Detail), why)
	case journal.HarmUnready:
		s := fmt.Sprintf("%s was not ready for %s, so the canary ended", who, number.Short(number.Seconds(canary.UnreadyMost.Seconds())))
		if h.Detail != "" {
			s += ": " + phrase.Clean(h.Detail)
		}
		return s + "." + why
	}
	return fmt.Sprintf("%s did harm, so the canary ended: %s. By chance alone, fewer than 1 canary in 100 ends like this.", who, w.above(h))
}

// above is how far a query was above that of the control.
func (w canaryWords) above(h *journal.Harm) string {
	by := "above that of " + w.control() + ", which was 0,"
	if h.Ratio != nil {
		by = short(*h.Ratio, number.Digits) + " times that of " + w.control()
	}
	return fmt.Sprintf("%s was %s over %s. The margin is %s", w.name(h.Query), by, phrase.Count(h.Slices, "slice"), number.Percent(w.r.Plan.MarginP99))
}
