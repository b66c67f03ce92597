package sched

// Level is how high a quantity stood over N samples.
type Level struct {
	N    int64   `json:"n"`
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

// note adds a value to the level at l; nil stays nil until the first.
func note(l **Level, v float64) {
	if *l == nil {
		*l = &Level{}
	}
	(*l).add(Level{N: 1, Mean: v, Min: v, Max: v})
}

// noteCount adds a count, unless it is Absent.
func noteCount[T int | int64](l **Level, v T) {
	if v >= 0 {
		note(l, float64(v))
	}
}

func (l *Level) add(m Level) {
	switch {
	case m.N == 0:
		return
	case l.N == 0:
		*l = m
		return
	}
	l.N += m.N
	l.Mean += (m.Mean - l.Mean) * float64(m.N) / float64(l.N)
	l.Min, l.Max = min(l.Min, m.Min), max(l.Max, m.Max)
}

// join adds the level m to the one at l; either may be nil.
func join(l **Level, m *Level) {
	if m == nil {
		return
	}
	if *l == nil {
		*l = &Level{}
	}
	(*l).add(*m)
}

func (l *Level) clone() *Level {
	if l == nil {
		return nil
	}
	c := *l
	return &c
}

// count is 0 for a level that was never noted.
func (l *Level) count() int64 {
	if l == nil {
		return 0
	}
	return l.N
}

// mean is 0 for a level that was never noted.
func (l *Level) mean() float64 {
	if l == nil {
		return 0
	}
	return l.Mean
}
