package race

import "math"

// outlook is what it would take to prove one value.
type outlook struct {
	cost float64         // trials more, as things look; infinite when it looks worse
	want map[int]float64 // trials of each rival, in all
}

type need struct {
	rival    int
	by       Figure
	variance float64 // that the difference may have, at most
}

// mostExtra trials of the value itself are thought of.
const mostExtra = 60

// outlook of n: the trials of it, and of each rival, that leave the fewest in all.
func (s *Race) outlook(n int) outlook {
	best := outlook{cost: math.Inf(1), want: map[int]float64{}}
	needs, ok := s.needs(n)
	if !ok {
		return best
	}
	have := s.model.throughput.trials(n)
	for extra := range mostExtra {
		o := outlook{cost: float64(extra), want: map[int]float64{}}
		for _, x := range needs {
			f := s.model.of(x.by)
			rest := x.variance/(f.sigma*f.sigma) - f.scale[f.index[n]]/float64(have+extra)
			if rest <= 0 {
				o.cost = math.Inf(1)
				break
			}
			o.want[x.rival] = max(o.want[x.rival], f.scale[f.index[x.rival]]/rest)
			if s.model.alone(n, x.rival, x.by, s.rules.margin(x.by)) { // that is not to decide
				o.want[x.rival] = max(o.want[x.rival], float64(f.trials(x.rival)+1))
			}
		}
		for _, j := range s.rivals {
			// A third of a trial short is not worth one.
			o.cost += max(0, math.Ceil(o.want[j]-0.3)-float64(s.model.throughput.trials(j)))
		}
		if o.cost < best.cost {
			best = o
		}
	}
	return best
}

// needs of n against every rival; false when it looks worse than one.
func (s *Race) needs(n int) ([]need, bool) {
	var out []need
	for _, j := range s.rivals {
		for _, by := range []Figure{Throughput, P99} {
			if j == n || by == P99 && !(s.byLatency(j) && s.model.p99.has(n)) {
				continue
			}
			v, ok := s.target(n, j, by)
			if !ok {
				return nil, false
			}
			out = append(out, need{j, by, v})
		}
	}
	return out, true
}

// How far, in standard errors, a difference is taken to be better than it looks: a
// value that had bad luck in its first trials is to have more of them.
const (
	hopeFast   = 1.0
	hopePrompt = 0.7 // it is pooled already
)

// target is the variance that the difference of n and j has to come down to for a
// proof. What more trials will show is reported better by the pooled model, where there
// is one: the difference d goes to d' = expect + (d-expect)·y², y being the ratio of
// the standard errors then and now, and d' + q·se·y = margin is solved for y.
func (s *Race) target(n, j int, by Figure) (variance float64, ok bool) {
	f := s.model.of(by)
	worse, se := f.difference(n, j)
	expect, hope := worse, hopePrompt*se
	if by == P99 {
		if pooled, known := s.smooth[j]; known { // a rival that failed too often to be named has none
			expect = s.smooth[n] - pooled
		}
	} else {
		worse = -worse
		expect, hope = worse, hopeFast*se
	}
	expect -= hope
	a, b, c := worse-expect, f.quantile(confidence)*se, expect-s.rules.margin(by)
	if c >= 0 {
		return 0, false
	}
	y := 1.0
	switch root := b*b - 4*a*c; {
	case a+b+c < 0: // it is proven already
	case root < 0:
		return 0, false
	case math.Abs(a) < 1e-9:
		y = -c / b
	default:
		y = 2 * -c / (b + math.Sqrt(root)) // the root that is 0 where nothing is left of the margin
	}
	if y <= 0 || y > 1 {
		return 0, false
	}
	return se * se * y * y, true
}
