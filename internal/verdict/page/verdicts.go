package page

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
)

// verdictRow has the words of a verdict, for each place that reports it.
type verdictRow struct {
	tone   document.Tone
	label  string // its name, as JSON has it: in a badge, in a table, next to other groups
	prefix string // begins a sentence that has no label before it; may be empty
	mark   string // next to its row in a table; may be empty
	sets   bool   // it may name a value to set

	// Of a group: the answer in about four words, why in one or two sentences that need no table
	// (empty: the sentence of the claim is plain), and what to put where.
	answer func(*group) string
	plain  func(*group, words) string
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
		answer: (*group).setOrKeep, plain: (*group).comparedWithDefault, paste: (*group).pasteRecommended,
		compared: func(g *group, v *Verdict) {
			v.State, v.Label, v.Sentence = document.Act, "Best: "+g.Recommendation.Setting, g.comparedChange()
		},
		experiment: experiment.set, after: experiment.chooseOne,
	},
	verdict.SustainsRate: {
		tone: document.Act, label: "Sustains the rate", mark: "recommended", sets: true,
		answer: (*group).setOrKeep, plain: (*group).comparedWithDefault, paste: (*group).pasteSmallest,
		compared: (*group).keeps, experiment: experiment.undecided, after: experiment.keepsStart,
	},
	verdict.KeepDefault: {
		tone: document.OK, label: labelKeepDefault, mark: "keep",
		answer: (*group).setOrKeep,
		plain: func(g *group, w words) string {
			seen := "measured"
			if slices.ContainsFunc(w.Rows, isSliced) || w.leftOut(contest.ExcludedTooFewCPUs, contest.ExcludedUnread, contest.ExcludedDiffers, contest.ExcludedMemory) {
				seen = "compared"
			}
			return fmt.Sprintf("Nothing we %s beats the default (%d) by more than %s.", seen, g.Recommendation.Of().Procs, w.margins())
		},
		paste: pasteNothing("Nothing to set: keep the default. Where GOMAXPROCS is set, remove it."), compared: (*group).keeps,
		experiment: experiment.keep, after: experiment.keepsStart,
	},
	verdict.NoDifference: {
		tone: document.OK, label: "No difference", prefix: "GOMAXPROCS makes no difference: ",
		answer: constant(makesNoDifference),
		plain: func(_ *group, w words) string {
			all := "All values"
			if slices.ContainsFunc(w.Rows, isSliced) {
				all += " with trials"
			}
			text := all + " perform the same, within " + w.margins() + ". Profile the program first"
			if w.allocates() != "" {
				text += ": it allocates much"
			}
			return text + "."
		},
		paste: pasteNothing("Nothing to set: GOMAXPROCS makes no difference here. Keep the default, and profile the program."), compared: (*group).keeps,
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
		plain: func(g *group, w words) string {
			if of := g.Recommendation.Of(); of.P99.Median != nil {
				return fmt.Sprintf("At %s its %s is %s. Nothing was compared.", w.rate(), w.quantile(), number.Seconds(*of.P99.Median))
			}
			return "procfit measured the server as it runs and compared it with nothing."
		},
		paste:    pasteNothing("Nothing to set: procfit measured the server as it runs and compared nothing."),
		compared: (*group).keeps, experiment: experiment.undecided, after: experiment.keepsStart,
	},
	verdict.TradeOff: {
		tone: document.Attention, label: "Trade-off", prefix: "Trade-off: ",
		answer: constant("Trade-off: choose throughput or latency"),
		plain: func(g *group, w words) string {
			c, is := g.Recommendation.Claim.(verdict.ClaimTrade)
			if !is {
				return ""
			}
			return fmt.Sprintf("%s is best for throughput, %s for %s: %s is %s, but its %s is %s.", valueName(c.Of), valueName(c.Than), w.quantile(), valueName(c.Than), slower(c.Change), w.quantile(), higher(c.P99Change))
		},
		paste: (*group).pasteTwo, compared: (*group).keeps,
		experiment: experiment.tradeOff,
		after: func(w experiment) string {
			return "Nothing to set yet: choose which metric matters more. GOMAXPROCS " + phrase.And(w.proven(verdict.TradeOff)) + " is better in one and worse in another."
		},
	},
	verdict.Undecided: {
		tone: document.Unknown, label: labelUndecided, prefix: "Undecided: ",
		answer: func(g *group) string {
			_, differ := g.Recommendation.Claim.(verdict.CauseBenchmarksDiffer)
			if names, _ := g.apart(); differ && len(names) > 0 {
				return g.disagreement()
			}
			return changeNothing
		},
		plain: func(*group, words) string { return "" },
		paste: pasteNothing("Nothing to set yet: no value is proven better than the default."), compared: (*group).undecided,
		experiment: experiment.undecided,
		after: func(w experiment) string {
			return "Nothing to set yet: no value is proven better than " + w.start() + "."
		},
	},
}

