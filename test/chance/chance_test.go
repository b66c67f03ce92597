package chance

import "testing"

func TestMost(t *testing.T) {
	for _, tc := range []struct {
		n     int
		p     float64
		least int
		most  int
	}{
		{10, 0, 0, 0}, {10, 1, 10, 10}, {1, 0.5, 0, 1},
		{10, 0.5, 1, 9}, // 1 - 2^-10 is within nine of ten
		{10, 0.05, 0, 4}, {200, 0.01, 0, 8}, {200, 0.99, 192, 200},
		{2000, 0.05, 71, 131}, // 100 ± 3.1 standard deviations, skewed
	} {
		if least, most := Least(tc.n, tc.p), Most(tc.n, tc.p); least != tc.least || most != tc.most {
			t.Errorf("%d runs at %g: %d to %d, want %d to %d", tc.n, tc.p, least, most, tc.least, tc.most)
		}
	}
}
