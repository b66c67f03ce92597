package page

import (
	"bytes"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// A value that only slices measured is in the curve and in the tables, as the estimate that it is, with
// no latency. result.json has it in the slices alone.
func TestSlicesAreInTheReport(t *testing.T) {
	r := pagetest.Sliced(1)
	md := string(markdown.Render(Report(r)))
	for want, n := range map[string]int{
		`| 1 (slices) | slower (in slices of one start) | \~`: 1,
		`\~ marks an estimate for a value that has no trials`: 1, "measured only in slices of one start, with the value set in the running program: 1 and 2 (slower)": 1,
	} {
		if strings.Count(md, want) != n {
			t.Errorf("not %d times %q in\n%s", n, want, md)
		}
	}
	written, err := html.Render(Report(r))
	if err != nil || bytes.Count(written, []byte(`class="point estimated"`)) != 2 || !bytes.Contains(written, []byte("A hollow dot of the throughput and ~ mark an estimate")) {
		t.Errorf("%v, %d estimates in the chart", err, bytes.Count(written, []byte(`class="point estimated"`)))
	}
	for _, s := range resultSchema(r).Groups[0].Settings {
		if s.Label == "1" {
			t.Errorf("result.json has an estimate: %+v", s)
		}
	}
}

// Where a value that is set at the start differs from one that is set later, the report says so,
// and no value was left out.
func TestSlicesThatDifferAreInTheReport(t *testing.T) {
	r := pagetest.Sliced(0.6)
	md := string(markdown.Render(Report(r)))
	if want := "every value was measured in starts of its own, since GOMAXPROCS=3 differs when it is set in the running program"; !strings.Contains(md, want) {
		t.Errorf("no %q in\n%s", want, md)
	}
	for _, v := range r.Groups[0].Values {
		if v.N == 0 {
			t.Errorf("%v has no trial", v.Procs)
		}
	}
	if r.Groups[0].Recommendation.Verdict == verdict.Undecided {
		t.Error("undecided")
	}
}

// What only slices measured was not compared in trials, so no proof is claimed of it.
func TestKeepingTheDefaultClaimsNothingOfSlices(t *testing.T) {
	world := func(procs int, _ map[string]string) (float64, int64) {
		return []float64{30, 60, 80, 100}[procs-1], 50 << 20
	}
	h, trials, slices := verdicttest.Sliced(world, world, 1)
	md := string(markdown.Render(Report(verdict.Analyze(h, trials, slices...))))
	if !strings.Contains(md, "Nothing we compared beats the default (4)") {
		t.Error(md)
	}
}
