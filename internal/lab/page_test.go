package lab

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/test/must"
)

// Seeds is docs/evidence/articles, which has lab.json as lab run all wrote it.
const Seeds = "../../docs/evidence/articles"

// Recorded is the run in Seeds, whose experiments ask what today's do.
func Recorded(t *testing.T) *Outcome {
	t.Helper()
	b := must.Get(os.ReadFile(filepath.Join(Seeds, "lab.json")))(t)
	var o Outcome
	must.OK(t, json.Unmarshal(b, &o))
	if !o.Complete {
		t.Error("the run in docs/evidence/articles is not complete")
	}
	for _, e := range o.Experiments {
		if e.Quick || !e.Complete || e.NotRun != "" {
			t.Errorf("%s: quick %v, complete %v, not run %q", e.ID, e.Quick, e.Complete, e.NotRun)
		}
	}
	for _, e := range List() {
		var today Ran
		today.Conclude(e, o.Host.EffectiveCPUs)
		if at := slices.IndexFunc(o.Experiments, func(r Ran) bool { return r.ID == e.ID }); at < 0 || !slices.EqualFunc(today.Hypotheses, o.Experiments[at].Hypotheses, Answered.sameQuestion) {
			t.Errorf("%s asks something else since the run: run procfit lab run all again", e.ID)
		}
	}
	return &o
}

func interval(i Estimate) string {
	if i.Low == nil || i.High == nil {
		return number.Count(*i.Value)
	}
	return number.Count(*i.Value) + " [" + number.Count(*i.Low) + ", " + number.Count(*i.High) + "]"
}
