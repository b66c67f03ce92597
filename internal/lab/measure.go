package lab

import "strings"

// beyond measures a figure at so many times the Ps as there are CPUs, against as
// many Ps as CPUs.
func beyond(times int, q Quantity) func(Results) Estimate {
	return func(r Results) Estimate {
		q.Procs = AtCPUs
		over := q
		if m := r[q.Stage]; m.Result != nil {
			over.Procs = times * q.procs(m)
		}
		return ratio(r, over, q)
	}
}

// speedup measures how many times as much all Ps do as one, for each of them: 1
// where it is as many times as there are CPUs.
func speedup(q Quantity) func(Results) Estimate {
	return func(r Results) Estimate {
		all, one := q, q
		all.Procs, one.Procs = AtCPUs, 1
		if q.Figure != Throughput && !strings.HasSuffix(string(q.Figure), "/s") { // a cost
			all, one = one, all
		}
		e := ratio(r, all, one)
		if m := r[q.Stage]; m.Result != nil {
			q.Procs = AtCPUs
			e = e.times(1 / float64(q.procs(m)))
		}
		return e
	}
}

// perCPU measures a figure as a share of the CPUs that a replica may use.
func perCPU(q Quantity) func(Results) Estimate {
	return func(r Results) Estimate {
		unit := 1.0
		if m := r[q.Stage]; m.Result != nil {
			unit = m.cpus()
		}
		return Level(q, unit)(r)
	}
}

// times is the estimate in another unit.
func (e Estimate) times(x float64) Estimate {
	for _, p := range []**float64{&e.Value, &e.Low, &e.High} {
		if *p != nil {
			*p = new(**p * x)
		}
	}
	return e
}

// scaled is a measure in another unit.
func scaled(measure func(Results) Estimate, x float64) func(Results) Estimate {
	return func(r Results) Estimate { return measure(r).times(x) }
}
