package page

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

// The report has the slices as such: which values they left to starts of their own, and why not
// the others.
func TestSlicesAreInTheReport(t *testing.T) {
	md := string(markdown.Render(Report(pagetest.Sliced(1))))
	for _, want := range []string{
		"| GOMAXPROCS | Slices of one start | Throughput in them, compared with the default | Measured in starts of its own |",
		"measured only in slices of one start, with the value set in the running program: 1 and 2 (slower)",
	} {
		if !strings.Contains(md, want) {
			t.Errorf("no %q in\n%s", want, md)
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
