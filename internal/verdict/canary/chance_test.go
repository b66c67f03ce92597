package canary

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict/paired"
	"github.com/procfit/procfit/test/chance"
)

// traffic draws a query of two equal settings in a slice. past is what a pattern keeps from
// one slice to the next.
type traffic func(r *rand.Rand, slice int, past *float64) (is, was float64)

// noisy is a p99 whose level both share, and which strays by itself on each side.
func noisy(by float64, draw func(*rand.Rand) float64, level func(r *rand.Rand, slice int, past *float64) float64) traffic {
	return func(r *rand.Rand, slice int, past *float64) (float64, float64) {
		l := level(r, slice, past)
		return l * math.Exp(by*draw(r)), l * math.Exp(by*draw(r))
	}
}

// requests is a p99 of so many latencies with an exponential tail.
func requests(n int) traffic {
	p99 := func(r *rand.Rand) float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = r.ExpFloat64()
		}
		slices.Sort(list)
		return list[n*99/100]
	}
	return func(r *rand.Rand, _ int, _ *float64) (float64, float64) { return p99(r), p99(r) }
}

// failing are so many errors in the mean, all of different requests.
func failing(mean float64) traffic {
	poisson := func(r *rand.Rand) (n float64) {
		for at := r.ExpFloat64(); at < mean; at += r.ExpFloat64() {
			n++
		}
		return n
	}
	return func(r *rand.Rand, _ int, _ *float64) (float64, float64) { return poisson(r), poisson(r) }
}

func normal(r *rand.Rand) float64 { return r.NormFloat64() }

// heavy is Student's t with two degrees of freedom, which has no variance.
func heavy(r *rand.Rand) float64 { return r.NormFloat64() / math.Sqrt(r.ExpFloat64()) }

func cauchy(r *rand.Rand) float64 { return r.NormFloat64() / math.Abs(r.NormFloat64()) }

func steady(*rand.Rand, int, *float64) float64 { return 1 }

// ofDay swings three-fold in 30 slices.
func ofDay(_ *rand.Rand, slice int, _ *float64) float64 {
	return 2 + math.Sin(2*math.Pi*float64(slice)/30)
}

func bursts(r *rand.Rand, _ int, _ *float64) float64 {
	if r.Float64() < 0.1 {
		return 10
	}
	return 1
}

// drifting has a level that depends on the one before, as a shared backend's load has.
func drifting(r *rand.Rand, _ int, past *float64) float64 {
	*past = 0.9**past + 0.3*r.NormFloat64()
	return math.Exp(*past)
}

// unsteady strays by 2% in most slices and by 50% in some.
func unsteady(r *rand.Rand, _ int, _ *float64) (float64, float64) {
	by := 0.02
	if r.Float64() < 0.3 {
		by = 0.5
	}
	return math.Exp(by * r.NormFloat64()), math.Exp(by * r.NormFloat64())
}

// inBursts fail in some slices, many at a time, on one side alone.
func inBursts(r *rand.Rand, _ int, _ *float64) (is, was float64) {
	for _, side := range []*float64{&is, &was} {
		if r.Float64() < 0.2 {
			*side = math.Ceil(10 * r.ExpFloat64())
		}
	}
	return is, was
}

// coarse knows two values alone.
func coarse(r *rand.Rand, _ int, _ *float64) (float64, float64) {
	return 0.25 * float64(1+r.IntN(2)), 0.25 * float64(1+r.IntN(2))
}

// oneOfTwo has a p99 three times as long on one side in every slice, and chance says on
// which: as a client's one heavy connection is on the one pod or on the other.
func oneOfTwo(r *rand.Rand, _ int, _ *float64) (is, was float64) {
	is, was = math.Exp(0.05*r.NormFloat64()), math.Exp(0.05*r.NormFloat64())
	if r.IntN(2) == 0 {
		return 3 * is, was
	}
	return is, 3 * was
}

// ended is after how many of 30 slices a canary ends for a query that is so many times
// what it would be; 0: it does not.
func ended(r *rand.Rand, of traffic, times, margin, comparisons float64) int {
	var is, was []float64
	past := 0.0
	for i := range 30 {
		x, y := of(r, i, &past)
		is, was = append(is, x*times), append(was, y)
		if _, harm := paired.Above(is, was, margin, falseAlarms/comparisons); harm {
			return i + 1
		}
	}
	return 0
}

