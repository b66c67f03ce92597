package page_test

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
)

func TestPasteFollowsTheVerdict(t *testing.T) {
	recommend := func(n int, quota *float64) func(*verdict.Result, *verdict.Group) {
		return func(_ *verdict.Result, g *verdict.Group) {
			g.Recommendation = verdict.Recommendation{Verdict: verdict.Recommended, Procs: &n}
			g.QuotaCPUs = quota
		}
	}
	only := func(v verdict.Verdict) func(*verdict.Result, *verdict.Group) {
		return func(_ *verdict.Result, g *verdict.Group) { g.Recommendation = verdict.Recommendation{Verdict: v} }
	}
	for _, c := range []struct {
		name    string
		bend    func(*verdict.Result, *verdict.Group)
		has     []string
		without []string
	}{
		{"no CPU limit", recommend(2, nil), []string{"GOMAXPROCS=2", "value: \"2\"", "ENV GOMAXPROCS=2"}, []string{"resourceFieldRef"}},
		{"the quota rounded up", recommend(2, new(1.5)), []string{"value: \"2\"", "resource: limits.cpu\n        divisor: \"1\"", "limits.cpu of 1500m"}, nil},
		{"not the quota's value", recommend(1, new(1.5)), []string{"value: \"1\""}, []string{"resourceFieldRef"}},
		{"leave unset", func(_ *verdict.Result, g *verdict.Group) {
			g.Recommendation = verdict.Recommendation{Verdict: verdict.Recommended}
		}, []string{"Nothing"}, []string{"GOMAXPROCS="}},
		{"default", only(verdict.KeepDefault), []string{"Nothing to set: keep the default"}, []string{"GOMAXPROCS="}},
		{"flat", only(verdict.NoDifference), []string{"profile"}, []string{"GOMAXPROCS="}},
		{"unproven", only(verdict.Undecided), []string{"Nothing to set yet"}, []string{"GOMAXPROCS="}},
		{"trade-off", func(_ *verdict.Result, g *verdict.Group) {
			g.Recommendation = verdict.Recommendation{Verdict: verdict.TradeOff, BestThroughput: "2", BestP99: "default"}
		}, []string{"For throughput", "GOMAXPROCS=2", "For p99", "do not set GOMAXPROCS"}, []string{"yaml"}},
		{"no placeholder in what is pasted", recommend(2, nil), []string{"export GOMAXPROCS=2"}, []string{"{port}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sections(world(c.bend))[0]
			text := p.Lead
			for _, s := range p.Snippets {
				text += "\n" + s.Title + "\n" + s.Note + "\n" + s.Text
			}
			has(t, text, c.has...)
			for _, not := range c.without {
				if strings.Contains(text, not) {
					t.Errorf("%q in\n%s", not, text)
				}
			}
		})
	}
}
