package verdict

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict/journal"
)

func TestEngines(t *testing.T) {
	trial := func(valid bool, engine, protocol string, cpu float64) journal.Trial {
		return journal.Trial{Valid: valid, Load: &journal.LoadCost{CPUSeconds: cpu}, Phases: []journal.Phase{{Engine: engine, Protocol: protocol, Requests: 1000}}}
	}
	got := engines([]journal.Trial{
		trial(true, "portable", "HTTP/2", .01), trial(true, "portable", "HTTP/2", .03), trial(true, "portable", "HTTP/2", .02),
		trial(false, "portable", "HTTP/2", 9), trial(true, "raw", "HTTP/1.1", .004), trial(true, "", "", 1), {Valid: true},
	})
	if len(got) != 2 || got[0].Trials != 3 || *got[0].CPUSecondsPerRequest != 20e-6 || got[0].Protocol != "HTTP/2" || got[1].Name != "raw" || *got[1].CPUSecondsPerRequest != 4e-6 {
		t.Errorf("%+v", got)
	}
}
