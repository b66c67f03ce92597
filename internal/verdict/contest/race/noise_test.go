package race_test

import (
	"math"
	"math/rand/v2"

	"github.com/procfit/procfit/internal/verdict/contest/race"
)

// Noise is how a trial strays.
type Noise struct {
	Name     string
	T, P     float64 // standard deviations of the logarithms
	Walk     float64 // step of a random walk that all values share, a trial
	Outliers float64 // share of trials at 0.6 of the throughput and 2.5 of the p99
	Student  bool    // three degrees of freedom
	Hetero   float64 // values differ in their spread by up to e to the power of this
	Bursts   float64 // of p99, standard deviation of an AR(1) with 0.8
	Bimodal  bool    // three in ten trials at 0.88 and 1.6
}

// Noises that figures are given for; the first is the base.
func Noises() []Noise {
	sd := func(cv float64) float64 { return math.Sqrt(math.Log1p(cv * cv)) }
	base := Noise{Name: "base", T: 0.03, P: sd(0.25), Walk: 0.01}
	with := func(name string, change func(*Noise)) Noise {
		n := base
		n.Name = name
		change(&n)
		return n
	}
	return []Noise{
		base,
		with("t3", func(n *Noise) { n.Student = true; n.T /= math.Sqrt(3); n.P /= math.Sqrt(3) }),
		with("outliers", func(n *Noise) { n.Outliers = 0.05 }),
		with("hetero", func(n *Noise) { n.Hetero = 1 }),
		with("drift", func(n *Noise) { n.Walk = 0.03 }),
		with("bursts", func(n *Noise) { n.P = 0.2; n.Bursts = 0.2 }),
		with("p10", func(n *Noise) { n.P = sd(0.1) }),
		with("p60", func(n *Noise) { n.P = sd(0.6) }),
		with("t10", func(n *Noise) { n.T = 0.1 }),
		with("bimodal", func(n *Noise) { n.Bimodal = true; n.T = 0.02; n.P = 0.2 }),
		with("vm", func(n *Noise) { n.T, n.P, n.Walk, n.Outliers, n.Bursts = 0.05, sd(0.4), 0.02, 0.05, 0.2 }),
		with("bad-vm", func(n *Noise) { n.T, n.P, n.Walk, n.Outliers, n.Bursts = 0.1, sd(0.5), 0.03, 0.1, 0.3 }),
	}
}

// bench runs trials of a curve.
type bench struct {
	curve       Curve
	noise       Noise
	r           *rand.Rand
	walk, burst float64
	scale       []float64
}

func newBench(c Curve, n Noise, r *rand.Rand) *bench {
	b := &bench{curve: c, noise: n, r: r, scale: make([]float64, c.K+1), burst: n.Bursts * r.NormFloat64()}
	h := 0.0
	for i := range b.scale { // neighbours stray by the same amount
		if i&(i-1) == 0 {
			h = r.Float64()*2 - 1
		}
		b.scale[i] = math.Exp(n.Hetero * h)
	}
	return b
}

func (b *bench) z() float64 {
	if !b.noise.Student {
		return b.r.NormFloat64()
	}
	c := 0.0
	for range 3 {
		x := b.r.NormFloat64()
		c += x * x
	}
	return b.r.NormFloat64() / math.Sqrt(c)
}

// run is one trial. The offered rate is half of what the default carries.
func (b *bench) run(c race.Choice, block int) race.Trial {
	n := c.Value
	b.walk += b.noise.Walk * b.r.NormFloat64()
	b.burst = 0.8*b.burst + 0.6*b.noise.Bursts*b.r.NormFloat64()
	t := b.curve.Throughput[n] + b.walk + b.noise.T*b.scale[n]*b.z()
	p := b.curve.P99[n] - b.walk + b.burst + b.noise.P*b.scale[n]*b.z()
	if b.noise.Bimodal && b.r.Float64() < 0.3 {
		t, p = t+math.Log(0.88), p+math.Log(1.6)
	}
	if b.r.Float64() < b.noise.Outliers {
		t, p = t+math.Log(0.6), p+math.Log(2.5)
	}
	return race.Trial{Value: n, Unset: c.Unset, Block: block, Throughput: 1000 * math.Exp(t), P99: 0.01 * math.Exp(p),
		Saturated: b.curve.Throughput[n] < math.Log(0.495)+b.curve.Throughput[b.curve.K]}
}
