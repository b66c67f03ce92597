package live

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/procfit/procfit/test/chance"
)

func percent(n, of int) float64 { return 100 * float64(n) / float64(of) }

// visit runs a value for six seconds, or until the wire or the budget has it left, and then
// the start value until what was left has drained. It returns the seconds until it was left,
// 0 if it was not, and what it did.
func (q *queue) visit(times float64, w wire, b *budget) (left float64, did sight) {
	fails := q.fails
	seen := func() sight {
		s := q.look()
		did.Ended, did.Slow, did.Failed = did.Ended+s.Ended, did.Slow+s.Slow, did.Failed+s.Failed
		return s
	}
	q.carry(times)
	for at := look; at <= 6; at += look {
		s := seen()
		if tripped, dear := w.Look(s), b.Look(s); tripped || dear {
			left = at
			break
		}
	}
	q.carry(2).fails = 0
	for drained := false; !drained; {
		s := seen()
		b.Add(s)
		drained = w.Drained(s)
	}
	q.fails = fails
	return left, did
}

// A value that carries a tenth of the load is left within a second, one that carries half
// of it always, and one that is as good as the start value next to never.
func TestHarmIsLeft(t *testing.T) {
	n := chance.RunsOf(10)
	for _, c := range []struct {
		rate, times float64
		bursts      bool
		left        float64 // of the visits: at least; of an equal value at most
		within      float64 // seconds, in 95 of 100 visits
	}{
		{50, 0.1, false, 1, 1}, {500, 0.1, false, 1, 1}, {5000, 0.1, false, 1, 1},
		{50, 0.1, true, 1, 1}, {500, 0.1, true, 1, 1}, {5000, 0.1, true, 1, 1},
		{5, 0, false, 0.99, 5}, {50, 0, false, 1, 1}, {5000, 0, false, 1, 1}, // nothing ends any more
		{50, 0.5, false, 1, 3}, {500, 0.5, false, 1, 1}, {5000, 0.5, false, 1, 1},
		{500, 0.9, false, 1, 3},
		{5, 2, false, 0.01, 0}, {50, 2, false, 0, 0}, {500, 2, false, 0, 0}, {5000, 2, false, 0, 0},
		{50, 2, true, 0.01, 0}, {500, 2, true, 0.01, 0}, {5000, 2, true, 0.01, 0},
	} {
		t.Run(fmt.Sprintf("%g/s, carries %g, bursts %v", c.rate, c.times, c.bursts), func(t *testing.T) {
			t.Parallel()
			var after, harm []float64
			for seed := range n {
				q, baseline := newQueue(uint64(seed), c.rate, c.bursts)
				left, did := q.visit(c.times, newWire(baseline), newBudget(math.Inf(1), baseline))
				if harm = append(harm, float64(did.Slow)); left > 0 {
					after = append(after, left)
				}
			}
			slices.Sort(after)
			slices.Sort(harm)
			late := 0.0
			if len(after) > 0 {
				late = after[len(after)*95/100]
			}
			t.Logf("of %d visits %.2f%% left, 95%% of them within %g s; slow in the median %g, 95%% %g", n, percent(len(after), n), late, harm[n/2], harm[n*95/100])
			if c.times < 1 && (len(after) < chance.Least(n, c.left) || late > c.within) || c.times > 1 && len(after) > chance.Most(n, c.left) {
				t.Errorf("%d of %d visits are left, 95%% of them within %g s", len(after), n, late)
			}
		})
	}
}

// A limit that learns from the start value's later slices takes for usual what a bad value
// left behind: from the second visit on it leaves nothing. The frozen one always does.
func TestALimitThatLearnsFails(t *testing.T) {
	visits := func(learns bool) (left int) {
		for seed := range uint64(10) {
			q, baseline := newQueue(seed, 500, false)
			for range 10 {
				w := newWire(baseline)
				at := q.carry(0.5).at
				for q.at < at+6 {
					if w.Look(q.look()) {
						left++
						break
					}
				}
				q.carry(2)
				after := q.run(6)
				if learns {
					baseline = append(baseline, after...)
				}
			}
		}
		return left
	}
	frozen, learned := visits(false), visits(true)
	t.Logf("of 100 visits the frozen limit leaves %d, the learned one %d", frozen, learned)
	if frozen != 100 || learned > 50 {
		t.Error("the limit learns, or learning does no harm")
	}
}

// leftTwice is how often a value is left until it is out, and is not visited again.
const leftTwice = 2

func share(n, of uint64) float64 { return float64(n) / float64(of) }

