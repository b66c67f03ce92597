package page_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

// Several quotas have one line that sums them up, in their order, and none of it twice.
func TestTheFirstLineSumsTheGroupsUp(t *testing.T) {
	quotas := func(list ...verdict.Group) *verdict.Result {
		r := pagetest.Typical()
		r.Groups = list
		return r
	}
	of := func(quota float64, concluded verdict.Verdict, procs *int) verdict.Group {
		g := pagetest.Typical().Groups[0]
		g.QuotaCPUs = &quota
		g.Recommendation.Verdict, g.Recommendation.Procs = concluded, procs
		return g
	}
	two := 2
	for _, c := range []struct {
		result *verdict.Result
		text   string
		plain  string
	}{
		{quotas(of(0.5, verdict.KeepDefault, nil), of(1, verdict.Recommended, &two)), "0.5 CPUs: keep the default; 1 CPU: set 2", "2 groups, each with its own answer"},
		{quotas(of(0.5, verdict.KeepDefault, nil), of(1, verdict.Recommended, &two), of(2, verdict.KeepDefault, nil)), "0.5 CPUs and 2 CPUs: keep the default; 1 CPU: set 2", "3 groups"},
		{quotas(of(0.5, verdict.Undecided, nil), of(1, verdict.Undecided, nil)), "Undecided: change nothing yet", ""},
		{ungated(pagetest.Groups()), "It depends on the Go version and the CPU limit", "Go 1.24.6, 0.5 CPUs: trade-off. Go 1.24.6, 2 CPUs: keep the default. Go 1.26.8, 0.5 CPUs: undecided. Go 1.26.8, 2 CPUs: no difference."},
	} {
		if a := page.VerdictOf(c.result).Answer; a.Text != c.text || !strings.HasPrefix(a.Plain, c.plain) {
			t.Errorf("the first line is %q, %q\nwant %q, %q", a.Text, a.Plain, c.text, c.plain)
		}
	}
}

// What is a share of the runs per second is not called a time.
func TestSmallCurvesOfRuns(t *testing.T) {
	r := pagetest.Typical()
	r.Groups = append(r.Groups, pagetest.Typical().Groups...)
	for i := range r.Groups {
		r.Groups[i].ThroughputUnit, r.Groups[i].QuotaCPUs = "runs", new(float64(1+i))
	}
	cards := glance(r)
	if len(cards) != 2 {
		t.Fatalf("%d groups at a glance", len(cards))
	}
	for _, o := range cards {
		if c := o.Charts[0]; c.Title != "Runs per second" || !strings.HasSuffix(c.Unit, " runs/s") {
			t.Errorf("%q in %q", c.Title, c.Unit)
		}
	}
}

// The small curves are on scales that can be compared: shares of each group's own peak,
// and one axis of latency.
func TestSmallCurvesShareTheirScales(t *testing.T) {
	cards := glance(pagetest.Groups())
	groups := slices.DeleteFunc(documenttest.Find[document.Section](page.Report(pagetest.Groups()).Blocks), func(s document.Section) bool { return s.Class != "group" })
	if len(cards) != len(groups) {
		t.Fatalf("%d of %d groups at a glance", len(cards), len(groups))
	}
	for i, o := range cards {
		if o.ID != groups[i].ID || o.Answer != documenttest.Find[document.Panel](groups[i].Blocks)[0].Sentence || len(o.Charts) != 2 {
			t.Fatalf("group %d: %+v", i, o)
		}
		for j, c := range o.Charts {
			if !slices.Equal(c.Ticks, cards[0].Charts[j].Ticks) {
				t.Errorf("%s of group %d has an axis of its own", c.Title, i)
			}
			for _, k := range c.Categories {
				if strings.Contains(k.Label, "old") {
					t.Errorf("group %d: the gate's %q stands among the settings", i, k.Label)
				}
			}
		}
		top := 0.0
		for _, m := range o.Charts[0].Series[0].Marks {
			top = max(top, m.At)
		}
		if math.Abs(top-1) > 1e-9 {
			t.Errorf("group %d: the peak is at %g of its own axis", i, top)
		}
	}
	if glance(pagetest.Typical()) != nil {
		t.Error("one group at a glance, beside its own page")
	}
}

// The small curve of latency is that of the judged percentile.
func TestSmallCurvesOfTheJudgedLatency(t *testing.T) {
	r := pagetest.Groups()
	for i := range r.Groups {
		r.Groups[i].Latency.Quantile = 0.9
	}
	for i, o := range glance(r) {
		if c := o.Charts[1]; c.Title != "p90" {
			t.Errorf("group %d: the curve is of %s", i, c.Title)
		}
	}
}

func glance(r *verdict.Result) document.Cards {
	return slices.Concat(documenttest.Find[document.Cards](page.Report(r).Blocks)...)
}

// ungated is a run that compared no versions.
func ungated(r *verdict.Result) *verdict.Result {
	r.Gate = nil
	return r
}
