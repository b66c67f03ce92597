package page

import (
	"fmt"
	"strconv"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
)

// verdictRow has the words of a verdict, for each place that reports it.
type verdictRow struct {
	tone  document.Tone
	label string // its name, as JSON has it: in a badge, in a table, next to other groups
	mark  string // next to its row in a table; may be empty
	sets  bool   // it may name a value to set

	// Of a group: the answer in about four words, and what to put where.
	answer func(*group) string
	paste  func(*group) Paste

	compared func(*group, *Verdict) // of a variable's values

	// Of an experiment under a program's own traffic, and what there is to set then; empty: as of
	// a group.
	experiment func(experiment, *Verdict)
	after      func(experiment) string
}

// verdicts has the words of every verdict. What no sweep, variable or experiment comes to has
// those of the verdict that is nearest.
var verdicts = map[verdict.Verdict]verdictRow{
	verdict.Recommended: {
		tone: document.Act, label: "Recommended", mark: "recommended", sets: true,
		answer: (*group).setOrKeep, paste: (*group).pasteRecommended,
		compared: func(g *group, v *Verdict) {
			v.State, v.Label, v.Answer.Plain = document.Act, "Best: "+g.Recommendation.Setting, g.comparedChange()
		},
		experiment: experiment.setValue, after: experiment.chooseOne,
	},
	verdict.SustainsRate: {
		tone: document.Act, label: "Sustains the rate", mark: "recommended", sets: true,
		answer: (*group).setOrKeep, paste: (*group).pasteSmallest,
		compared: (*group).keeps, experiment: experiment.undecided, after: experiment.keepsStart,
	},
	verdict.KeepDefault: {
		tone: document.OK, label: labelKeepDefault, mark: "keep",
		answer: (*group).setOrKeep,
		paste:  pasteNothing("Nothing to set: keep the default. Where GOMAXPROCS is set, remove it."), compared: (*group).keeps,
		experiment: experiment.keepValue, after: experiment.keepsStart,
	},
	verdict.NoDifference: {
		tone: document.OK, label: "No difference",
		answer: constant(makesNoDifference),
		paste:  pasteNothing("Nothing to set: GOMAXPROCS makes no difference here. Keep the default, and profile the program."), compared: (*group).keeps,
		experiment: experiment.noDifference, after: experiment.keepsStart,
	},
	verdict.Measured: {
		tone: document.OK, label: "As it runs",
		answer: func(g *group) string {
			if procs := g.Recommendation.Of().Procs; procs > 0 {
				return fmt.Sprintf("Uses GOMAXPROCS=%d", procs)
			}
			return "Measured as it runs"
		},
		paste:    pasteNothing("Nothing to set: procfit measured the server as it runs and compared nothing."),
		compared: (*group).keeps, experiment: experiment.undecided, after: experiment.keepsStart,
	},
	verdict.TradeOff: {
		tone: document.Attention, label: "Trade-off",
		answer: constant("Trade-off: choose throughput or latency"),
		paste:  (*group).pasteTwo, compared: (*group).keeps,
		experiment: experiment.tradeOff,
		after: func(w experiment) string {
			return "Nothing to set yet: choose which metric matters more. GOMAXPROCS " + phrase.And(w.proven(verdict.TradeOff)) + " is better in one and worse in another."
		},
	},
	verdict.Undecided: {
		tone: document.Unknown, label: labelUndecided,
		answer: func(g *group) string {
			_, differ := g.Recommendation.Claim.(verdict.CauseBenchmarksDiffer)
			switch names, wants := g.apart(); {
			case !differ || len(names) == 0:
				return changeNothing
			case len(names) == 1:
				return fmt.Sprintf("Benchmarks disagree: %s is best at %d", names[0], wants[0])
			default:
				return fmt.Sprintf("Benchmarks disagree: %d of %d", len(names), len(g.Benchmarks.List))
			}
		},
		paste: pasteNothing("Nothing to set yet: no value is proven better than the default."), compared: (*group).undecided,
		experiment: experiment.undecided,
		after: func(w experiment) string {
			return "Nothing to set yet: no value is proven better than " + w.start() + "."
		},
	},
}

// called has a label of its own for what is likely, so that nobody takes it for proven, and for a rate
// that is too high, which is decided. What is not known is undecided.
func called(rec *verdict.Recommendation) verdictRow {
	row, known := verdicts[rec.Verdict]
	if !known {
		row = verdicts[verdict.Undecided]
	}
	if rec.Confidence == verdict.Likely {
		row.tone, row.label = document.Attention, labelNotProven
	}
	if none, is := rec.Claim.(verdict.CauseRateNotCarried); is && none.Proven {
		row.tone, row.label, row.answer = document.Attention, labelNotEnough, constant(labelNotEnough)
		row.paste = pasteNothing("Nothing to set: no measured value of GOMAXPROCS sustains the rate.")
	}
	return row
}

func constant(text string) func(*group) string { return func(*group) string { return text } }

