package verdict_test

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

func TestEngines(t *testing.T) {
	h, trials := verdicttest.Generate(verdicttest.Config{Settings: []verdicttest.Truth{verdicttest.Set(1, 1000, 0.01)}, Blocks: 6, NoAA: true})
	for i, c := range []struct {
		valid            bool
		engine, protocol string
		cpu              float64
	}{
		{true, "portable", "HTTP/2", .01}, {true, "portable", "HTTP/2", .03}, {true, "portable", "HTTP/2", .02},
		{false, "portable", "HTTP/2", 9}, {true, "raw", "HTTP/1.1", .004}, {true, "", "", 1},
	} {
		trials[i].Valid, trials[i].Load = c.valid, &journal.LoadCost{CPUSeconds: c.cpu}
		trials[i].Phases = []journal.Phase{{Engine: c.engine, Protocol: c.protocol, Requests: 1000}}
	}
	got := verdict.Analyze(h, trials).Engines
	if len(got) != 2 || got[0].Trials != 3 || *got[0].CPUSecondsPerRequest != 20e-6 || got[0].Protocol != "HTTP/2" || got[1].Name != "raw" || *got[1].CPUSecondsPerRequest != 4e-6 {
		t.Errorf("%+v", got)
	}
}
