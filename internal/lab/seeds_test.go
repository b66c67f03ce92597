package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/procfit/procfit/internal/show/number"
)

// reworked are experiments whose program or stages do other work since a time. A run of
// before answered for what they were, whatever their hypotheses say.
var reworked = map[string]string{
	"http":   "2026-11-22T15:00:00Z", // clients by P
	"powser": "2026-11-22T15:00:00Z", // a goroutine for each coefficient
}

// rejudged are hypotheses that another need, bound or sentence was given since, and that
// measure the same: the number of a run of before is held against what they ask today.
var rejudged = []string{
	"chain/go1_4_two_ps", "chain/go1_2_two_ps", "chainbuf/go1_4_two_ps", "chainbuf/go1_2_two_ps", "powser/go1_4_two_ps", "powser/go1_2_two_ps",
	"sieve/go1_5_two_ps", "sieve/today_two_ps", "defaults/exact_today",
}

// recorded is a run in docs/evidence/articles beside today's experiments.
type recorded struct {
	*Outcome
	experiments []Experiment
	today       map[string][]Answered // by experiment, as they read today
	reworked    map[string]string
	again       map[string]Answered // those of rejudged, by experiment/hypothesis
}

func seedsOf(o *Outcome) recorded {
	p := recorded{o, List(), map[string][]Answered{}, reworked, map[string]Answered{}}
	for _, e := range p.experiments {
		var r Ran
		r.Conclude(e, o.Host.EffectiveCPUs)
		p.today[e.ID] = r.Hypotheses
		for _, h := range e.Hypotheses {
			if name := e.ID + "/" + h.ID; slices.Contains(rejudged, name) && !p.another(e.ID) {
				p.again[name] = p.judgedAgain(e.ID, h)
			}
		}
	}
	return p
}

// judgedAgain holds what the run measured against a hypothesis as it reads today.
func (p recorded) judgedAgain(id string, h Hypothesis) Answered {
	measured := Estimate{Why: "not in the run"}
	if a := p.hypothesis(id, h.ID); a != nil {
		measured = a.Measured
	}
	h.Measure = func(Results) Estimate { return measured }
	var r Ran
	r.Conclude(Experiment{Hypotheses: []Hypothesis{h}}, p.Host.EffectiveCPUs)
	return r.Hypotheses[0]
}

// hypothesis is one of the run's; nil: it had none of that name.
func (p recorded) hypothesis(experiment, id string) *Answered {
	if r := p.ran(experiment); r != nil {
		if at := slices.IndexFunc(r.Hypotheses, func(a Answered) bool { return a.ID == id }); at >= 0 {
			return &r.Hypotheses[at]
		}
	}
	return nil
}

// then is the place of a hypothesis among those that the run answered of an experiment;
// -1 where it read otherwise or was not there, or the experiment was another.
func (p recorded) then(id string, a Answered) int {
	r := p.ran(id)
	if r == nil || p.another(id) {
		return -1
	}
	return slices.IndexFunc(r.Hypotheses, func(b Answered) bool { return a.sameQuestion(b) })
}

// another reports that an experiment was reworked since.
func (p recorded) another(id string) bool {
	since, err := time.Parse(time.RFC3339, p.reworked[id])
	return err == nil && p.Started.Before(since)
}

// answered is the answer to a hypothesis as it reads today: the run's, or that of the kept
// table, for which the run's machine makes no difference.
func (p recorded) answered(id string, a Answered) (Answered, bool) {
	if at := p.then(id, a); at >= 0 {
		return p.ran(id).Hypotheses[at], true
	}
	if again, ok := p.again[id+"/"+a.ID]; ok {
		return again, true
	}
	return a, a.From != "" && a.Measured.Value != nil
}

// count is how many answers are such.
func (p recorded) count(is func(Answered) bool) (n int) {
	for _, e := range p.experiments {
		for _, a := range p.today[e.ID] {
			if a, ok := p.answered(e.ID, a); ok && is(a) {
				n++
			}
		}
	}
	return n
}

// changed are the hypotheses without an answer.
func (p recorded) changed() (list []string) {
	for _, e := range p.experiments {
		for _, a := range p.today[e.ID] {
			if _, ok := p.answered(e.ID, a); !ok {
				list = append(list, e.ID+"/"+a.ID)
			}
		}
	}
	return list
}

// measured is what the run measured for a hypothesis, which may since be gone.
func (p recorded) measured(experiment, hypothesis string) (string, error) {
	if a := p.hypothesis(experiment, hypothesis); a != nil && a.Measured.Value != nil {
		return interval(a.Measured), nil
	}
	if slices.ContainsFunc(p.today[experiment], func(a Answered) bool { return a.ID == hypothesis }) {
		return "(not yet run)", nil
	}
	return "", fmt.Errorf("there is no hypothesis %s of %s", hypothesis, experiment)
}

