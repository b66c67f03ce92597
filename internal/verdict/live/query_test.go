package live

import (
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/paired"
)

func TestParseQuery(t *testing.T) {
	for text, want := range map[string]string{
		"late=histogram_quantile(0.99, sum by (le) (rate(x_bucket[$slice])))": "",
		"late=":                              "expected NAME=QUERY",
		"up":                                 "expected NAME=QUERY",
		"cpu=rate(x[$slice])":                "choose another name",
		"requests=rate(x[$slice])":           "choose another name",
		"late=rate(x[1m])":                   "$slice must be in it",
		`late=rate(x{pod=~"$pods"}[$slice])`: "$pods is for kube canary",
	} {
		q, err := ParseQuery(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if err == nil && strings.Contains(q.Over(Asked(5*time.Second)), "$") {
			t.Errorf("%s is asked as %s", text, q.Over(Asked(5*time.Second)))
		}
	}
	for slice, want := range map[time.Duration]time.Duration{time.Second: time.Second, 5 * time.Second: 4 * time.Second, 40 * time.Second: 32 * time.Second} {
		if got := Asked(slice); got != want {
			t.Errorf("of a slice of %v %v is asked, want %v", slice, got, want)
		}
	}
}

// TestSeen: what is seen from outside stands for latency where that is not known. A difference
// far below its floor is none, CPU time is compared per second where requests are not known,
// and what is not known is not 0.
func TestSeen(t *testing.T) {
	h := Header{journal.Header{Live: &journal.Live{Start: 2, SliceSeconds: 5, Uncounted: true, Seen: []string{FigureSched, FigureUnread, FigureSwitches}}}}
	h.Plan.Settings = Settings(2, []int{1}, false)
	slice := func(block, value int, seen map[string]float64) paired.Slice {
		cpu := 5 + 0.05*float64(block%3)
		if value == 1 {
			cpu *= 0.8
		}
		half := journal.Half{Seconds: 2.5, CPUSeconds: cpu / 2}
		s := journal.Trial{
			Block: block, Setting: h.Plan.Settings[value], Valid: true, Metrics: map[string]journal.Metric{},
			Usage: journal.Usage{MeasuredSeconds: 5}, Live: &journal.Slice{Before: 1 + value, CPUSeconds: cpu, Halves: [2]journal.Half{half, half}},
		}
		for name, x := range seen {
			s.Metrics[name] = journal.Metric{Value: x}
		}
		return h.SliceOf(&s)
	}
	for name, c := range map[string]struct {
		unread, sched [2]float64 // with the start value and with 1
		want          paired.Outcome
	}{
		"as good, below the floors": {[2]float64{0.001, 0.002}, [2]float64{2e-6, 8e-6}, paired.Better},
		"more is unread":            {[2]float64{1, 2}, [2]float64{1e-4, 1e-4}, paired.Mixed},
		"goroutines wait longer":    {[2]float64{0, 0}, [2]float64{1e-3, 4e-3}, paired.Mixed},
	} {
		var list []paired.Slice
		for n := range 40 {
			wobble := 1 + 0.02*float64(n%5)
			list = append(list, slice(n, 0, map[string]float64{FigureUnread: c.unread[0] * wobble, FigureSched: c.sched[0], FigureSwitches: 100}),
				slice(n, 1, map[string]float64{FigureUnread: c.unread[1], FigureSched: c.sched[1] * wobble, FigureSwitches: 100}))
		}
		look := paired.Judge(h.Rules(), list)
		if got := look.Values[0]; got.Outcome != c.want {
			t.Errorf("%s: %+v; expected %s", name, got, c.want)
		}
		for _, b := range look.Values[0].Bounds {
			if b.Name == paired.FigureRequests {
				t.Errorf("%s: requests are compared, which are not known", name)
			}
		}
	}
	// What is seen in no slice is not judged, and CPU time alone makes nothing better.
	var list []paired.Slice
	for n := range 40 {
		list = append(list, slice(n, 0, nil), slice(n, 1, nil))
	}
	if got := paired.Judge(h.Rules(), list).Values[0]; got.Outcome != paired.Cheaper {
		t.Errorf("nothing is seen: %+v; expected %s", got, paired.Cheaper)
	}
}
