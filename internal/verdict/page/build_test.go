package page_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

func TestNothingUnprintableReachesAPage(t *testing.T) {
	script := map[string]bool{"Text": true} // fields that may hold several lines
	var walk func(field string, x reflect.Value)
	walk = func(field string, x reflect.Value) {
		switch x.Kind() {
		case reflect.String:
			for _, r := range x.String() {
				if !unicode.IsPrint(r) && !(r == '\n' && script[field]) {
					t.Errorf("%s holds %U: %q", field, r, x.String())
					return
				}
			}
		case reflect.Pointer, reflect.Interface:
			if !x.IsNil() {
				walk(field, x.Elem())
			}
		case reflect.Slice:
			for i := range x.Len() {
				walk(field, x.Index(i))
			}
		case reflect.Struct:
			for i := range x.NumField() {
				walk(x.Type().Field(i).Name, x.Field(i))
			}
		}
	}
	walk("", reflect.ValueOf(page.Report(pagetest.Hostile()).Printable()))
	walk("", reflect.ValueOf(page.Brief(pagetest.Hostile()).Printable()))
}

func TestChartsPlaceEverySettingAndTrialWithinTheAxis(t *testing.T) {
	for name, r := range map[string]*verdict.Result{"typical": pagetest.Typical(), "groups": pagetest.Groups(), "hostile": pagetest.Hostile()} {
		for gi, g := range sections(r) {
			charts := append([]document.Chart{*g.Throughput}, g.Evidence...)
			if g.Latency != nil {
				charts = append(charts, *g.Latency)
			}
			for _, c := range charts {
				if len(c.Categories) != len(r.Groups[gi].Rows) || c.Summary == "" || len(c.Ticks) < 2 {
					t.Errorf("%s, %s: %d categories, %d ticks, summary %q", name, c.Title, len(c.Categories), len(c.Ticks), c.Summary)
				}
				for _, s := range c.Series {
					for i, m := range s.Marks {
						in(t, name+" "+c.Title, m.At, m.Low, m.High)
						for _, d := range m.Dots {
							in(t, name+" "+c.Title, d.At, (d.Jitter+1)/2)
						}
						if m.Joined && (i == 0 || c.Categories[i-1].Apart) {
							t.Errorf("%s, %s: a line joins setting %d, which stands apart", name, c.Title, i)
						}
					}
				}
			}
		}
	}
}

func in(t *testing.T, what string, list ...float64) {
	t.Helper()
	for _, x := range list {
		if !(x >= 0 && x <= 1) {
			t.Errorf("%s: %g is outside the axis", what, x)
		}
	}
}

func TestEveryTrialIsADot(t *testing.T) {
	r := pagetest.Typical()
	kinds := map[string]int{}
	for i, m := range sections(r)[0].Throughput.Series[0].Marks {
		if len(m.Dots) != len(r.Groups[0].Rows[i].Points) {
			t.Errorf("row %d: %d dots of %d trials", i, len(m.Dots), len(r.Groups[0].Rows[i].Points))
		}
		for _, d := range m.Dots {
			kinds[d.Kind]++
		}
	}
	if want := map[string]int{"measure": 35, "aa": 6, "invalid": 1}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("dots %v, want %v", kinds, want)
	}
}

// A margin is of the judged percentile; where none is judged there is no margin.
func TestMarginsOfWhatIsJudged(t *testing.T) {
	for quantile, want := range map[float64]string{0: "throughput 5% (", 0.9: "throughput 5%, p90 20% (", 0.99: "throughput 5%, p99 20% ("} {
		got := fact(world(func(_ *verdict.Result, g *verdict.Group) { g.Latency.Quantile = quantile }), "Margins")
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestMarksFollowTheVerdict(t *testing.T) {
	marks := func(c *document.Chart) string {
		s := ""
		for _, k := range c.Categories {
			if k.Mark != "" {
				s += k.Label + "=" + k.Mark + ";"
			}
		}
		return s
	}
	groups := sections(pagetest.Groups())
	for i, want := range [][2]string{
		{"2=best throughput;", "1=best p99;"},
		{"2=keep;", "2=keep;"},
		{"", ""}, {"", ""},
	} {
		if got := [2]string{marks(groups[i].Throughput), marks(groups[i].Latency)}; got != want {
			t.Errorf("group %d: %q, want %q", i, got, want)
		}
	}
	if got := marks(sections(pagetest.Typical())[0].Throughput); got != "2=recommended;" {
		t.Errorf("typical: %q", got)
	}
}

func TestLatencyScaleTurnsLogarithmicWithTheSpread(t *testing.T) {
	if c := sections(pagetest.Typical())[0].Latency; !c.Log {
		t.Error("0.9 to 27 ms on a linear scale")
	}
	if c := sections(pagetest.Groups())[0].Latency; c.Log {
		t.Error("2 to 30 ms on a logarithmic scale")
	}
}

func TestWarningsStandWhereTheyBelong(t *testing.T) {
	r := pagetest.Groups()
	r.Warnings = []verdict.Warning{{Remark: pagetest.Unworded("run")}, {Remark: pagetest.Unworded("group"), Group: new(2)}, {Remark: pagetest.Unworded("astray"), Group: new(99)}}
	d := page.Report(r)
	of := sections(r)[2].Warnings
	all := documenttest.Find[document.Notes](d.Blocks)
	if run := all[len(all)-1]; len(run) != 2 || len(of) != 1 || of[0].Message != "group" {
		t.Errorf("run %v, group 2 %v", run, of)
	}
}

func TestAnEmptyResultHasAPage(t *testing.T) {
	for _, r := range []*verdict.Result{{}, {Groups: make([]verdict.Group, 1)}, {Groups: []verdict.Group{{Settings: make([]verdict.Row, 2)}}}} {
		if v := page.VerdictOf(r); len(page.Report(r).Blocks) == 0 || v.Label == "" {
			t.Errorf("nothing said of %+v", r)
		}
	}
}