// since says that something is not of the run.
func (p recorded) since() string {
	return "changed since this run (" + p.Started.Format("2 January 2006") + "): not yet run again"
}

// sections are those of RESULTS.md, a level lower and without links into the results'
// folder. What was measured is folded away below the hypotheses, but for tables of Go
// versions, which are the point.
func (p recorded) sections(t *template.Template, results string) (string, error) {
	parts := map[string]string{}
	for section := range strings.SplitSeq(results, "\n## ") {
		id, body, _ := strings.Cut(section, "\n")
		parts[id] = body
	}
	var b strings.Builder
	for _, e := range p.experiments {
		fmt.Fprintf(&b, "\n### %s\n", e.ID)
		body, ok := parts[e.ID]
		switch {
		case p.ran(e.ID) == nil:
			p.added(&b, e)
		case !ok:
			return "", fmt.Errorf("RESULTS.md has no section %s; it has %v", e.ID, slices.Sorted(maps.Keys(parts)))
		default:
			p.section(&b, e, body)
		}
		if of := t.Lookup(e.ID); of != nil {
			if err := of.Execute(&b, p.Outcome); err != nil {
				return "", err
			}
		}
	}
	return b.String(), nil
}

const tableHead = "| hypothesis | article | here | wanted | answer |\n|---|---|---|---|---|\n"

// added is an experiment that the run has not.
func (p recorded) added(b *strings.Builder, e Experiment) {
	from := e.Document
	if from[0] >= '0' && from[0] <= '9' {
		from = "article " + from
	}
	fmt.Fprintf(b, "\nFrom %s: %s. %s.\n\n%s", from, plain(e.Title), strings.Replace(plain(p.since()), "changed", "Added", 1), tableHead)
	for _, a := range p.today[e.ID] {
		b.WriteString(p.row(e.ID, a))
	}
}

// section is an experiment's, with today's hypotheses in the place of the run's.
func (p recorded) section(b *strings.Builder, e Experiment, body string) {
	fold := !slices.ContainsFunc(p.ran(e.ID).Stages, func(s RanStage) bool { return len(s.Versions) > 0 })
	hypotheses, folded, blank := false, false, false
	left := 2 + len(p.ran(e.ID).Hypotheses) // lines of the table of hypotheses
	for line := range strings.Lines(body) {
		switch {
		case strings.HasPrefix(line, "["), blank && line == "\n":
			continue
		case strings.HasPrefix(line, "|") && left > 0:
			hypotheses = true
			if left--; left == 0 {
				p.table(b, e)
			}
			blank = false
			continue
		case fold && hypotheses && !folded && line != "\n":
			b.WriteString("<details><summary>What was measured</summary>\n\n")
			folded = true
		}
		if title, ok := strings.CutPrefix(line, "### "); ok {
			line = "#### " + title
		}
		b.WriteString(line)
		blank = line == "\n"
	}
	if folded {
		b.WriteString("\n</details>\n")
	}
}

// table is an experiment's hypotheses as they read today, those that the run answered with
// its answers.
func (p recorded) table(b *strings.Builder, e Experiment) {
	b.WriteString(tableHead)
	for _, a := range p.today[e.ID] {
		b.WriteString(p.row(e.ID, a))
	}
	if p.another(e.ID) {
		b.WriteString("\n*It is another experiment since this run; what was measured is of the one before.*\n")
	}
}

