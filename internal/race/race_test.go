package race_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/procfit/procfit/internal/race"
	"github.com/procfit/procfit/internal/race/racetest"
)

// A plan is a function of rules and trials: what ran before is in the journal alone.
func TestNextIsPure(t *testing.T) {
	rules := racetest.Rules(16, race.Proven)
	r := rand.New(rand.NewPCG(1, 2))
	run := racetest.Race(racetest.NewCurve("smooth", 16, r), racetest.Noises()[0], rules, r)
	for cut, trial := range run.Trials {
		if cut > 0 && trial.Block == run.Trials[cut-1].Block {
			continue
		}
		step := race.Next(rules, run.Trials[:cut])
		for i, c := range step.Block {
			if got := run.Trials[cut+i]; got.Value != c.Value || got.Unset != c.Unset {
				t.Fatalf("block %d at %d: planned %v, ran %d unset=%t", trial.Block, i, c, got.Value, got.Unset)
			}
		}
	}
	again := race.Assess(rules, run.Trials)
	again.Model, run.Assessment.Model = nil, nil
	if !reflect.DeepEqual(again, run.Assessment) {
		t.Errorf("assessed twice:\n%+v\n%+v", again, run.Assessment)
	}
}
