package journal

import (
	"reflect"
	"testing"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/test/must"
)

// What a race will run is in the journal before its trials are, and reading it again
// gives the same, in the same order.
func TestBlocks(t *testing.T) {
	dir := results(t)
	h := header()
	h.Plan.Strategy, h.Plan.Goal, h.Plan.MaxTrials, h.Plan.MaxSeconds = StrategyRace, GoalLikely, 64, 90
	h.Load.Arrangement, h.Load.CPUs, h.Target.CPUs = ptr(ArrangementApart), cpuset.Set{7}, cpuset.Set{0, 1, 2, 3, 4, 5, 6}
	w := must.Get(Create(dir, h, same))(t)
	blocks := []Block{
		{Block: 0, Settings: []Setting{{Label: Default, Replicas: 1}, {Label: "4", Procs: ptr(4), Replicas: 1}}, Why: "first"},
		{Block: 1, Settings: []Setting{{Label: "3", Procs: ptr(3), Replicas: 1}}, Why: "edge"},
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

// What a phase says of its own latency is absent where nobody asked.
func TestJudgementAbsent(t *testing.T) {
	dir := results(t)
	w := must.Get(Create(dir, header(), same))(t)
	defer w.Close()
	asked := trial(1)
	asked.Phases[0].Judgement = Judgement{Judged: ptr(false), UnjudgedReason: UnjudgedFewRequests, Quantile: 0.95, QuantileSeconds: ptr(0.25)}
	for _, tr := range []Trial{trial(0), asked} {
		must.OK(t, w.Append(tr))
	}
	c := must.Get(ReadDirectory(dir.Path()))(t)
	if got := c.Trials[0].Phases[0].Judgement; got != (Judgement{}) {
		t.Errorf("a phase that was not asked has %+v", got)
	}
	if got := c.Trials[1].Phases[0].Judgement; !reflect.DeepEqual(got, asked.Phases[0].Judgement) {
		t.Errorf("read %+v, want %+v", got, asked.Phases[0].Judgement)
	}
}
