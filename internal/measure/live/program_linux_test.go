package live

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/measure/paired"
	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
)

// TestUnleased: how an experiment ends in which the program does not go along with a lease.
func TestUnleased(t *testing.T) {
	for why, want := range map[meter.Why]journal.EndCode{
		meter.SetByOther: journal.EndTaken, meter.Refused: journal.EndTaken, meter.SwitchedOff: journal.EndTaken, meter.RanOut: journal.EndTaken,
		meter.OutOfRange: journal.EndFailed, meter.Taken: journal.EndFailed, meter.Denied: journal.EndFailed,
	} {
		var end *paired.EndError
		if err := unleased(&meter.Refusal{PID: 1, Why: why}); !errors.As(err, &end) || end.Code != want || end.Harm != nil || end.Reason == "" {
			t.Errorf("%d: %v; expected %s", why, err, want)
		}
	}
	var end *paired.EndError
	if err := unleased(fmt.Errorf("process 1: %w", meter.ErrGone)); !errors.As(err, &end) || end.Harm == nil {
		t.Errorf("a program that is gone: %v", err)
	}
	if err := unleased(&meter.Refusal{Why: meter.Silent}); err == nil || errors.As(err, &end) && end.Harm == nil {
		t.Errorf("what did not answer is asked again: %v", err)
	}
	if err := unleased(nil); err != nil {
		t.Error(err)
	}
}

// TestUnreadMissing: a span in which the sockets could not be looked at has no sum.
func TestUnreadMissing(t *testing.T) {
	u := &unread{}
	u.look(1, nil)
	time.Sleep(10 * time.Millisecond)
	was, known := u.sum()
	if !known || was <= 0 {
		t.Errorf("%g, known %t", was, known)
	}
	u.look(0, errors.New("no socket"))
	if x, known := u.sum(); known {
		t.Errorf("%g is known after a look that failed", x)
	}
	u.look(100, nil)
	time.Sleep(10 * time.Millisecond)
	from, to := Reading{Seen: map[string]float64{judge.FigureUnread: was}}, Reading{At: time.Unix(1, 0), Seen: map[string]float64{}}
	from.At = time.Unix(0, 0)
	to.Seen[judge.FigureUnread], known = u.sum()
	if x, seen := Seen(from, to)[judge.FigureUnread]; seen || !known {
		t.Errorf("%g connections with something unread, of which a part is missing", x)
	}
}

// TestThrottledNow: the limit that throttles the program between two readings is seen, also where
// another one has throttled it more often before.
func TestThrottledNow(t *testing.T) {
	of := func(dir string, periods, throttled int64) observe.Limit {
		return observe.Limit{Dir: dir, CPUs: 2, Throttling: facts.Throttling{Periods: periods, ThrottledPeriods: throttled}}
	}
	unread := observe.Limit{Dir: "/inner", Err: errors.New("no file")}
	for name, c := range map[string]struct {
		from, to []observe.Limit
		want     float64 // below 0: it is not known
	}{
		"another one before":    {[]observe.Limit{of("/inner", 100, 10), of("/outer", 9000, 8000)}, []observe.Limit{of("/inner", 200, 70), of("/outer", 9100, 8000)}, 0.6},
		"another one from then": {[]observe.Limit{of("/inner", 100, 80), of("/outer", 9000, 70)}, []observe.Limit{of("/inner", 200, 80), of("/outer", 9100, 90)}, 0.2},
		"no period":             {[]observe.Limit{of("/inner", 100, 10)}, []observe.Limit{of("/inner", 100, 10)}, 0},
		"made again":            {[]observe.Limit{of("/inner", 100, 10)}, []observe.Limit{of("/inner", 50, 20)}, -1},
		"one cannot be read":    {[]observe.Limit{unread, of("/outer", 0, 0)}, []observe.Limit{unread, of("/outer", 10, 9)}, -1},
		"no limit":              {nil, nil, -1},
	} {
		got, known := Seen(Reading{At: time.Unix(0, 0), Limits: c.from}, Reading{At: time.Unix(10, 0), Limits: c.to})[judge.FigureThrottled]
		if known != (c.want >= 0) || known && got != c.want {
			t.Errorf("%s: %g, known %t; expected %g", name, got, known, c.want)
		}
	}
	// What is known of it is harm all the same.
	e, w := &Experiment{}, newWire([]sight{{Seconds: 1}})
	e.Header.Live = &journal.Live{}
	is := []observe.Limit{unread, of("/outer", 10, 9)}
	bad := e.sight(Reading{Limits: []observe.Limit{unread, of("/outer", 0, 0)}}, Reading{Limits: is})
	if w.Look(bad); !w.Look(bad) || w.beyond == nil || w.beyond.Metric != judge.FigureThrottled || w.beyond.Value != 0.9 {
		t.Errorf("of one limit that cannot be read and one that throttles in 9 of 10 periods: %+v", w.beyond)
	}
}