// called has a label of its own for what is likely, so that nobody takes it for proven. What is
// not known is undecided.
func called(rec *verdict.Recommendation) verdictRow {
	row, known := verdicts[rec.Verdict]
	if !known {
		row = verdicts[verdict.Undecided]
	}
	if rec.Confidence != verdict.Likely {
		return row
	}
	row.tone, row.label = document.Attention, labelNotProven
	row.prefix = row.label + ". "
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

// setOrKeep is the answer of a verdict that names a value.
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
	margin := number.Percent(w.plan().Margin)
	if w.Latency.Quantile == 0 || w.leftOut(contest.ExcludedShared, contest.ExcludedLatency) {
		return margin + " in throughput"
	}
	return fmt.Sprintf("%s (%s: %s)", margin, w.quantile(), number.Percent(w.plan().MarginP99))
}

// comparedWithDefault is what the value that a verdict names changes; empty: that is not known.
func (g *group) comparedWithDefault(w words) string {
	v := g.Recommendation.Versus
	if v == nil {
		return ""
	}
	text := fmt.Sprintf("Compared with the default (%d): %s", v.DefaultProcs, changedFrom("throughput", v.Throughput, g.r.Plan.Margin, "higher", "lower"))
	if v.Latency.Median != nil {
		text += "; " + changedFrom(w.quantile(), v.Latency, g.r.Plan.MarginP99, "higher", "lower")
	}
	return text + "."
}

// pasteNothing is to be pasted, and a text says why.
func pasteNothing(text string) func(*group) Paste {
	return func(g *group) Paste {
		if g.Recommendation.Confidence == verdict.Likely {
			return Paste{Lead: untilMore}
		}
		return Paste{Lead: text}
	}
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
		return Paste{Lead: g.onPart() + "Use one of the following:", Snippets: g.snippets(*n)}
	}
	return pasteNothing("Nothing to set: keep the default. Where GOMAXPROCS is set, remove it.")(g)
}

// pasteTwo are the values of a trade-off.
func (g *group) pasteTwo() Paste {
	rec := &g.Recommendation
	if rec.Confidence == verdict.Likely {
		return Paste{Lead: untilMore}
	}
	p := Paste{Lead: "Choose one of two; each is proven best for its purpose:"}
	for _, side := range []struct{ title, label string }{{"For throughput", rec.BestThroughput}, {"For p99", rec.BestP99}} {
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

// keeps is that the best value of a variable is the one that it started with.
func (g *group) keeps(v *Verdict) {
	best := g.Recommendation.Setting
	v.State, v.Label = document.OK, "Keep "+best
	v.Sentence = fmt.Sprintf("No other value is better than %s, or as good with less memory.", best)
}

// undecided is of a variable's values.
func (g *group) undecided(v *Verdict) {
	v.State, v.Label, v.Sentence = document.Unknown, labelUndecided, "No value is proven as good as all others."
	if len(g.tooLarge()) == len(g.rows) && len(g.rows) > 0 {
		v.Sentence = "Every value used more memory than " + mostMemory(g.r) + "."
	} else if list := g.named(contest.ExcludedTooFewCPUs); list != nil {
		v.Sentence = "Other programs used the CPUs, so some values cannot be compared: " + phrase.And(list) + "."
	}
}