// row is a hypothesis with its answer.
func (p recorded) row(id string, a Answered) string {
	wanted := ""
	switch low, high := a.AtLeast, a.AtMost; {
	case low != nil && high != nil:
		wanted = number.Count(*low) + " to " + number.Count(*high)
	case low != nil:
		wanted = number.Count(*low) + " or more"
	case high != nil:
		wanted = number.Count(*high) + " or less"
	}
	here, answer := "–", p.since()
	if a, ok := p.answered(id, a); ok {
		answer = strings.ReplaceAll(string(a.Answer), "_", " ")
		switch {
		case a.Measured.Value == nil:
		case a.From != "":
			here = interval(a.Measured) + " (" + a.From + ")"
		default:
			here = fmt.Sprintf("%s, n %d", interval(a.Measured), a.Measured.N)
		}
		if a.Answer == CannotTell {
			answer = "undecided here: " + a.Reason
		}
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |\n", plain(a.Says), plain(a.Document), plain(here), wanted, plain(answer))
}

// plain is text that starts no markup.
func plain(s string) string {
	return strings.NewReplacer("|", `\|`, "&", "&amp;", "<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "`", "\\`").Replace(s)
}

// A hypothesis that changed has no answer of an earlier run, and one that did not keeps
// its own.
func TestSinceTheRun(t *testing.T) {
	two := func(says string) Answered {
		return Answered{ID: "two_ps", Says: says, Document: "2 ÷ 1", AtLeast: new(1.9), Measured: Estimate{Value: new(2.0), N: 6}, Answer: Holds}
	}
	o := &Outcome{Started: time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC), Experiments: []Ran{
		{ID: "a", Hypotheses: []Answered{two("two Ps do twice as much"), {ID: "gone", Says: "nobody says so any more", AtMost: new(1.0), Answer: DoesNotHold}}},
		{ID: "b", Hypotheses: []Answered{two("two Ps do twice as much")}},
	}}
	p := recorded{o, []Experiment{{ID: "a", Document: "000"}, {ID: "b", Document: "000"}, {ID: "c", Document: "001", Title: "another"}}, map[string][]Answered{
		"a": {two("two Ps do twice as much"), {ID: "new", Says: "it <is> new", AtMost: new(1.1), Answer: CannotTell}},
		"b": {two("two Ps do more"), {ID: "kept", Says: "of a table", AtMost: new(1.0), From: "an emulated machine", Answer: DoesNotHold}},
		"c": {two("two Ps do twice as much")},
	}, map[string]string{"b": "2026-11-20T00:00:00Z"}, nil}
	p.today["b"][1].Measured.Value = new(2.0)
	const results = `
## a

From document 000: what a is.

| hypothesis | article | here | wanted | answer |
|---|---|---|---|---|
| two Ps do twice as much | 2 ÷ 1 | 2.00, n 6 | 1.9 or more | holds |
| nobody says so any more |  | 2.00, n 6 | 1 or less | does not hold |

all trials:

| GOMAXPROCS | Throughput |
|---|---:|
| 1 | 5 |

## b

From document 000: what b is.

| hypothesis | article | here | wanted | answer |
|---|---|---|---|---|
| two Ps do twice as much | 2 ÷ 1 | 2.00, n 6 | 1.9 or more | holds |
`
	const notYet = "changed since this run (21 November 2026): not yet run again"
	sections := func() string {
		t.Helper()
		text, err := p.sections(template.New("page"), results)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	text := sections()
	for _, want := range []string{
		"| two Ps do twice as much | 2 ÷ 1 | 2, n 6 | 1.9 or more | holds |\n| it &lt;is&gt; new |  | – | 1.1 or less | " + notYet + " |\n",
		"<details><summary>What was measured</summary>\n\nall trials:\n\n| GOMAXPROCS | Throughput |\n|---|---:|\n| 1 | 5 |\n\n</details>\n",
		"| two Ps do more | 2 ÷ 1 | – | 1.9 or more | " + notYet + " |\n| of a table |  | 2 (an emulated machine) | 1 or less | does not hold |\n",
		"From article 001: another. Added since this run (21 November 2026): not yet run again.\n\n| hypothesis",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "nobody says") || strings.Contains(text, "another experiment") {
		t.Error(text)
	}
	if n := p.count(func(a Answered) bool { return a.Answer == Holds || a.From != "" }); n != 2 {
		t.Errorf("%d hold, or are of the table", n)
	}
	if got, want := strings.Join(p.changed(), " "), "a/new b/two_ps c/two_ps"; got != want {
		t.Errorf("changed are %s, want %s", got, want)
	}

	// An experiment that does other work has no answers of before.
	p.reworked = map[string]string{"a": "2026-11-22T00:00:00Z"}
	text = sections()
	if row := "| two Ps do twice as much | 2 ÷ 1 | – | 1.9 or more | " + notYet; !strings.Contains(text, row) || strings.Count(text, "It is another experiment since this run") != 1 {
		t.Error(text)
	}
	// One that measures the same is held against the bound of today.
	o.Host.EffectiveCPUs = 2
	o.Experiments[1].Hypotheses[0].Measured = Estimate{Value: new(2.0), Low: new(1.5), High: new(2.5), N: 6}
	for needs, want := range map[float64]string{2: "undecided here: the interval contains the bound of 1.9", 8: "undecided here: needs 8 CPUs; this machine has 2"} {
		p.again = map[string]Answered{"b/two_ps": p.judgedAgain("b", Hypothesis{ID: "two_ps", AtLeast: 1.9, Needs: needs})}
		if row := p.row("b", p.today["b"][0]); !strings.Contains(row, "| 2 [1.5, 2.5], n 6 | 1.9 or more | "+want) {
			t.Errorf("%s", row)
		}
	}
	for _, name := range rejudged {
		id, hypothesis, _ := strings.Cut(name, "/")
		if e, err := Find(id); err != nil || !slices.ContainsFunc(e.Hypotheses, func(h Hypothesis) bool { return h.ID == hypothesis }) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for id := range reworked {
		if _, err := time.Parse(time.RFC3339, reworked[id]); err != nil {
			t.Error(err)
		}
		if _, err := Find(id); err != nil {
			t.Error(err)
		}
	}
	if _, err := p.measured("a", "nothing"); err == nil {
		t.Error("what does not exist is measured")
	}
}
