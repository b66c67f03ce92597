package page

import (
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
)

func TestTickLabelsDiffer(t *testing.T) {
	for _, c := range []struct{ low, high float64 }{{0.0009, 0.0266}, {1e-6, 3}, {0.5, 11}, {2, 50}} {
		for _, logarithmic := range []bool{false, true} {
			ticks := axisTicks(number.Time(), document.NewAxis(c.low, c.high, logarithmic))
			for i := 1; i < len(ticks); i++ {
				if ticks[i].Label == ticks[i-1].Label || ticks[i].At <= ticks[i-1].At {
					t.Errorf("%g to %g: tick %v after %v", c.low, c.high, ticks[i], ticks[i-1])
				}
			}
		}
	}
}
