package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/number"
)

const (
	seedsPage = "../../docs/evidence/articles.md"
	seeds     = "../../docs/evidence/articles" // has lab.json, as lab run all wrote it
)

// TestPage holds the numbers of docs/evidence/articles.md against the run in lab.json: how many
// hypotheses have which answer, and what was measured for each that the page's table names.
func TestPage(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(seeds, "lab.json"))
	if err != nil {
		t.Fatal(err)
	}
	var o Outcome
	if err := json.Unmarshal(b, &o); err != nil {
		t.Fatal(err)
	}
	if !o.Complete {
		t.Error("the run in docs/evidence/articles is not complete")
	}
	for _, e := range o.Experiments {
		if e.Quick || !e.Complete || e.NotRun != "" {
			t.Errorf("%s: quick %v, complete %v, not run %q", e.ID, e.Quick, e.Complete, e.NotRun)
		}
	}
	text, err := os.ReadFile(seedsPage)
	if err != nil {
		t.Fatal(err)
	}
	p := seedsOf(&o)
	for _, problem := range p.wrong(string(text)) {
		t.Error(problem)
	}
	if changed := p.changed(); len(changed) > 0 {
		t.Errorf("changed since the run: %v: run procfit lab run all again", changed)
	}
}

// measuredRow is a row of the page: a hypothesis, what an article says, and what was measured.
var measuredRow = regexp.MustCompile("(?m)^\\| `(\\w+)/(\\w+)` \\|.*\\| ([^|]+) \\|$")

// wrong lists what a page says otherwise than the run.
func (p recorded) wrong(page string) (problems []string) {
	is := func(a Answer) int { return p.count(func(s Answered) bool { return s.Answer == a }) }
	tooFew := p.count(func(s Answered) bool { return s.Needs > p.Host.EffectiveCPUs && s.From == "" })
	for _, want := range []string{
		fmt.Sprintf("**%d hypotheses hold here, %d do not hold, and %d are undecided.**", is(Holds), is(DoesNotHold), is(CannotTell)),
		fmt.Sprintf("%d of the undecided ones need more CPUs", tooFew),
	} {
		if !strings.Contains(page, want) {
			problems = append(problems, "the page lacks "+want)
		}
	}
	rows := map[string]bool{}
	for _, m := range measuredRow.FindAllStringSubmatch(page, -1) {
		rows[m[1]+"/"+m[2]] = true
		a := p.hypothesis(m[1], m[2])
		switch {
		case a == nil || a.Measured.Value == nil:
			problems = append(problems, m[1]+"/"+m[2]+" was not measured")
		case a.Answer != DoesNotHold || interval(a.Measured) != m[3]:
			problems = append(problems, fmt.Sprintf("%s/%s: %s, it %s", m[1], m[2], interval(a.Measured), a.Answer))
		}
	}
	for _, e := range p.Experiments {
		for _, a := range e.Hypotheses {
			if name := e.ID + "/" + a.ID; a.Answer == DoesNotHold && !rows[name] && !strings.Contains(page, "`"+name+"`") {
				problems = append(problems, name+" does not hold, and is not in the page")
			}
		}
	}
	return problems
}

func interval(i Estimate) string {
	if i.Low == nil || i.High == nil {
		return number.Count(*i.Value)
	}
	return number.Count(*i.Value) + " [" + number.Count(*i.Low) + ", " + number.Count(*i.High) + "]"
}