// TestUnreadIsCheap: looks that take long are rare, and the sum knows what it misses.
func TestUnreadIsCheap(t *testing.T) {
	n, began := 0, time.Now()
	const takes = 10 * time.Millisecond // of CPU time: of a busy machine's, more
	u := watchUnread(func() (int, error) {
		n++
		for was := must.Get(procstat.ReadCPUTime(os.Getpid()))(t); must.Get(procstat.ReadCPUTime(os.Getpid()))(t) < was+takes; {
		}
		return 1, nil
	}, func() error { return nil })
	time.Sleep(time.Second)
	if u.stop(); n > 1+int(time.Since(began)/(lookShare*takes)) || u.apart < lookShare*takes {
		t.Errorf("%d looks of %v in %v, the second one %v later", n, takes, time.Since(began), u.apart)
	}
	if x, known := u.sum(); !known || x < 1 {
		t.Errorf("%g connections times seconds, known %t", x, known)
	}
}

// TestReleaseReads: where no value is lent, the value at the end is the one that is read.
func TestReleaseReads(t *testing.T) {
	id := must.Get(steer.Identify(os.Getpid()))(t)
	now := runtime.GOMAXPROCS(0)
	p := Program{Program: id, Before: steer.Value{Procs: now + 1}}
	if err := p.Release(t.Context()); err != nil || p.After != now {
		t.Errorf("GOMAXPROCS is %d, read as %d, %v", now, p.After, err)
	}
	p = Program{Program: id, Before: p.Before, unsure: true} // a call may set it yet
	if err := p.Release(t.Context()); err == nil || p.After != 0 {
		t.Errorf("read as %d after a call of which nothing is known, %v", p.After, err)
	}
}

// TestEnded: a program that has ended is gone, also while nobody has waited for it.
func TestEnded(t *testing.T) {
	program := exec.Command("sleep", "600")
	must.OK(t, program.Start())
	defer func() { _ = program.Process.Kill(); _ = program.Wait() }()
	p := Program{Program: must.Get(steer.Identify(program.Process.Pid))(t)}
	must.OK(t, p.ended())
	must.OK(t, program.Process.Kill())
	var end *paired.EndError
	for until := time.Now().Add(20 * time.Second); !errors.As(p.ended(), &end); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("a program that was killed: %v", p.ended())
		}
	}
	if end.Harm == nil || end.Harm.Code != journal.HarmEnded {
		t.Errorf("a program that was killed: %v", end)
	}
}

// TestProgram: what is seen of a program that has no code for it, which here is the test: its
// CPU time, the requests that it leaves unread, and how long its goroutines wait.
func TestProgram(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	id := must.Get(steer.Identify(os.Getpid()))(t)
	p := must.Get(Watch(id, steer.Value{Procs: 2}))(t)
	defer p.Close()
	for range 3 {
		c := must.Get(net.Dial("tcp", l.Addr().String()))(t)
		defer c.Close()
		must.Get(c.Write([]byte("GET / HTTP/1.1\r\n\r\n")))(t)
	}
	read := func() Reading {
		t.Helper()
		return must.Get(p.Read(t.Context()))(t)
	}
	x := &Experiment{Header: judge.Header{Header: journal.Header{Live: &journal.Live{}}}}
	from := read()
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); { // until they are looked at
		before := from
		time.Sleep(20 * time.Millisecond)
		if from = read(); x.seen(before, from)[judge.FigureUnread] > 2.9 {
			break
		}
	}
	for until := time.Now().Add(300 * time.Millisecond); time.Now().Before(until); {
		done := make(chan bool)
		go close(done)
		<-done
	}
	burner := exec.Command("sh", "-c", "while :; do :; done")
	must.OK(t, burner.Start())
	defer func() { _ = burner.Process.Kill(); _ = burner.Wait() }()
	alone := read()
	time.Sleep(2 * time.Second)
	if x, known := Seen(alone, read())[judge.FigureOthers]; !known || x < 0.2 || x > 1.5*float64(runtime.NumCPU()) { // the counters are read a moment after the clock
		t.Errorf("next to a program that never rests, others use %g CPUs, known %t", x, known)
	}
	to := read()
	if to.CPU <= from.CPU || to.CPU-from.CPU > 100 {
		t.Errorf("%g s of CPU time", to.CPU-from.CPU)
	}
	got := x.seen(from, to)
	if n := got[judge.FigureUnread]; n < 2.5 || n > 3.5 {
		t.Errorf("%g connections with something unread, expected 3", n)
	}
	if x, known := got[judge.FigureSched]; !known || x < 0 || x > 10 {
		t.Errorf("a scheduling latency of %g s, known %t", x, known)
	}
	if x, known := got[judge.FigureSwitches]; known && x <= 0 {
		t.Errorf("%g context switches per second", x)
	}
}
