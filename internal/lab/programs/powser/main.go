// Power series by goroutines and channels, after M. Douglas McIlroy, "Squinting
// at Power Series" (Software: Practice and Experience 20, 1990): document 002's
// almost worst case. A series is a stream of rational coefficients, each of which
// is worked out when somebody asks for it. Every operation is a small process
// that asks its operands; a series that two read has a process for each coefficient,
// gone when both have had it, and products start more of them with each coefficient, in
// the shape of a tree, and hardly two could ever run at once.
//
// It works out tan x twice, from tan' = 1 + tan² and as the inverse of
// arctan x = ∫ 1/(1+x²), and compares both with plain arithmetic.
package powser

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

// A rational is in lowest terms, its denominator positive.
type rational struct{ num, den int64 }

var zero, one = rational{0, 1}, rational{1, 1}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}

// times is the product of integers that must fit.
func times(a, b int64) int64 {
	c := a * b
	if a != 0 && c/a != b {
		panic(errors.New("a coefficient needs more than 64 bits: ask for fewer -terms"))
	}
	return c
}

func (a rational) mul(b rational) rational {
	g, h := gcd(a.num, b.den), gcd(b.num, a.den)
	return rational{times(a.num/g, b.num/h), times(a.den/h, b.den/g)}
}

func (a rational) add(b rational) rational {
	g := gcd(a.den, b.den)
	num := times(a.num, b.den/g) + times(b.num, a.den/g)
	h := gcd(num, g)
	return rational{num / h, times(a.den/g, b.den/h)}
}

func (a rational) neg() rational { return rational{-a.num, a.den} }

func (a rational) inverse() rational {
	if a.num < 0 {
		return rational{-a.den, -a.num}
	}
	return rational{a.den, a.num}
}

// A series is asked for its next coefficient on one channel and gives it on the
// other.
type series struct {
	ask  chan bool
	data chan rational
}

func (s series) next() rational {
	s.ask <- true
	return <-s.data
}

// asked waits until it is; false is the end.
func (s series) asked() bool {
	_, ok := <-s.ask
	return ok
}

// A network is the processes of one computation. When nothing is asked of it any
// more all of them wait to be asked, so that is where they learn of the end.
type network struct {
	mu      sync.Mutex
	all     []series
	running sync.WaitGroup
}

func (n *network) series() series {
	s := series{make(chan bool), make(chan rational)}
	n.mu.Lock()
	n.all = append(n.all, s)
	n.mu.Unlock()
	return s
}

func (n *network) end() {
	for _, s := range n.all {
		close(s.ask)
	}
	n.running.Wait()
}

// process starts one, which gives the coefficients of the series it returns.
func (n *network) process(run func(out series)) series {
	out := n.series()
	n.start(func() { run(out) })
	return out
}

func (n *network) start(run func()) {
	n.running.Add(1)
	go func() {
		defer n.running.Done()
		run()
	}()
}

// copy gives what in gives, when it is asked.
func (n *network) copy(in, out series) {
	for out.asked() {
		out.data <- in.next()
	}
}

// goOn is copy for a process that has been asked already. What a process does
// without being asked would continue when all should be at rest.
func (n *network) goOn(in, out series) {
	out.data <- in.next()
	n.copy(in, out)
}

// constant is c + 0x + 0x² + …
func (n *network) constant(c rational) series {
	return n.process(func(out series) {
		for ; out.asked(); c = zero {
			out.data <- c
		}
	})
}

// shift is c + xF.
func (n *network) shift(c rational, F series) series {
	return n.process(func(out series) {
		if out.asked() {
			out.data <- c
			n.copy(F, out)
		}
	})
}

func (n *network) scale(c rational, F series) series {
	return n.process(func(out series) {
		for out.asked() {
			out.data <- c.mul(F.next())
		}
	})
}

func (n *network) add(F, G series) series {
	return n.process(func(out series) {
		for out.asked() {
			out.data <- F.next().add(G.next())
		}
	})
}

// integral is ∫F without a constant.
func (n *network) integral(F series) series {
	return n.process(func(out series) {
		if out.asked() {
			out.data <- zero
		}
		for i := int64(1); out.asked(); i++ {
			out.data <- F.next().mul(rational{1, i})
		}
	})
}

// split gives one series to two readers, each of which may be ahead of the other by any
// number of coefficients, since a series may be defined by what it has given so far. Every
// coefficient has a process of its own, which ends when both have had it; those that one
// reader has not had yet are kept by the processes that wait for it.
func (n *network) split(F series) (a, b series) {
	a, b = n.series(), n.series()
	before := make(chan bool)
	close(before)
	n.start(func() { n.share(F, [2]series{a, b}, before) })
	return a, b
}

