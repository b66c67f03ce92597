package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/paired"
)

func (w experiment) set(v *Verdict) {
	rec := w.r.Recommendation
	v.Answer.Text = "Set GOMAXPROCS=" + strings.Join(w.proven(verdict.Recommended), " or ")
	proven := "proven "
	if rec.Confidence == verdict.Likely {
		proven = ""
	}
	v.Answer.Plain = fmt.Sprintf("%s is better than %s, and %sno worse in the judged metrics: %s.", w.underThis(), w.start(), proven, phrase.And(w.judged()))
	if text := w.against(verdict.Recommended); text != "" {
		v.Answer.Plain = "Compared with " + w.start() + ": " + text + "."
	}
	if rec.Procs != nil {
		v.Answer.Apply = "export GOMAXPROCS=" + strconv.Itoa(*rec.Procs)
		if w.live != nil {
			v.Next = w.confirm(*rec.Procs)
		}
	}
}

func (w experiment) keep(v *Verdict) {
	v.Answer.Text = "Keep " + w.start()
	v.Answer.Plain = "Nothing we tried is better than " + w.start() + " under this traffic."
}

func (w experiment) noDifference(v *Verdict) {
	v.Answer.Text, v.Answer.Plain = makesNoDifference, "All values perform the same under this traffic, within the margins."
}

func (w experiment) tradeOff(v *Verdict) {
	v.Answer.Text, v.Answer.Plain = v.Label, w.underThis()+" is better than "+w.start()+" in one metric and worse in another."
	for _, a := range w.Settings {
		if better, worse := a.In(verdict.OutcomeBetter), a.In(verdict.OutcomeWorse); a.Verdict == verdict.TradeOff && better != nil && worse != nil {
			v.Answer.Text = v.Label + ": choose " + w.name(better[0]) + " or " + w.name(worse[0])
			break
		}
	}
	if text := w.against(verdict.TradeOff); text != "" {
		v.Answer.Plain = fmt.Sprintf("GOMAXPROCS=%s compared with %s: %s.", w.proven(verdict.TradeOff)[0], w.start(), text)
	}
}

func (w experiment) undecided(v *Verdict) {
	more, instead := "more slices may decide it", "measure for twice as long"
	if others := w.others(); others != "" {
		more, instead = "more slices, or a quieter machine, may decide it, since "+others, "stop the other programs, or "+instead
	}
	void, open := w.void()
	v.Answer.Text, v.Answer.Plain = changeNothing, w.open(more)+w.byLimit()
	if void != nil && !open {
		v.Answer.Plain = "Under this traffic no value is proven better than " + w.start() + "."
	}
	for _, a := range w.Settings {
		if better := a.In(verdict.OutcomeBetter); a.Verdict == verdict.Undecided && better != nil {
			v.Answer.Text = fmt.Sprintf("%s so far: GOMAXPROCS %s is better in %s", labelUndecided, a.Label, w.names(better))
			break
		}
	}
	if list := w.came(paired.Cheaper); list != nil {
		more = w.cheaper(v, list, more)
	}
	if more != "" && instead != "" && (open || void == nil) {
		v.Next = []document.Item{{Text: instead, Command: w.r.Spec.With(spec.Part("for", "", doubled(w.r.Load.DurationSeconds)), newFolder).Shell()}}
	}
	for _, why := range void {
		v.Answer.Plain += " " + phrase.Capital(why.text) + "."
		v.Next = append(v.Next, document.Item{Text: why.fix})
	}
}

// void are why values prove nothing, each once, and open reports whether more slices may decide
// another value.
func (w experiment) void() (list []wording, open bool) {
	for _, a := range w.Settings {
		open = open || a.Verdict == verdict.Undecided && a.Void == nil
		if a.Void == nil || a.Verdict == "" {
			continue
		}
		if why := w.words().say(a.Void); !slices.Contains(list, why) {
			list = append(list, why)
		}
	}
	return list, open
}

func (w experiment) words() words { return words{&verdict.Group{}, w.r} }

// chooseOne is of several values that are better; empty: there is one.
func (w experiment) chooseOne() string {
	if w.r.Recommendation.Procs != nil {
		return ""
	}
	if w.r.Recommendation.Confidence == verdict.Likely {
		return cmp.Or(w.keepsStart(), untilMore)
	}
	return "Choose one of " + phrase.And(w.proven(verdict.Recommended)) + "; each is proven better than " + w.start() + "."
}

// keepsStart is of a value at start, which may have been set; empty: it is the default.
func (w experiment) keepsStart() string {
	if w.live == nil || w.r.Recommendation.Procs != nil {
		return ""
	}
	return "Nothing to set: keep " + w.start() + ", the value at start."
}
