package page

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
)

// Without a default, the answer says what is undecided of the other values, unless one is proven worse.
func TestNoneWorse(t *testing.T) {
	value := func(procs int) *contest.Value { return &contest.Value{Procs: procs} }
	open := func(v *contest.Value) verdict.Difference { return verdict.Difference{Pair: verdict.Pair{Of: v}} }
	one, two, four := value(1), value(2), value(4)
	w := words{&verdict.Group{EffectiveCPUs: 4}, &verdict.Result{}}
	w.Recommendation.Reasons = []verdict.Remark{verdict.ReasonSpeedOpen{Difference: open(one)}, verdict.ReasonP99Open{Difference: open(one)}, verdict.ReasonP99Open{Difference: open(two)}}
	if got, want := w.smallest(four), " No value is proven worse, and whether 1 and 2 perform as well is undecided."; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want …%q", got, want)
	}
	w.Recommendation.Reasons = append(w.Recommendation.Reasons, verdict.ReasonSlower{Bounded: verdict.Bounded{Difference: open(one)}})
	if got := w.smallest(four); !strings.HasSuffix(got, "on 4 CPUs.") {
		t.Errorf("%q", got)
	}
}
