// Package chance sizes the simulations among the tests. The second tier runs all of
// one, against the bounds that are promised; the first tier runs a tenth, against the
// bounds that follow from the promise for so few runs. A tenth is also what runs under the
// race detector, which makes a run ten times as slow and finds nothing in more of them.
package chance

import (
	"math"
	"os"
	"strconv"

	"github.com/procfit/procfit/test/need"
)

// Runs is how many of all runs this tier simulates.
func Runs(all int) int {
	if need.Required() && !need.Raced {
		return all
	}
	return (all + 9) / 10
}

// Sweeps is Runs, or as many as PROCFIT_SWEEPS asks for.
func Sweeps(all int) int {
	if n, err := strconv.Atoi(os.Getenv("PROCFIT_SWEEPS")); err == nil {
		return n
	}
	return Runs(all)
}

// RunsOf is for simulations of many cells: a hundredth of all in the first tier, four in the
// second, and all with PROCFIT_FULL=1.
func RunsOf(hundredth int) int {
	switch {
	case need.Whole():
		return 100 * hundredth
	case need.Required() && !need.Raced:
		return 4 * hundredth
	}
	return hundredth
}

// rare is how often a test of runs that keep the promise may fail: their seeds are
// fixed, so that such a test fails always or never.
const rare = 0.001

// Most is how often an event of the probability p happens in n runs, but for rare
// cases in which it happens more often. The runs are independent of one another.
func Most(n int, p float64) int {
	below := 0.0
	for k := range n {
		if below += probability(n, k, p); below >= 1-rare {
			return k
		}
	}
	return n
}

// Least is how often the event happens, but for rare cases in which it happens less
// often.
func Least(n int, p float64) int { return n - Most(n, 1-p) }

func probability(n, k int, p float64) float64 {
	if p <= 0 || p >= 1 {
		if (p <= 0) == (k == 0) && (p <= 0 || k == n) {
			return 1
		}
		return 0
	}
	lgamma := func(x int) float64 { y, _ := math.Lgamma(float64(x) + 1); return y }
	return math.Exp(lgamma(n) - lgamma(k) - lgamma(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}
