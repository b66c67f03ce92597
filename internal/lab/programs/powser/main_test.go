package powser

import (
	"slices"
	"strings"
	"testing"
)

// The coefficients of tan x, as in every table of integrals.
var tangent = []rational{
	{0, 1}, {1, 1}, {0, 1}, {1, 3}, {0, 1}, {2, 15}, {0, 1}, {17, 315}, {0, 1}, {62, 2835}, {0, 1}, {1382, 155925},
}

func TestTan(t *testing.T) {
	if got := plainTan(len(tangent)); !slices.Equal(got, tangent) {
		t.Errorf("without processes: got %v, want %v", got, tangent)
	}
	if err := compute(tangent); err != nil {
		t.Error(err)
	}
	wrong := slices.Clone(tangent)
	wrong[9] = rational{62, 2836}
	if err := compute(wrong); err == nil || !strings.Contains(err.Error(), "coefficient 9 of tan x: {62 2835} from its equation, {62 2835} from the inverse of arctan, want {62 2836}") {
		t.Errorf("a wrong coefficient: %v", err)
	}
}

func TestSeries(t *testing.T) {
	n := new(network)
	defer n.end()
	for name, tc := range map[string]struct {
		s    series
		want []rational
	}{
		"1/(1-x)":             {n.reciprocal(n.shift(one, n.constant(one.neg()))), []rational{{1, 1}, {1, 1}, {1, 1}, {1, 1}}},
		"(1+x)²":              {n.product(n.shift(one, n.constant(one)), n.shift(one, n.constant(one))), []rational{{1, 1}, {2, 1}, {1, 1}, {0, 1}}},
		"arctan x":            {n.arctan(), []rational{{0, 1}, {1, 1}, {0, 1}, {-1, 3}, {0, 1}, {1, 5}}},
		"1 + (x+x²)²":         {n.compose(poly(n, 1, 0, 1), poly(n, 0, 1, 1)), []rational{{1, 1}, {0, 1}, {1, 1}, {2, 1}, {1, 1}, {0, 1}}},
		"the inverse of x-x²": {n.inverse(poly(n, 0, 1, -1)), []rational{{0, 1}, {1, 1}, {1, 1}, {2, 1}, {5, 1}, {14, 1}, {42, 1}}}, // Catalan's numbers
	} {
		for i, want := range tc.want {
			if got := tc.s.next(); got != want {
				t.Errorf("%s: coefficient %d is %v, want %v", name, i, got, want)
			}
		}
	}
}

func poly(n *network, coefficients ...int64) series {
	s := n.constant(zero)
	for _, c := range slices.Backward(coefficients) {
		s = n.shift(rational{c, 1}, s)
	}
	return s
}

func TestOverflow(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a product of more than 64 bits is taken")
		}
	}()
	times(1<<40, 1<<40)
}
