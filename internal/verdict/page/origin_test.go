package page_test

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// Whatever stands by itself (a verdict, a metric) says where it comes from.
func TestOriginStandsWithEveryFigure(t *testing.T) {
	for want, origin := range map[string]journal.Origin{"measured here": journal.OriginLocal, "measured in Kubernetes": journal.OriginKube} {
		r := analyze(verdicttest.Config{Settings: verdicttest.CPUServer(), Trial: func(t *journal.Trial) { t.Origin = origin }})
		v, d := page.VerdictOf(r), page.Report(r)
		g, environment := sections(r)[0], documenttest.Find[document.Pairs](d.Blocks)
		trials := environment[len(environment)-1]
		if origin != journal.OriginLocal && !strings.Contains(v.Context, want) || !strings.Contains(trials[0].Value, want) {
			t.Errorf("%s: context %q, environment %v", origin, v.Context, trials)
		}
		for _, c := range append([]document.Chart{*g.Throughput, *g.Latency}, g.Evidence...) {
			if origin != journal.OriginLocal && !strings.Contains(c.Title, want) {
				t.Errorf("%s: a figure titled %q", origin, c.Title)
			}
		}
	}
}

func TestMixedOriginsAreNamed(t *testing.T) {
	v := page.VerdictOf(analyze(verdicttest.Config{Settings: verdicttest.CPUServer(), Trial: func(t *journal.Trial) {
		if t.Setting.Label == "4" {
			t.Origin = journal.OriginKube
		}
	}}))
	if v.Label != "Undecided" || !strings.Contains(v.Context, "not all measured in the same way") {
		t.Errorf("%+v", v)
	}
}

func TestOtherProgramsAreNamed(t *testing.T) {
	r := analyze(verdicttest.Config{CPUs: 2, Rate: 100, OtherCPUs: 1.6, Settings: []verdicttest.Truth{verdicttest.Unset(2, 1000, .01), verdicttest.Set(1, 500, .02), verdicttest.Set(2, 1000, .01)}})
	v, shown := page.VerdictOf(r), sections(r)[0]
	const said = "ther programs used 1.6 of 2 CPUs"
	if !strings.Contains(v.Answer.Plain, said) || !strings.Contains(shown.Mistakes[6].Detail, said) {
		t.Errorf("%q; %q", v.Answer.Plain, shown.Mistakes[6].Detail)
	}
	if got := fact(r, "Workload"); !strings.HasPrefix(got, "unknown: other programs") || strings.Contains(got, "io-bound") {
		t.Errorf("%q", got)
	}
}
