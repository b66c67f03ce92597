package meter

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/maxprocs/live"
)

// TestBetween: what a program with 2 CPUs cannot have done within a second is refused, and what
// it may have done is not.
func TestBetween(t *testing.T) {
	from := live.Metrics{At: 1, Requests: 5, CPU: 1, GCCycles: 3, Arrival: live.Histogram{Counts: []uint64{0, 5}}}
	for name, c := range map[string]struct {
		change func(*live.Metrics)
		want   string // empty: it is no error
	}{
		"as usual":                        {func(m *live.Metrics) { m.Requests, m.CPU = 5000, 1.9 }, ""},
		"busy, and read a little later":   {func(m *live.Metrics) { m.CPU = 1 + 2*1.3 }, ""},
		"as many as 2 CPUs can count":     {func(m *live.Metrics) { m.Requests += 2e8 }, ""},
		"10^17 requests":                  {func(m *live.Metrics) { m.Requests += 1e17 }, "the program's Meter reports 1e+17 requests in 1 s, which cannot be: 2 CPUs count at most 100,000,000 per second each; its numbers are wrong"},
		"2^63 requests":                   {func(m *live.Metrics) { m.Requests = 1 << 63 }, "9.22e+18 requests"},
		"10^17 failed":                    {func(m *live.Metrics) { m.Failed = 1e17 }, "1e+17 failed requests"},
		"10^17 panics":                    {func(m *live.Metrics) { m.Panics = 1e17 }, "1e+17 panics"},
		"10^17 of HTTP/2":                 {func(m *live.Metrics) { m.Streams = 1e17 }, "1e+17 requests of HTTP/2"},
		"10^17 hijacked":                  {func(m *live.Metrics) { m.Hijacked = 1e17 }, "1e+17 hijacked connections"},
		"10^17 collections":               {func(m *live.Metrics) { m.GCCycles = 1e17 }, "1e+17 collections"},
		"fewer collections":               {func(m *live.Metrics) { m.GCCycles = 1 }, ErrRestarted.Error()},
		"no more known of collections":    {func(m *live.Metrics) { m.GCCycles = 0 }, ""},
		"10^17 in flight":                 {func(m *live.Metrics) { m.InFlight = 1e17 }, "1e+17 requests in flight in 1 s, which cannot be: no machine has the memory for them"},
		"more CPU time than 2 CPUs give":  {func(m *live.Metrics) { m.CPU = 60 }, "the program's Meter reports 59 s of CPU time in 1 s, which cannot be: 2 CPUs cannot give as much; its numbers are wrong"},
		"the counters ran backwards":      {func(m *live.Metrics) { m.Requests = 4 }, ErrRestarted.Error()},
		"the CPU time ran backwards":      {func(m *live.Metrics) { m.CPU = 0.5 }, ErrRestarted.Error()},
		"the clock was set back":          {func(m *live.Metrics) { m.At = 0 }, ""},
		"the clock was set an hour ahead": {func(m *live.Metrics) { m.At, m.CPU = int64(time.Hour), 60 }, "59 s of CPU time in 1 s, "},
		"restarted, and its clock behind": {func(m *live.Metrics) { m.At, m.Requests = 0, 4 }, ErrRestarted.Error()},
	} {
		to := from
		to.At += int64(time.Second)
		c.change(&to)
		got, err := Between(from, to, time.Second, 2)
		switch {
		case c.want == "" && (err != nil || got.GCCycles != 0 || got.Requests != to.Requests-from.Requests || got.CPU != to.CPU-from.CPU):
			t.Errorf("%s: %+v, %v", name, got, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		case errors.Is(err, ErrRestarted) != (c.want == ErrRestarted.Error()):
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Between(from, to, time.Second, 0); err != nil && strings.Contains(err.Error(), "cannot be") {
			t.Errorf("%s, without a number of CPUs: %v", name, err)
		}
	}
}
