package page

import (
	"math"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/test/must"
)

// The curves are the numbers of the hypotheses: where a document's ratio is of two points
// of a curve, it is theirs.
func TestCurvesAreTheHypothesesNumbers(t *testing.T) {
	for id, curves := range documentCurves() {
		e := must.Get(lab.Find(id))(t)
		found := false
		for _, h := range e.Hypotheses {
			for _, c := range curves {
				if c.Seconds[1] == 0 || c.Metric == "" || c.On == "" {
					t.Fatalf("%s: a curve without its first point: %+v", id, c)
				}
				for _, x := range c.Seconds {
					ratio := x / c.Seconds[1]
					found = found || h.Value != 0 && (math.Abs(ratio-h.Value) < 1e-3 || math.Abs(1/ratio-h.Value) < 1e-3)
				}
			}
			if h.On != "" && !slices.Contains([]string{lab.OnLaptop, lab.OnServer}, h.On) {
				t.Errorf("%s %s: measured on %q", id, h.ID, h.On)
			}
		}
		if !found {
			t.Errorf("%s: no hypothesis has a ratio of its curves", id)
		}
	}
	if documentCurves()["k8sbench"] != nil {
		t.Error("k8sbench has a curve by GOMAXPROCS")
	}
}
