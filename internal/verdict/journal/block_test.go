package journal

import (
	"reflect"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/test/must"
)

// What a race will run is in the journal before its trials are, and reading it again
// gives the same, in the same order.
func TestBlocks(t *testing.T) {
	dir := results(t)
	h := header()
	h.Plan.Strategy, h.Plan.Goal, h.Plan.MaxTrials, h.Plan.MaxSeconds = StrategyRace, GoalLikely, 64, 90
	h.Load.Arrangement, h.Load.CPUs, h.Target.CPUs = new(ArrangementApart), cpuset.Set{7}, cpuset.Set{0, 1, 2, 3, 4, 5, 6}
	w := must.Get(Create(dir, h, same))(t)
	blocks := []Block{
		{Block: 0, Settings: []Setting{{Label: Default, Replicas: 1}, {Label: "4", Procs: new(4), Replicas: 1}}, Why: "first"},
		{Block: 1, Settings: []Setting{{Label: "3", Procs: new(3), Replicas: 1}}, Why: "edge"},
	}
	for _, b := range blocks {
		must.OK(t, w.AppendBlock(b))
		must.OK(t, w.Append(trial(b.Block)))
	}
	must.OK(t, w.Close())
	c := must.Get(ReadDirectory(dir.Path()))(t)
	for i := range blocks {
		blocks[i].Kind = KindBlock
	}
	if !reflect.DeepEqual(c.Blocks, blocks) || len(c.Trials) != 2 {
		t.Errorf("read %+v and %d trials, want %+v and 2", c.Blocks, len(c.Trials), blocks)
	}
	if !c.Header.Plan.Racing() || !reflect.DeepEqual(c.Header.Plan, h.Plan) || !reflect.DeepEqual(c.Header.Load, h.Load) || c.Header.Target.CPUs.String() != "0-6" {
		t.Errorf("read the header %+v", c.Header)
	}
}

// Where a race continues with another budget, that is in the plan, and in the words that ask for
// it; what did not change is not named.
func TestAnotherBudgetIsAskedFor(t *testing.T) {
	first := Budget{Goal: GoalProven, MaxTrials: 40, MaxSeconds: 60}
	for want, c := range map[string]struct {
		until string // of the first run; empty: it was not set
		more  []Budget
	}{
		"sweep --for 1m":                             {"", []Budget{first}},
		"sweep --for 10m --until trials=64":          {"", []Budget{{Goal: GoalProven, MaxTrials: 64, MaxSeconds: 600}}},
		"sweep --until likely,trials=40":             {"trials=40", []Budget{{Goal: GoalLikely, MaxTrials: 40}}},
		"sweep --for 1m --until proven,trials=70":    {"likely,trials=40", []Budget{{Goal: GoalLikely, MaxTrials: 50, MaxSeconds: 60}, {Goal: GoalProven, MaxTrials: 70, MaxSeconds: 60}}},
		"sweep --for 1m30s --until likely,trials=40": {"likely,trials=40", []Budget{{Goal: GoalLikely, MaxTrials: 40, MaxSeconds: 90}}},
	} {
		dir, h := results(t), header()
		h.Plan.Strategy, h.Plan.Goal, h.Plan.MaxTrials, h.Plan.MaxSeconds = StrategyRace, first.Goal, first.MaxTrials, first.MaxSeconds
		h.Spec = h.Spec.With(spec.Set("for", "1m"))
		if c.until != "" {
			h.Spec = h.Spec.With(spec.Set("until", c.until))
		}
		if strings.HasPrefix(c.until, "likely") {
			h.Plan.Goal = GoalLikely
		}
		w := must.Get(Create(dir, h, same))(t)
		for _, b := range c.more {
			b.Kind = KindBudget
			must.OK(t, w.AppendBudget(b))
		}
		must.OK(t, w.Close())
		now := must.Get(ReadDirectory(dir.Path()))(t).Header
		last := c.more[len(c.more)-1]
		if last.Kind = KindBudget; now.Plan.Budget() != last {
			t.Errorf("the plan has %+v, want %+v", now.Plan.Budget(), last)
		}
		if got := strings.Join(now.Spec.Args(), " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