// Pods that are equal end at most one canary in 100, at any margin, whatever the traffic.
func TestFalseAlarms(t *testing.T) {
	runs := chance.Runs(10_000)
	most := runs / 100
	if runs < 10_000 {
		most = chance.Most(runs, falseAlarms)
	}
	for name, of := range map[string]traffic{
		"steady, straying by 5%":         noisy(0.05, normal, steady),
		"steady, straying by 25%":        noisy(0.25, normal, steady),
		"a daily swing":                  noisy(0.25, normal, ofDay),
		"bursts":                         noisy(0.25, normal, bursts),
		"a drift that both share":        noisy(0.25, normal, drifting),
		"heavy tails":                    noisy(0.25, heavy, steady),
		"heavy tails without a mean":     noisy(0.25, cauchy, steady),
		"some slices stray far more":     unsteady,
		"a query with two values":        coarse,
		"errors, one in ten slices":      failing(0.1),
		"errors, one in a slice":         failing(1),
		"errors, ten in a slice":         failing(10),
		"errors, many at a time, seldom": inBursts,
	} {
		r, alarms := rand.New(rand.NewPCG(25, 1)), 0
		for range runs {
			if ended(r, of, 1, 0, 1) > 0 {
				alarms++
			}
		}
		t.Logf("%s: %d of %d canaries end for nothing", name, alarms, runs)
		if alarms > most {
			t.Errorf("%s: %d of %d canaries end for nothing, want at most %d", name, alarms, runs, most)
		}
	}
}

// The limit of a test that finds harm in six slices: it takes differences of one size for
// harm where they have the same sign by chance five times, which is 1 case of 32.
func TestFalseAlarmsOfOneOfTwo(t *testing.T) {
	runs, alarms := chance.Runs(10_000), 0
	r := rand.New(rand.NewPCG(25, 4))
	for range runs {
		if ended(r, oneOfTwo, 1, 0.2, 1) > 0 {
			alarms++
		}
	}
	t.Logf("%d of %d canaries end for nothing", alarms, runs)
	if alarms > chance.Most(runs, 0.08) {
		t.Errorf("%d of %d canaries end for nothing", alarms, runs)
	}
}

// A harm of 30% is found within six slices in 95% of canaries whose slices have 2,000
// requests, or stray by hardly 5%; where they stray more it takes more slices.
func TestHarmIsFound(t *testing.T) {
	runs := chance.Runs(2000)
	for _, c := range []struct {
		name                string
		of                  traffic
		times, comparisons  float64
		six, twelve, thirty float64 // the share that is found by then, at least
	}{
		{"30%, straying by 3%", noisy(0.03, normal, steady), 1.3, 1, 0.99, 1, 1},
		{"30%, straying by 5%", noisy(0.05, normal, drifting), 1.3, 1, 0.94, 1, 1},
		{"30%, straying by 5%, of two comparisons", noisy(0.05, normal, drifting), 1.3, 2, 0.8, 0.99, 1},
		{"30%, straying by 10%", noisy(0.1, normal, drifting), 1.3, 1, 0.3, 0.93, 0.99},
		{"30%, straying by 15%", noisy(0.15, normal, drifting), 1.3, 1, 0.1, 0.5, 0.98},
		{"30%, of 1,000 requests in a slice", requests(1000), 1.3, 1, 0.7, 0.99, 1},
		{"30%, of 2,000 requests in a slice", requests(2000), 1.3, 1, 0.95, 0.999, 1},
		{"30%, of 5,000 requests in a slice", requests(5000), 1.3, 1, 0.99, 1, 1},
		{"twice as long, straying by 10%", noisy(0.1, normal, bursts), 2, 1, 0.95, 1, 1},
		{"twice as long, straying by 25%", noisy(0.25, normal, bursts), 2, 1, 0.35, 0.9, 0.99},
		{"ten times, straying by 25%", noisy(0.25, normal, bursts), 10, 1, 0.99, 1, 1},
	} {
		r, six, twelve, thirty := rand.New(rand.NewPCG(25, 2)), 0, 0, 0
		for range runs {
			n := ended(r, c.of, c.times, 0.2, c.comparisons)
			if n > 0 {
				thirty++
			}
			if n > 0 && n <= 12 {
				twelve++
			}
			if n > 0 && n <= 6 {
				six++
			}
		}
		t.Logf("%s: of %d canaries %d end within 6 slices, %d within 12, %d within 30", c.name, runs, six, twelve, thirty)
		if six < chance.Least(runs, c.six) || twelve < chance.Least(runs, c.twelve) || thirty < chance.Least(runs, c.thirty) {
			t.Errorf("%s: want %g within 6 slices, %g within 12, %g within 30", c.name, c.six, c.twelve, c.thirty)
		}
	}
}

// Errors from none are found as fast as they are many.
func TestErrorsAreFound(t *testing.T) {
	runs := chance.Runs(2000)
	for mean, most := range map[float64]int{1: 25, 5: 8, 50: 5} {
		r, late := rand.New(rand.NewPCG(25, 3)), 0
		for range runs {
			alone := func(r *rand.Rand, slice int, past *float64) (float64, float64) {
				errors, _ := failing(mean)(r, slice, past)
				return errors, 0
			}
			if n := ended(r, alone, 1, 0.2, 1); n == 0 || n > most {
				late++
			}
		}
		t.Logf("%g errors in a slice where the control has none: %d of %d canaries take more than %d slices", mean, late, runs, most)
		if late > chance.Most(runs, 0.05) {
			t.Errorf("%g errors in a slice: %d of %d canaries take more than %d slices", mean, late, runs, most)
		}
	}
}