// share gives the next coefficient of F to both readers. Until before is closed the second
// of them has not had the one before, so that only the first can ask for this one.
func (n *network) share(F series, readers [2]series, before <-chan bool) {
	had := make(chan bool) // this coefficient, by both
	defer close(had)
	behind := true
	select {
	case _, ok := <-readers[0].ask:
		if !ok {
			return
		}
	case <-before:
		behind = false
		var ok bool
		select {
		case _, ok = <-readers[0].ask:
		case _, ok = <-readers[1].ask:
			readers[0], readers[1] = readers[1], readers[0]
		}
		if !ok {
			return
		}
	}
	n.start(func() { n.share(F, readers, had) })
	c := F.next()
	readers[0].data <- c
	if behind {
		<-before
	}
	if readers[1].asked() {
		readers[1].data <- c
	}
}

// defined is a series defined by itself: by is given one that will be equal to
// what it returns, and may ask it for what has been given already.
func (n *network) defined(by func(self series) series) series {
	loop := n.series()
	out, self := n.split(loop)
	definition := by(self)
	n.start(func() { n.copy(definition, loop) })
	return out
}

// product: with F = f + xF', G = g + xG', it is fg + x(fG' + gF' + xF'G').
func (n *network) product(F, G series) series {
	return n.process(func(out series) {
		if !out.asked() {
			return
		}
		f, g := F.next(), G.next()
		out.data <- f.mul(g)
		if !out.asked() {
			return
		}
		F1, F2 := n.split(F)
		G1, G2 := n.split(G)
		rest := n.add(n.add(n.scale(f, G1), n.scale(g, F1)), n.shift(zero, n.product(F2, G2)))
		n.goOn(rest, out)
	})
}

// reciprocal: from RF = 1 and F = f + xF' follows R = (1 − xF'R)/f.
func (n *network) reciprocal(F series) series {
	return n.defined(func(R series) series {
		return n.process(func(out series) {
			if !out.asked() {
				return
			}
			f := F.next().inverse()
			out.data <- f
			if !out.asked() {
				return
			}
			n.goOn(n.scale(f.neg(), n.product(F, R)), out)
		})
	})
}

// compose is F(G), where G has no constant: f + xG'·F'(G).
func (n *network) compose(F, G series) series {
	return n.process(func(out series) {
		if !out.asked() {
			return
		}
		out.data <- F.next()
		if !out.asked() {
			return
		}
		G1, G2 := n.split(G)
		G1.next() // its constant
		rest := n.product(G1, n.compose(F, G2))
		n.goOn(rest, out)
	})
}

// inverse is the R with F(R) = x, where F has no constant: with F = xF' it is
// x/F'(R).
func (n *network) inverse(F series) series {
	return n.defined(func(R series) series {
		return n.process(func(out series) {
			if !out.asked() {
				return
			}
			out.data <- zero
			if !out.asked() {
				return
			}
			F.next()
			n.goOn(n.reciprocal(n.compose(F, R)), out)
		})
	})
}

// tan is ∫(1 + tan²).
func (n *network) tan() series {
	return n.defined(func(T series) series {
		T1, T2 := n.split(T)
		return n.integral(n.add(n.constant(one), n.product(T1, T2)))
	})
}

// arctan is ∫ 1/(1+x²).
func (n *network) arctan() series {
	return n.integral(n.reciprocal(n.shift(one, n.shift(zero, n.constant(one)))))
}

// plainTan is the first coefficients of tan, without any process.
func plainTan(terms int) []rational {
	tan := []rational{zero}
	for i := 1; i < terms; i++ {
		sum := zero
		if i == 1 {
			sum = one
		}
		for j := 0; j < i; j++ {
			sum = sum.add(tan[j].mul(tan[i-1-j]))
		}
		tan = append(tan, sum.mul(rational{1, int64(i)}))
	}
	return tan
}

// compute asks both series for their coefficients.
func compute(want []rational) error {
	n := new(network)
	defer n.end()
	equation, inverse := n.tan(), n.inverse(n.arctan())
	for i, w := range want {
		if e, v := equation.next(), inverse.next(); e != w || v != w {
			return fmt.Errorf("coefficient %d of tan x: %v from its equation, %v from the inverse of arctan, want %v", i, e, v, w)
		}
	}
	return nil
}

// mostTerms have coefficients that fit, on the way to them too.
const mostTerms = 20

// Program is the program. It keeps to Go 1.2.
func Program(b *harness.Batch) func() error {
	terms := b.Int("terms", mostTerms, 1, fmt.Sprintf("`coefficients` of each series, at most %d", mostTerms))
	b.Check(func() bool { return *terms <= mostTerms }, "-terms must be at most %d", mostTerms)
	n := b.Int("n", 100, 1, "how many `times`, one after the other (the article does not say; its 3 s are another machine's)")
	return func() error {
		want := plainTan(*terms)
		start := time.Now()
		for i := 0; i < *n; i++ {
			if err := compute(want); err != nil {
				return err
			}
		}
		b.Result("BenchmarkPowser %d %.0f ns/op", *n, float64(time.Since(start).Nanoseconds())/float64(*n))
		return nil
	}
}
