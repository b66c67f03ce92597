package resize

import (
	"cmp"
	"slices"
	"testing"
)

// at is a step, or a fresh start, with its limit, its GOMAXPROCS and the newest Go's.
func at(limit float64, procs, normal int) Step {
	return Step{LimitCPUs: limit, Reading: Reading{Procs: procs, DefaultProcs: normal, FitProcs: normal, Threads: 9}, Most: &Load{PerSecond: 100 * limit, CPUs: new(limit)}}
}

// rehearsed is a program that was resized from 2 CPUs to 6 and back: what it had under each
// limit, and in fresh starts under 2 and under 6.
func rehearsed(program Program, resized [3]int, fresh [2]int) *Rehearsal {
	two, six := at(2, fresh[0], 2), at(6, fresh[1], 6)
	r := &Rehearsal{Program: program, Steps: []Step{at(2, resized[0], 2), at(6, resized[1], 6), at(2, resized[2], 2)}}
	for _, s := range []Step{two, six} {
		r.Fresh = append(r.Fresh, Fresh{LimitCPUs: s.LimitCPUs, Reading: s.Reading, Most: s.Most})
	}
	return r
}

func TestJudge(t *testing.T) {
	set, unset := new(true), new(false)
	modern := Program{FollowsLimits: true, RuntimeProcs: 2, Custom: unset}
	custom := Program{FollowsLimits: true, RuntimeProcs: 2, Custom: set}
	for name, c := range map[string]struct {
		r      *Rehearsal // nil: a modern program, which follows
		change func(*Rehearsal)
		want   Code
		step   int
		open   bool // whether a pool kept its size
	}{
		"follows":            {},
		"environment":        {r: rehearsed(Program{FollowsLimits: true, RuntimeProcs: 2, Custom: set, EnvProcs: new(4)}, [3]int{4, 4, 4}, [2]int{4, 4}), want: Environment},
		"environment, right": {r: rehearsed(Program{FollowsLimits: true, Custom: set, EnvProcs: new(2)}, [3]int{2, 2, 2}, [2]int{2, 2}), want: Environment, step: 1},
		"code over it":       {r: rehearsed(Program{Custom: set, EnvProcs: new(4)}, [3]int{3, 3, 3}, [2]int{3, 3}), want: Fixed},
		"fixed":              {r: rehearsed(custom, [3]int{3, 3, 3}, [2]int{3, 3}), want: Fixed},
		"at the start":       {r: rehearsed(custom, [3]int{2, 2, 2}, [2]int{2, 6}), want: AtStart, step: 1},
		"old":                {r: rehearsed(Program{RuntimeProcs: 8}, [3]int{8, 8, 8}, [2]int{8, 8}), want: OldGo},
		"old and fixed":      {r: rehearsed(Program{RuntimeProcs: 8}, [3]int{3, 3, 3}, [2]int{3, 3}), want: Fixed},
		"its own rule":       {r: rehearsed(custom, [3]int{4, 12, 4}, [2]int{4, 12})},
		"not in time":        {r: rehearsed(modern, [3]int{2, 2, 2}, [2]int{2, 6}), want: Slow, step: 1},
		"late":               {change: func(r *Rehearsal) { r.Steps[1].FollowedSeconds = new(7.0) }, want: Slow, step: 1},
		"soon":               {change: func(r *Rehearsal) { r.Steps[1].FollowedSeconds = new(1.2) }},
		"a pool":             {change: func(r *Rehearsal) { r.Steps[1].Most = &Load{PerSecond: 200, CPUs: new(2.0), OtherCPUs: new(0.0)} }, want: Pool, step: 1},
		"others unknown":     {change: func(r *Rehearsal) { r.Steps[1].Most = &Load{PerSecond: 200, CPUs: new(2.0)} }, open: true},
		"its requests fail":  {change: func(r *Rehearsal) { r.Steps[1].Most = &Load{PerSecond: 2, CPUs: new(0.1), Failing: "9 never answered"} }, want: Failing, step: 1},
		"not measured again": {change: func(r *Rehearsal) {
			r.Unfinished = "interrupted"
			r.Steps[1].Most = &Load{PerSecond: 200, CPUs: new(2.0), OtherCPUs: new(0.0)}
		}, open: true},
		"no CPU left": {change: func(r *Rehearsal) { r.Steps[1].Most = &Load{PerSecond: 200, CPUs: new(5.5)} }},
		"a slow machine": {change: func(r *Rehearsal) {
			r.Steps[1].Most = &Load{PerSecond: 300, CPUs: new(4.1)}
			r.Fresh[1].Most.CPUs = new(4.2)
		}},
		"others took it": {change: func(r *Rehearsal) {
			r.Steps[1].Most = &Load{PerSecond: 200, CPUs: new(2.0), OtherCPUs: new(3.0)}
			r.Fresh[1].Most.OtherCPUs = new(0.1)
		}, open: true},
		"others, of both": {change: func(r *Rehearsal) {
			r.Host.EffectiveCPUs = 6 // of which it had less
			r.Steps[1].Most = &Load{PerSecond: 200, CPUs: new(2.0), OtherCPUs: new(3.0)}
			r.Fresh[1].Most.OtherCPUs = new(2.9)
		}, open: true},
		"its CPU time unknown": {change: func(r *Rehearsal) { r.Steps[1].Most = &Load{PerSecond: 200} }, open: true},
		"killed":               {change: func(r *Rehearsal) { r.Steps[2] = Step{LimitCPUs: 2, Ended: "was killed"} }, want: Killed, step: 2},
		"restarted":            {change: func(r *Rehearsal) { r.Steps[1].Restarts = 1 }, want: Restarted, step: 1},
	} {
		c.r = cmp.Or(c.r, rehearsed(modern, [3]int{2, 6, 2}, [2]int{2, 6}))
		if c.change != nil {
			c.r.Host.EffectiveCPUs = 16
			c.change(c.r)
		}
		c.r.Judge()
		switch l := c.r.Laggards; {
		case c.want == "" && len(l) > 0, c.want != "" && (len(l) != 1 || l[0].Code != c.want || l[0].Step != c.step):
			t.Errorf("%s: %+v, want %q at step %d", name, l, c.want, c.step)
		}
		if open := slices.Contains(c.r.PoolsUnjudged, 1); open != c.open || !open && len(c.r.PoolsUnjudged) > 0 {
			t.Errorf("%s: pools not judged at %v", name, c.r.PoolsUnjudged)
		}
	}
}
