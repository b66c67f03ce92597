package canary

import (
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// UnreadyMost is how long a pod may not be ready.
const UnreadyMost = 10 * time.Second

// Harm looks for a query, a latency or a number of failed requests that is above the
// control's, in all slices so far. It may be asked after every slice: chance alone ends one
// canary in 100 at most, whatever the number of its settings and metrics.
func (h Header) Harm(trials []journal.Trial) *journal.Harm {
	e := h.experiment(trials)
	harm := e.rules.Harm(e.slices)
	if harm == nil {
		return nil
	}
	return &journal.Harm{Code: journal.HarmQuery, Setting: e.settings[harm.Value].Label, Query: harm.Metric, Slices: harm.Slices, Ratio: harm.Ratio}
}
