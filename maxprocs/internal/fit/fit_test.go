package fit

import "testing"

func TestClamps(t *testing.T) {
	for _, tc := range []struct {
		rule Rule
		cpus float64
		want int
	}{
		{Rule{}, 0, 1}, {Rule{}, 1e300, 1<<31 - 1}, {Rule{Min: 3, Max: 2}, 8, 3}, {Rule{Min: -1, Max: -1}, 8, 8},
		{Rule{Reserve: -5}, 2, 2}, {Rule{Reserve: 9}, 2, 1}, {Rule{Threshold: 9}, 2.9, 2}, {Rule{Threshold: 0.5}, 0.2, 1},
		{Rule{Threshold: 0.3}, 2.2 + 0.1, 3}, {Rule{Rounding: Floor}, 1.1 + 1.1 + 0.8, 3}, {Rule{Threshold: 1e-9}, 3, 3},
	} {
		if got := tc.rule.Procs(tc.cpus); got != tc.want {
			t.Errorf("%+v of %v CPUs: %d, want %d", tc.rule, tc.cpus, got, tc.want)
		}
	}
}
