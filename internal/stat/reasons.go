package stat

import "fmt"

// reasons are what the comparisons show, each with its numbers and its n: first
// what is proven, then what is open, then the noise that it stands against.
func (t telling) reasons(w *walk) []string {
	list := []string{fmt.Sprintf("%s has the highest median throughput: %s", t.name(w.best), t.figures(w.best))}
	list = append(list, t.throughputReasons(w)...)
	list = append(list, t.latencyReasons(w)...)
	if w.loose != nil {
		list = append(list, "the unset arm is compared with none: "+t.looseWhy(w))
	}
	if f := t.group.NoiseFloor; f.Throughput != nil {
		text := fmt.Sprintf("noise: two copies of %s differ by up to %s in throughput", f.Arm, percent(*f.Throughput))
		if f.P99 != nil && w.latency {
			text += fmt.Sprintf(" and %s in p99", percent(*f.P99))
		}
		list = append(list, text+fmt.Sprintf(" (95 %%, %s); no difference estimated at less is called worse", plural(f.Pairs, "pair")))
	}
	return append(list, t.holds())
}

func (t telling) throughputReasons(w *walk) []string {
	var worse, alike, open []string
	for _, s := range w.settings {
		if s == w.best {
			continue
		}
		switch c := w.throughput(s.throughput, w.best.throughput); {
		case c.n == 0:
			open = append(open, t.name(s)+" shares no valid block with it")
		case c.worse:
			worse = append(worse, fmt.Sprintf("%s is %s, at least %s (n %d)", t.name(s), change(c.mid), percent(-expm1(c.upper)), c.n))
		case c.asGood:
			text := t.name(s) + " is " + change(c.mid)
			if bound := change(min(c.lower, 0)); bound != same {
				text += ", at most " + bound
			}
			alike = append(alike, fmt.Sprintf("%s (n %d)", text, c.n))
		default:
			open = append(open, fmt.Sprintf("%s seems %s (n %d)", t.name(s), change(c.mid), c.n))
		}
	}
	var list []string
	add := func(what string, items []string) {
		if len(items) > 0 {
			list = append(list, what+semicolons(items))
		}
	}
	add("proven worse in throughput: ", worse)
	add(fmt.Sprintf("proven as good within %s: ", percent(t.plan.Margin)), alike)
	add("open in throughput, neither as good nor worse with 95 % confidence: ", open)
	return list
}

// latencyReasons compares T with the lowest p99 of all that carry the rate.
func (t telling) latencyReasons(w *walk) []string {
	if !w.latency {
		if t.group.LatencyMode != "" {
			return []string{"p99 is not judged: in closed loop latency only restates throughput"}
		}
		return nil
	}
	low := w.settings[0]
	for _, s := range w.settings {
		if s.hasP99() && !s.saturated && (low.saturated || !low.hasP99() || s.tail < low.tail) {
			low = s
		}
	}
	var worse, alike, open []string
	for _, s := range w.settings {
		c := w.p99(s.p99, low.p99)
		switch {
		case s == low || !w.inTail(s):
		case s.saturated:
			worse = append(worse, t.name(s)+" could not carry the common rate")
		case c.worse:
			worse = append(worse, fmt.Sprintf("%s is %s, at least %s (n %d)", t.name(s), shift(c.mid), percent(expm1(c.lower)), c.n))
		case c.asGood:
			alike = append(alike, fmt.Sprintf("%s is %s (n %d)", t.name(s), shift(c.mid), c.n))
		default:
			open = append(open, fmt.Sprintf("%s seems %s (n %d)", t.name(s), shift(c.mid), c.n))
		}
	}
	list := []string{fmt.Sprintf("%s has the lowest median p99: %s", t.name(low), t.figures(low))}
	add := func(what string, items []string) {
		if len(items) > 0 {
			list = append(list, what+semicolons(items))
		}
	}
	add("proven worse in p99: ", worse)
	add(fmt.Sprintf("proven as good in p99 within %s: ", percent(t.plan.MarginP99)), alike)
	add("open in p99: ", open)
	return list
}

func (t telling) looseWhy(w *walk) string {
	if w.loose.procs == 0 {
		return "which value it chose could not be read"
	}
	c := w.throughput(w.loose.throughput, w.twin().throughput)
	return fmt.Sprintf("it chose %d, but is %s than GOMAXPROCS=%d (n %d)", w.loose.procs, change(c.mid), w.loose.procs, c.n)
}

// twin is the numbered setting of the loose arm's value.
func (w *walk) twin() *setting {
	for _, s := range w.settings {
		if s.procs == w.loose.procs {
			return s
		}
	}
	return w.loose
}

func (t telling) holds() string {
	text := "holds for " + cpus(t.group.EffectiveCPUs)
	if t.group.Replicas > 1 {
		text += fmt.Sprintf(" a replica, %s", plural(t.group.Replicas, "replica"))
	}
	if q := t.group.QuotaCPUs; q != nil {
		text += ", a quota of " + cpus(*q)
	} else {
		text += ", no quota"
	}
	return text + "; measure again elsewhere"
}