// Whatever goes wrong, the budget is kept: a thousandth of a month's error budget of 99.9%.
func TestBudgetIsKept(t *testing.T) {
	most := 0.0 // of a budget
	defer func() { t.Logf("at most %.0f%% of a budget", 100*most) }()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 4))
		q, baseline := newQueue(seed, 50*math.Pow(100, r.Float64()), r.IntN(2) == 0)
		fails := []float64{0, 0, 0, 0.01, 0.1, 0.5, 1}[r.IntN(7)]
		var values []float64
		for range 1 + r.IntN(3) {
			values = append(values, []float64{0.05, 0.1, 0.5, 0.9, 1, 1.1, 1.2, 2}[r.IntN(8)])
		}
		w, b := newWire(baseline), newBudget(0.001*0.001*30*86400*q.rate, baseline)
		var start, others sight
		add := func(to *sight, s sight) {
			to.Ended, to.Slow, to.Failed = to.Ended+s.Ended, to.Slow+s.Slow, to.Failed+s.Failed
		}
		for _, s := range baseline {
			add(&start, s)
		}
		out, visits := make([]int, len(values)), 0
	experiment:
		for range 20 {
			q.fails = 0
			for _, s := range q.carry(2).run(6) {
				b.Start(s)
				add(&start, s)
			}
			q.fails = fails
			for i, times := range values {
				switch {
				case out[i] >= leftTwice:
					continue
				case !b.Visit(i + 1):
					break experiment
				}
				left, did := q.visit(times, w, b)
				add(&others, did)
				if visits++; left > 0 {
					out[i]++
				}
			}
		}
		harmed := float64(others.Slow+others.Failed) - share(start.Slow+start.Failed, start.Ended)*float64(others.Ended)
		most = max(most, harmed/b.Total)
		if harmed > b.Total || harmed > b.Spent()+0.01*b.Total || visits == 0 {
			t.Errorf("%.0f/s, %v times what arrives, %g fail, %d visits: %.0f slow or failed requests too many, budget %.0f, spent %.0f", q.rate, values, fails, visits, harmed, b.Total, b.Spent())
		}
	}
}

// sights are looks of 250 ms at requests that stay so long, 100 in each.
func sights(sojourns ...float64) (list []sight) {
	for _, x := range sojourns {
		s := sight{Seconds: look, Ended: 100, Sojourn: 100 * x}
		if x < 0 {
			s = sight{Seconds: look}
		}
		list = append(list, s)
	}
	return list
}

func TestWire(t *testing.T) {
	const stalled = -1
	for name, c := range map[string]struct {
		baseline, looks []float64 // seconds of sojourn; 400 requests per second
		trips           int       // in which look; 0: in none
		drained         bool      // in the last
	}{
		"the usual":                        {[]float64{0.1, 0.2, 0.1}, []float64{0.2, 0.2, 0.2}, 0, true},
		"twice the most":                   {[]float64{0.1, 0.2, 0.1}, []float64{0.39, 0.39, 0.39}, 0, false},
		"more":                             {[]float64{0.1, 0.2, 0.1}, []float64{0.1, 0.41, 0.41}, 3, false},
		"more, one look at a time":         {[]float64{0.1, 0.2, 0.1}, []float64{0.41, 0.1, 0.41, 0.1}, 0, true},
		"few, however many times":          {[]float64{0.001}, []float64{0.049, 0.049}, 0, false},
		"few, and drained":                 {[]float64{0.001}, []float64{0.02}, 0, true},
		"more than 20":                     {[]float64{0.001}, []float64{0.051, 0.051}, 2, false},
		"nothing ends":                     {[]float64{0.1}, []float64{stalled, stalled}, 2, false},
		"nothing ends, as in the baseline": {[]float64{0.1, stalled}, []float64{stalled, stalled}, 0, true},
		"nothing ends any more":            {[]float64{0.1, stalled}, []float64{stalled, stalled, 0.1, stalled, stalled, stalled, stalled}, 7, true},
		"no baseline":                      {nil, []float64{stalled, 0.1}, 2, false},
	} {
		w, trips := newWire(sights(c.baseline...)), 0
		looks := sights(c.looks...)
		for i, s := range looks {
			if w.Look(s) && trips == 0 {
				trips = i + 1
			}
		}
		if drained := w.Drained(looks[len(looks)-1]); trips != c.trips || drained != c.drained {
			t.Errorf("%s: trips in look %d, drained %v; want %d, %v", name, trips, drained, c.trips, c.drained)
		}
	}
}

func TestBudget(t *testing.T) {
	baseline := sights(0.1, 0.1, 0.1, 0.1)
	baseline[0].Slow = 4 // 1%
	b := newBudget(4000, baseline)
	bad := func(n uint64) sight {
		return sight{Seconds: look, Ended: 100, Slow: n / 2, Failed: n - n/2, Sojourn: 10}
	}
	expect := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	expect("the first visit", b.Visit(1), true)
	expect("a quarter", b.Look(bad(1001)), false)
	expect("more than a quarter", b.Look(bad(3)), true)
	expect("spent", b.Spent(), 1002.)
	b.Add(bad(501))
	expect("spent after the drain", b.Spent(), 1502.)
	expect("the start value", b.Visit(0), true)
	expect("a burst, with the start value", b.Look(bad(1002)), true)
	expect("costs nothing", b.Spent(), 1502.)
	expect("a value that saves something", b.Visit(2), true)
	for range 10 {
		b.Look(bad(0))
	}
	expect("what it saved is not the other's", b.Spent(), 1502.)
	expect("what waits will be slow", b.Look(sight{Seconds: look, Ended: 100, Sojourn: 10 + 510./4}), true)
	b.Start(sight{Ended: 400, Slow: 36}) // 5% now
	expect("a visit more", b.Visit(3), true)
	expect("the start value's share", b.Look(bad(5)), false)
	expect("is not charged", b.Spent(), 1502.)
	b.Add(bad(1005))
	expect("as dear a visit as the dearest would be too much", b.Visit(1), false)
	expect("a budget of less than a second's requests", newBudget(400, baseline).Visit(1), false)
}
