package race_test

import (
	"math"
	"math/rand/v2"
)

// Curve is what is true: logarithms of throughput and p99 at each value, 1 to K.
type Curve struct {
	Name            string
	K               int
	Throughput, P99 []float64 // index 0 is not used
}

// shape gives throughput and p99 at n, with a knee at k.
type shape func(n, k float64) (throughput, p99 float64)

func rise(n, k float64) float64 { return min(n, k) / k }
func over(n, k float64) float64 { return max(0, math.Log2(n/k)) }
func queue(t float64) float64   { return 0.6 + 0.4/t }
func pick(c bool, a, b float64) float64 {
	if c {
		return a
	}
	return b
}

// family is a shape with its name.
type family struct {
	name  string
	shape shape
}

// Families are the curves that figures are promised for.
func Families() []string { return names(curves()) }

// Margins are curves built to lie just beyond a margin.
func Margins() []string { return names(margins()) }

func names(all []family) []string {
	var out []string
	for _, f := range all {
		out = append(out, f.name)
	}
	return out
}

func curves() []family {
	return []family{
		{"rise-flat", func(n, k float64) (float64, float64) { return rise(n, k), queue(rise(n, k)) }},
		{"smooth", func(n, k float64) (float64, float64) { t := math.Tanh(1.5 * n / k); return t, queue(t) }},
		{"mild-decline", func(n, k float64) (float64, float64) {
			return rise(n, k) * (1 - 0.03*over(n, k)), queue(rise(n, k)) * (1 + 0.1*over(n, k))
		}},
		{"flat", func(n, k float64) (float64, float64) { return 1, 1 }},
		{"quota-latency", func(n, k float64) (float64, float64) {
			return rise(n, k), queue(rise(n, k)) * (1 + 0.5*over(n, k))
		}},
		{"latency-wants-more", func(n, k float64) (float64, float64) { return rise(n, k), pick(n < 2*k, 3, 1) }},
		{"retrograde", func(n, k float64) (float64, float64) {
			s := 0.05
			return n / (1 + s*(n-1) + (1-s)/(k*k)*n*(n-1)), 1 + 0.2*over(n, k)
		}},
		{"cliff", func(n, k float64) (float64, float64) {
			return rise(n, k) / (1 + 0.64*max(0, n-k)/k), queue(rise(n, k)) * (1 + 0.3*over(n, k))
		}},
		{"one-is-best", func(n, _ float64) (float64, float64) { return math.Pow(0.92, math.Log2(n)), 1 + 0.1*math.Log2(n) }},
		{"usl", usl},
		{"half-the-cpus", func(n, k float64) (float64, float64) { // as of two threads a core
			t := rise(n, k) + 0.3*max(0, min(n, 2*k)-k)/k
			return t, queue(min(1, t))
		}},
		{"numa-dip", func(n, k float64) (float64, float64) { // the second node costs more than its first CPUs bring
			t := rise(n, k) * pick(n > k, 0.85*math.Pow(n/k, 0.5), 1)
			return t, queue(min(1, t)) * pick(n > k, 1.1, 1)
		}},
	}
}

// usl is Gunther's Universal Scalability Law. Its coefficients follow from the knee, which
// is drawn, so that they differ from curve to curve: contention up to 25 %, and a
// coherency cost that puts the peak at one to three times the knee.
func usl(n, k float64) (float64, float64) {
	_, part := math.Modf(k * math.Phi)
	sigma := 0.25 * part
	_, part = math.Modf(k * math.E)
	peak := k * (1 + 2*part)
	kappa := (1 - sigma) / (peak * peak)
	t := n / (1 + sigma*(n-1) + kappa*n*(n-1))
	return t, 1 + 0.15*over(n, k)
}

func margins() []family {
	return []family{
		{"contended", func(n, k float64) (float64, float64) { return n / (1 + 0.15*(n-1)), 1 }},
		{"sharp-cliff", func(n, k float64) (float64, float64) {
			return rise(n, k) / (1 + 0.08*max(0, n-k)), queue(rise(n, k)) * (1 + 0.3*over(n, k))
		}},
		{"edge-6%", func(n, k float64) (float64, float64) { return pick(n < k, 0.94, 1), 1 }},
		{"p99-1.3", func(n, k float64) (float64, float64) { return 1, pick(n < k, 1.3, 1) }},
		{"p99-1.26-step", func(n, k float64) (float64, float64) { return rise(n, k), pick(n > 1.3*k, 1/1.26, 1) }},
		{"two-loss", func(n, k float64) (float64, float64) {
			return math.Exp(-0.0356 * min(3, max(0, math.Ceil(math.Log2(k/n)*1.5)))), 1
		}},
	}
}

// NewCurve draws a curve of the family over 1 to k: its knee is log-uniform from 2
// to three quarters of k.
func NewCurve(name string, k int, r *rand.Rand) Curve {
	knee := max(2, math.Round(2*math.Exp(r.Float64()*math.Log(0.375*float64(k)))))
	c := Curve{Name: name, K: k, Throughput: make([]float64, k+1), P99: make([]float64, k+1)}
	for _, f := range append(curves(), margins()...) {
		if f.name != name {
			continue
		}
		for n := 1; n <= k; n++ {
			t, p := f.shape(float64(n), knee)
			c.Throughput[n], c.P99[n] = math.Log(t), math.Log(p)
		}
	}
	return c
}

const (
	marginT = 0.051293294387550536 // -ln 0.95
	marginP = 0.1823215567939546   // ln 1.2
	hair    = 1e-9
)

// Truth is what may be named: the smallest good value, and how good the best is.
type Truth struct {
	Throughput, P99 float64
	Smallest        int
}

// truth over every value, whether it was measured or not.
func (c Curve) truth() Truth {
	t := Truth{Throughput: math.Inf(-1), P99: math.Inf(1)}
	for n := 1; n <= c.K; n++ {
		t.Throughput = max(t.Throughput, c.Throughput[n])
	}
	for n := 1; n <= c.K; n++ {
		if c.Throughput[n] >= t.Throughput-marginT-hair {
			t.P99 = min(t.P99, c.P99[n])
		}
	}
	for n := c.K; n >= 1; n-- {
		if slow, late := t.wrong(c, n); !slow && !late {
			t.Smallest = n
		}
	}
	return t
}

// wrong reports whether n loses more throughput than the margin, or its p99 is longer
// by more.
func (t Truth) wrong(c Curve, n int) (slow, late bool) {
	return c.Throughput[n] < t.Throughput-marginT-hair, c.P99[n] > t.P99+marginP+hair
}

// Harmful says whether n loses more than a tenth of the throughput, or its p99 is longer
// by more than 40 %.
func (t Truth) Harmful(c Curve, n int) bool {
	return c.Throughput[n] < t.Throughput+math.Log(0.9)-hair || c.P99[n] > t.P99+math.Log(1.4)+hair
}
