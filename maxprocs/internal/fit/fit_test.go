package fit

import "testing"

func TestClamps(t *testing.T) {
	for _, tc := range []struct {
		rule Rule
		cpus float64
		want int
	}{
		{Rule{}, 0, 1}, {Rule{}, 1e300, 1<<31 - 1}, {Rule{Min: 3, Max: 2}, 8, 3}, {Rule{Min: -1, Max: -1}, 8, 8},
		{Rule{Reserve: -5}, 2, 2}, {Rule{Reserve: -5}, 1.5, 2}, {Rule{Reserve: 9}, 2, 1},
		{Rule{Reserve: 0.5}, 4, 3}, {Rule{Reserve: 0.5}, 2.5, 2}, {Rule{Reserve: 0.2}, 2.2, 2}, {Rule{Reserve: 0.1}, 1, 1},
		{Rule{Reserve: 0.5, Rounding: Ceil}, 4, 4}, {Rule{Reserve: 0.5, Threshold: 0.5}, 4, 4}, {Rule{Reserve: 0.5, Threshold: 0.6}, 4, 3}, {Rule{Threshold: 9}, 2.9, 2}, {Rule{Threshold: 0.5}, 0.2, 1},
		{Rule{Threshold: 0.3}, 2.2 + 0.1, 3}, {Rule{Rounding: Floor}, 1.1 + 1.1 + 0.8, 3}, {Rule{Threshold: 1e-9}, 3, 3},
	} {
		if got := tc.rule.Procs(tc.cpus, true); got != tc.want {
			t.Errorf("%+v of %v CPUs: %d, want %d", tc.rule, tc.cpus, got, tc.want)
		}
	}
}

// A minimum is one of what a limit gives: the affinity is no quota.
func TestMinNeedsALimit(t *testing.T) {
	r := Rule{Min: 5, Max: 6}
	if limited, alone := r.Procs(2, true), r.Procs(2, false); limited != 5 || alone != 2 {
		t.Errorf("%+v of 2 CPUs: %d under a limit, %d without; want 5 and 2", r, limited, alone)
	}
	if got := r.Procs(8, false); got != 6 {
		t.Errorf("%+v of 8 CPUs without a limit: %d, want 6", r, got)
	}
}
