package drift

import (
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/live"
)

// fake is a Meter that counts as many requests in a second as it is to, of so much CPU time each.
type fake struct {
	at        time.Time
	metrics   live.Metrics
	perSecond float64
	each      float64
	err       error
	asked     int
}

func (f *fake) Metrics() (live.Metrics, error) {
	f.asked++
	return f.metrics, f.err
}

func (*fake) Close() error { return nil }

func (f *fake) pass(d time.Duration) {
	f.at = f.at.Add(d)
	n := f.perSecond * d.Seconds()
	f.metrics.At = f.at.UnixNano()
	f.metrics.Requests += uint64(n)
	f.metrics.CPU += n * f.each
}

func scanOf(f *fake, e *rule.Expected) *observe.Snapshot {
	procs := 2
	s := rule.NewSubject(rule.Observed{Place: rule.Place{PID: 7}, Name: "api", Live: &procs, NumCPU: 8, Expected: e, Facts: facts.Facts{Affinity: facts.Fact{State: facts.Known, CPUs: 2}}})
	return &observe.Snapshot{At: f.at, Processes: []observe.Process{{Subject: s, Started: 99, Findings: rule.Judge(s)}}}
}

func expects() *rule.Expected {
	return &rule.Expected{Procs: 2, CPUs: 2, Measured: "2026-01-31", Requests: &rule.ExpectedRange{Min: 100, Max: 400}, CPUPerRequest: &rule.ExpectedSpread{Median: 0.001, Min: 0.00098, Max: 0.00103}}
}

func messages(s *observe.Snapshot) string {
	text := ""
	for _, f := range s.Processes[0].Findings {
		text += f.Rule + ": " + f.Message + "\n"
	}
	return text
}

// TestWatch: a load beyond the measured one is seen at once, a changed CPU time per request
// once it is proven, and neither in what stays as it was.
func TestWatch(t *testing.T) {
	f := &fake{at: time.Unix(1e9, 0), perSecond: 200, each: 0.001}
	w := Watch{find: func(int) (reader, error) { return f, nil }}
	e := expects()
	look := func(d time.Duration) string {
		f.pass(d)
		s := scanOf(f, e)
		w.Look(t.Context(), s)
		return messages(s)
	}
	for range 24 * 60 {
		if got := look(time.Minute); got != "" {
			t.Fatal(got)
		}
	}
	f.perSecond = 500
	if got := look(time.Minute); !strings.Contains(got, "it serves 500 req/s, but its expected value was measured at up to 400 req/s") {
		t.Error(got)
	}
	f.perSecond = 405 // which may be chance
	if got := look(time.Minute); got != "" {
		t.Error(got)
	}
	f.perSecond, f.each = 300, 0.0012
	hours := 0
	for ; hours < 500 && !strings.Contains(look(time.Hour), "PF061"); hours++ {
	}
	if got := look(time.Hour); !strings.Contains(got, "a request takes 20% more CPU time than when its expected value was measured") || hours < 24 || hours > 72 {
		t.Errorf("after %d hours: %s", hours, got)
	}
	if s := w.services[observe.Identity{PID: 7, Started: 99}]; s == nil {
		t.Error("it is not remembered")
	}
	// Another measurement begins again.
	e = expects()
	e.Measured, e.CPUPerRequest = "2026-02-28", &rule.ExpectedSpread{Median: 0.0012, Min: 0.0011, Max: 0.0013}
	for range 100 {
		if got := look(time.Hour); got != "" {
			t.Fatal(got)
		}
	}
	// A program that cannot be asked is not asked with each scan.
	f.err, f.asked = errors.New("permission denied"), 0
	for range 4 {
		if got := look(time.Minute); got != "" {
			t.Error(got)
		}
	}
	if f.asked != 1 {
		t.Errorf("asked %d times", f.asked)
	}
	w.Look(t.Context(), &observe.Snapshot{At: f.at.Add(keptFor)})
	if len(w.services) > 0 {
		t.Error("one that has ended is still known")
	}
}

// TestMissed: what is known of a program stays after a scan that failed, or that had no time
// for the program.
func TestMissed(t *testing.T) {
	f := &fake{at: time.Unix(1e9, 0), perSecond: 300, each: 0.0012}
	w := Watch{find: func(int) (reader, error) { return f, nil }}
	for range 200 {
		f.pass(time.Hour)
		s := scanOf(f, expects())
		w.Look(t.Context(), s)
		if strings.Contains(messages(s), "PF061") {
			return
		}
		w.Look(t.Context(), &observe.Snapshot{})
		w.Look(t.Context(), &observe.Snapshot{At: f.at.Add(time.Minute)})
	}
	t.Error("a change is not found")
}

// TestFileSystemHangs: a look for the counters of a program that does not end is not waited for,
// is not begun again, and counts when it ends after all.
func TestFileSystemHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{at: time.Unix(1e9, 0), perSecond: 500, each: 0.001}
		answers := make(chan bool)
		var looks atomic.Int32
		w := Watch{find: func(int) (reader, error) { looks.Add(1); <-answers; return f, nil }}
		for range 3 {
			f.pass(time.Hour)
			began := time.Now()
			s := scanOf(f, expects())
			w.Look(t.Context(), s)
			if d := time.Since(began); d > most || messages(s) != "" || looks.Load() != 1 {
				t.Errorf("after %v, with %d looks: %s", d, looks.Load(), messages(s))
			}
		}
		close(answers)
		synctest.Wait()
		var s *observe.Snapshot
		for range 2 { // a load is known from two readings
			f.pass(time.Hour)
			s = scanOf(f, expects())
			w.Look(t.Context(), s)
		}
		if !strings.Contains(messages(s), "it serves 500 req/s") || looks.Load() != 1 {
			t.Errorf("with %d looks: %s", looks.Load(), messages(s))
		}
	})
}

// TestOutside: what was not measured is not compared: another load, or a program that was
// restarted.
func TestOutside(t *testing.T) {
	f := &fake{at: time.Unix(1e9, 0), perSecond: 20, each: 0.01}
	w := Watch{find: func(int) (reader, error) { return f, nil }}
	for range 24 * 30 {
		f.pass(time.Hour)
		s := scanOf(f, expects())
		if w.Look(t.Context(), s); messages(s) != "" {
			t.Fatal(messages(s))
		}
	}
	f.metrics = live.Metrics{}
	f.pass(time.Hour)
	s := scanOf(f, expects())
	if w.Look(t.Context(), s); s.Processes[0].Traffic != nil {
		t.Errorf("%+v", s.Processes[0].Traffic)
	}
}

// TestTolerance: it is half of what is to be found, or as far as the trials were apart.
func TestTolerance(t *testing.T) {
	for measured, want := range map[float64]float64{1: 0.0699, 1.05: 0.0699, 1.2: 0.182} {
		if got := tolerance(measured); math.Abs(got-want) > 0.001 {
			t.Errorf("of %g: %g, want %g", measured, got, want)
		}
	}
}
