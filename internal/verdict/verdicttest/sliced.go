package verdicttest

import (
	"math/rand/v2"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Sliced is a sweep of a server by GOMAXPROCS 1 to 4, with a default of 4, that slices of one
// start begin. live is what the program does in these, and fresh in starts of its own.
func Sliced(live, fresh World, seed uint64) (h journal.Header, trials, slices []journal.Trial) {
	h = Varied()
	h.Target.Kind, h.Plan.Slices = journal.KindServer, true
	r := rand.New(rand.NewPCG(seed, 2))
	one := func(w World, a journal.Setting, block, order int) journal.Trial {
		t := w.trial(a, block, order, r)
		t.ThroughputUnit = "requests"
		return t
	}
	pilot := one(fresh, h.Plan.Settings[0], 0, 0)
	pilot.Role = journal.RolePilot
	trials = append(trials, pilot)
	for block := 0; ; block++ {
		c := contest.Count(h, trials, slices...).Contests()[0]
		values := c.NextSlices()
		for order, n := range values {
			t := one(live, h.Plan.Settings[n], block, order)
			t.Role, t.Start, t.DurationSeconds = journal.RoleSlice, new(0), 0.3
			slices = append(slices, t)
		}
		if values == nil {
			break
		}
	}
	for block := 0; ; block++ {
		step := contest.Count(h, trials, slices...).Contests()[0].Next()
		for order, a := range step.Settings {
			trials = append(trials, one(fresh, a, block, order))
		}
		if step.Stop != "" {
			return h, trials, slices
		}
	}
}
