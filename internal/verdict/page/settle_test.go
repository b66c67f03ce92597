package page

import (
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
)

// A sweep that ends before its budget says why, unless it has its answer.
func TestWhyASweepEndedEarly(t *testing.T) {
	for _, c := range []struct {
		stop     string
		run      int
		withheld []string
		want     string // empty: no sentence
	}{
		{"", 9, nil, ""}, {"goal", 9, nil, ""}, {"limit", 40, nil, ""}, {"futile", 40, nil, ""},
		{"goal", 9, []string{"1"}, "the sweep ended after 9 of at most 40 trials: other programs left GOMAXPROCS 1 too few CPUs every time, so it was not tried again"},
		{"nothing", 10, []string{"1", "2"}, "other programs left GOMAXPROCS 1 and 2 too few CPUs every time, so they were not tried again"},
		{"nothing", 9, nil, "no value could be measured"},
		{"futile", 31, nil, "31 of at most 40 trials: the trials left would not prove any value, because trials vary too much"},
		{"time", 12, nil, "the next block would take longer than --max-time"},
		{"time", 12, []string{"1"}, "the next block would take longer than --max-time"},
	} {
		g := verdict.Group{Race: &verdict.Raced{Stop: c.stop}, Others: verdict.OtherPrograms{Withheld: c.withheld}}
		w := words{&g, &verdict.Result{TrialsRun: c.run - 2, PilotsRun: 2, TrialsPlanned: 40}}
		found := slices.IndexFunc(w.reasons(), func(s string) bool { return strings.Contains(s, "the sweep ended") })
		if (found >= 0) != (c.want != "") || found >= 0 && !strings.Contains(w.reasons()[found], c.want) {
			t.Errorf("%q after %d: %q, want %q", c.stop, c.run, w.reasons(), c.want)
		}
	}
}
