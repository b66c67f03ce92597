package maxprocs

import (
	"context"
	"math"
	"testing"
)

// What is no value changes nothing, and nothing ends the program: it is called as a
// program starts.
func TestHarmlessOptions(t *testing.T) {
	const world = "facts/testdata/worlds/v2-leaf"
	for name, options := range map[string][]Option{
		"nil":               {nil, nil},
		"nil functions":     {Logger(nil), RoundQuotaFunc(nil), OnChange(nil), Detail(nil)},
		"a logger's panic":  {Logger(func(string, ...any) { panic("no") })},
		"no number":         {Reserve(math.NaN())},
		"all there is":      {Reserve(math.Inf(1))},
		"less than nothing": {Reserve(-1), Reserve(math.Inf(-1))},
		"no threshold":      {Threshold(math.NaN())},
	} {
		m := &machine{procs: 8, def: 8}
		here := func(c *config) { c.sys = m.system(world, "unset", 8, false) }
		if _, err := Set(append(options, here)...); err != nil || m.procs != 3 {
			t.Errorf("%s: Set: GOMAXPROCS=%d, %v; want 3, as without options", name, m.procs, err)
		}
		m.procs = 8
		ctx, cancel := context.WithCancel(context.Background())
		if err := Start(ctx, append(options, here)...); err != nil || m.procs != 3 {
			t.Errorf("%s: Start: GOMAXPROCS=%d, %v; want 3, as without options", name, m.procs, err)
		}
		cancel()
	}
}
