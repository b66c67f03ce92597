package eprocess

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/procfit/procfit/test/chance"
)

// TestShift: of fair differences hardly any shift is found, and one is, whenever it begins.
func TestShift(t *testing.T) {
	const starts, alpha = 240, 0.05
	n, false1 := chance.Runs(2000), 0
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		s := Shift{Starts: starts}
		for range starts {
			if s.Add(r.NormFloat64()); s.Found(alpha) {
				false1++
				break
			}
		}
	}
	if false1 > chance.Most(n, alpha) {
		t.Errorf("%d of %d", false1, n)
	}
	for _, at := range []int{0, 50, 500, 2000} {
		r := rand.New(rand.NewPCG(uint64(at), 2))
		s := Shift{Starts: starts}
		for range at {
			s.Add(r.NormFloat64() - 2)
		}
		took := 0
		for ; took < 100 && !s.Found(alpha); took++ {
			s.Add(r.NormFloat64() + 2)
		}
		if took < 10 || took > 40 {
			t.Errorf("after %d: found after %d", at, took)
		}
		if len(s.sizes) > mostSizes || len(s.bettors) > 200 {
			t.Errorf("%d sizes and %d bettors are kept", len(s.sizes), len(s.bettors))
		}
	}
}

// What is not a number says nothing, however often it comes.
func TestNotANumber(t *testing.T) {
	shift, signs := Shift{Starts: 10}, Signs{}
	for range 2 * mostSizes {
		shift.Add(math.NaN())
		signs.Add(math.NaN())
	}
	if shift.Found(0.05) || signs.IsAbove(0.05) || signs.IsBelow(0.05) {
		t.Error("a shift is found")
	}
}
