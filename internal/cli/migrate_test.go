package cli

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// TestProofOf: what a comparison says of one limit is no proof of another.
func TestProofOf(t *testing.T) {
	for name, tc := range map[string]struct {
		quota *float64
		only  bool
		want  int
	}{
		"the only limit":                        {nil, true, 1},
		"this one of several":                   {new(1.5), false, 1},
		"another of several":                    {new(2.5), false, 0},
		"one of several, and nobody says which": {nil, false, 0},
	} {
		g := &verdict.Gate{Checks: []verdict.GateCheck{{Setting: journal.Setting{QuotaCPUs: tc.quota}}}}
		if p := proofOf(1.5, tc.only, g, "x"); len(p.Checks) != tc.want || p.Limit != 1.5 {
			t.Errorf("%s: %+v, want %d checks", name, p, tc.want)
		}
	}
}