// advised is the value that a verdict says to set; nil: it says none.
func advised(rec *verdict.Recommendation) *int {
	if called(rec).sets {
		return rec.Procs
	}
	return nil
}

func (g *group) setOrKeep() string {
	rec := &g.Recommendation
	switch likely := rec.Confidence == verdict.Likely; {
	case rec.Procs != nil && likely:
		return fmt.Sprintf("Likely GOMAXPROCS=%d", *rec.Procs)
	case rec.Procs != nil && g.unclear() != nil:
		return fmt.Sprintf("Recommended: GOMAXPROCS=%d; change nothing yet", *rec.Procs)
	case rec.Procs != nil:
		return fmt.Sprintf("Set GOMAXPROCS=%d", *rec.Procs) + g.besides()
	case likely:
		return "Likely: keep the default" + g.defaultProcs()
	case rec.Verdict == verdict.KeepDefault:
		return labelKeepDefault + g.defaultProcs() + g.besides()
	}
	return labelKeepDefault + g.defaultProcs()
}

// defaultProcs is what the default comes to, behind its name; empty: that is not known.
func (g *group) defaultProcs() string {
	if n, known := ps(g.rowOfUnset()); known {
		return fmt.Sprintf(" (%d)", n)
	}
	return ""
}

// margins are how much worse still counts as equally good, in what was compared.
func (w words) margins() string {
	if w.Latency.Quantile == 0 || w.leftOut(contest.ExcludedShared, contest.ExcludedLatency) {
		return w.throughputMargin()
	}
	return fmt.Sprintf("%s (%s: %s)", number.Percent(w.r.Plan.Margin), w.quantile(), number.Percent(w.r.Plan.MarginP99))
}

func (w words) throughputMargin() string { return number.Percent(w.r.Plan.Margin) + " in throughput" }

func pasteNothing(text string) func(*group) Paste {
	return func(g *group) Paste { return Paste{Lead: phrase.If(g.likely(), untilMore, text)} }
}

// pasteRecommended is the value, if it is proven: what is not is not to be deployed.
func (g *group) pasteRecommended() Paste {
	if rec := &g.Recommendation; rec.Confidence == verdict.Likely && rec.Procs != nil {
		return Paste{Lead: fmt.Sprintf("Nothing to set yet: it is likely, but not proven, that GOMAXPROCS=%d performs as well as the best.", *rec.Procs)}
	}
	return g.pasteSmallest()
}

func (g *group) pasteSmallest() Paste {
	if n := g.Recommendation.Procs; n != nil && g.Recommendation.Confidence != verdict.Likely {
		if c := g.unclear(); c != nil {
			return Paste{Lead: "Nothing to set yet. " + c.Question + " " + phrase.Capital(c.Detail) + "."}
		}
		lead := "Use one of the following:"
		if p := g.Part; p != nil {
			lead = fmt.Sprintf("For %d of %s only. ", p.CPUs, number.CPUs(float64(p.Of))) + lead
		}
		return Paste{Lead: lead, Snippets: g.snippets(*n)}
	}
	return pasteNothing("Nothing to set: keep the default. Where GOMAXPROCS is set, remove it.")(g)
}

func (g *group) pasteTwo() Paste {
	rec := &g.Recommendation
	if rec.Confidence == verdict.Likely {
		return Paste{Lead: untilMore}
	}
	p := Paste{Lead: "Choose one of two; each is proven best for its purpose:"}
	for _, side := range []struct{ title, label string }{{"For throughput", rec.BestThroughput}, {"For " + g.quantile(), rec.BestP99}} {
		switch a := g.setting(side.label); {
		case a == nil:
		case a.Procs == nil:
			p.Snippets = append(p.Snippets, document.Code{Title: side.title, Note: "keep the default: do not set GOMAXPROCS"})
		default:
			p.Snippets = append(p.Snippets, document.Code{Title: side.title, Text: "GOMAXPROCS=" + strconv.Itoa(*a.Procs)})
		}
	}
	return p
}

func (g *group) keeps(v *Verdict) {
	best := g.Recommendation.Setting
	v.State, v.Label = document.OK, "Keep "+best
	v.Answer.Plain = fmt.Sprintf("No other value is better than %s, or as good with less memory.", best)
}

func (g *group) undecided(v *Verdict) {
	v.State, v.Label, v.Answer.Plain = document.Unknown, labelUndecided, "No value is proven as good as all others."
	if len(g.tooLarge()) == len(g.rows) && len(g.rows) > 0 {
		v.Answer.Plain = "Every value used more memory than " + mostMemory(g.r) + "."
	} else if list := g.named(contest.ExcludedUnweighed); len(list) > 0 && len(list) == len(g.rows) {
		v.Answer.Plain = "The memory of no value could be read, so it is unknown whether it is within " + mostMemory(g.r) + "."
	} else if list := g.named(contest.ExcludedTooFewCPUs); list != nil {
		v.Answer.Plain = "Other programs used the CPUs, so some values cannot be compared: " + phrase.And(list) + "."
	}
}
