package run

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// each is the answer to parallel's hypothesis that two CPUs can tell.
func each(t *testing.T, dir string) lab.Answered {
	t.Helper()
	for _, a := range read(t, dir).Experiments[0].Hypotheses {
		if a.ID == "each_cpu" {
			return a
		}
	}
	t.Fatal("no each_cpu")
	return lab.Answered{}
}

// unsure is a world of two CPUs in which two Ps are that many times as fast as one, give or
// take some per cent, and a trial takes a second.
func unsure(ratio float64) *world {
	return &world{cpus: 2, takes: time.Second, noise: func(block, procs int) float64 {
		if procs == 1 {
			return 1
		}
		plain := math.Pow(2, exponent) * (1 + 0.002) / (1 + 0.002*2)
		return ratio / plain * (1 + 0.06*math.Sin(2.4*float64(block)))
	}}
}

// given are the blocks that a hypothesis was given.
type given struct {
	hypothesis string
	blocks     int
}

// decided measures as procfit lab run does, in at most that time.
func decided(t *testing.T, w *world, dir string, chosen lab.Options, most time.Duration, list ...lab.Experiment) (more []given, took time.Duration) {
	t.Helper()
	r := w.plan(dir, chosen, list...)
	r.options.Fixed, r.options.Most, r.options.Now = false, most, time.Now
	held := must.Get(r.Open(quiet))(t)
	defer held.Close()
	began := time.Now()
	on := unheard
	on.More = func(_, hypothesis string, blocks int) { more = append(more, given{hypothesis, blocks}) }
	must.OK(t, errors.Join(r.Measure(t.Context(), on), r.Write()))
	return more, time.Since(began)
}

// A hypothesis that the first blocks leave open gets more of its own settings until it is decided,
// and what decided it stays with the folder.
func TestDecide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := must.Get(lab.Find("parallel"))(t)
		chosen := lab.Options{Quick: true, Repeats: 4}
		dir, w := filepath.Join(t.TempDir(), "out"), unsure(2*0.83) // each CPU adds 0.83, and the bound is 0.7875
		if list, took := decided(t, w, dir, chosen, 14*time.Second, e); len(list) > 0 || w.ran != 12 || took != 12*time.Second {
			t.Fatalf("a budget of less than two blocks: %+v; %d trials ran in %s", list, w.ran, took)
		}
		open := each(t, dir)
		if !open.Open || open.MoreBlocks < 2 || open.MoreSeconds != float64(2*open.MoreBlocks) {
			t.Fatalf("%+v", open)
		}
		list, _ := decided(t, w, dir, chosen, time.Hour, e)
		a, n := each(t, dir), 0
		for _, m := range list {
			if n += m.blocks; m.hypothesis != "each_cpu" {
				t.Errorf("%+v", m)
			}
		}
		if n < 3 || a.Answer != lab.Holds || a.Open || a.MoreBlocks != 0 || a.Measured.N != 4+n || w.ran != 12+2*n {
			t.Errorf("%+v after %d trials and %+v", a, w.ran, list)
		}
		// Gone on with, nothing runs; the reports made again say the same.
		before := w.ran
		if list, _ := decided(t, w, dir, chosen, time.Hour, e); len(list) > 0 || w.ran != before {
			t.Errorf("%+v, %d trials", list, w.ran)
		}
		o, unwritten, err := Conclude(dir, lab.ReadOutcome, pages)
		must.OK(t, errors.Join(err, unwritten))
		again := each(t, dir)
		if again.Answer != a.Answer || *again.Measured.Low != *a.Measured.Low || !o.Complete || o.Experiments[0].Stages[0].Planned != before {
			t.Errorf("%+v, %+v", again, o.Experiments[0].Stages)
		}
	})
}

// The time is spent where it decides: first on what needs least of it, and not on what lies on its
// bound.
func TestNearestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, err1 := lab.Find("parallel") // each CPU adds at least 0.7875
		far, err2 := lab.Find("workload")  // each CPU adds at least 0.9
		must.OK(t, errors.Join(err1, err2))
		dir, w := filepath.Join(t.TempDir(), "out"), unsure(2*0.88)
		list, _ := decided(t, w, dir, lab.Options{Quick: true, Repeats: 4}, 10*time.Minute, far, near)
		names := []string{}
		for _, m := range list {
			names = append(names, m.hypothesis)
		}
		if soon, late := slices.Index(names, "each_cpu"), slices.Index(names, "cpu_scales"); soon < 0 || late < soon || slices.Contains(names[late:], "each_cpu") {
			t.Errorf("%v", list)
		}
	})
}

// What lies on the bound is reported to be there, once the interval is narrow enough, and takes no time
// after that.
func TestOnItsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := must.Get(lab.Find("parallel"))(t)
		const bound = 4.2 / 0.6 / 8 * 0.90
		dir, w := filepath.Join(t.TempDir(), "out"), unsure(2*bound)
		const most = 5 * time.Minute
		_, took := decided(t, w, dir, lab.Options{Quick: true, Repeats: 6}, most, e)
		if a := each(t, dir); a.Open || a.Answer != lab.AtBound || *a.Measured.Low > bound || *a.Measured.High < bound || took > most {
			t.Errorf("%+v in %s", a, took)
		}
	})
}

// Blocks whose trials are all invalid are not asked for again.
func TestNothingSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := must.Get(lab.Find("parallel"))(t)
		dir, w := filepath.Join(t.TempDir(), "out"), unsure(2*0.83)
		w.invalidFrom = 12
		list, _ := decided(t, w, dir, lab.Options{Quick: true, Repeats: 4}, time.Hour, e)
		if len(list) != 1 {
			t.Errorf("%+v", list)
		}
	})
}

// What slows a machine down may be over after the turns of others: a hypothesis whose blocks were
// not valid comes after them, and is given up after three times.
func TestNearestInVain(t *testing.T) {
	of := func(id string, seconds float64) *open {
		return &open{More: lab.More{Hypothesis: id, Seconds: seconds}, item: &item{Experiment: lab.Experiment{ID: "e"}}}
	}
	for _, tc := range []struct {
		left   time.Duration
		inVain map[string]int
		want   string
	}{
		{time.Hour, nil, "soon"},
		{time.Hour, map[string]int{"e/soon": 1}, "late"},
		{time.Hour, map[string]int{"e/soon": 1, "e/late": 1}, "soon"},
		{time.Minute, map[string]int{"e/soon": 2}, "soon"},
		{time.Minute, map[string]int{"e/soon": mostInVain}, ""},
		{time.Second, nil, ""},
	} {
		got := nearest([]*open{of("late", 100), of("soon", 10)}, tc.left, tc.inVain)
		if (got == nil) != (tc.want == "") || got != nil && got.Hypothesis != tc.want {
			t.Errorf("%+v: %+v", tc, got)
		}
	}
}

// How long a run may take follows from its questions, unless it is said, or its blocks are.
func TestBudget(t *testing.T) {
	e := must.Get(lab.Find("parallel"))(t)
	w := &world{cpus: 2}
	for _, tc := range []struct {
		quick, fixed bool
		most         time.Duration
		want         time.Duration // beyond the first blocks
	}{{quick: true, want: 30 * time.Second}, {want: 5 * time.Minute}, {quick: true, fixed: true}} {
		r := w.plan(filepath.Join(t.TempDir(), "out"), lab.Options{Quick: tc.quick}, e)
		r.options.Fixed = tc.fixed
		want := time.Duration(0)
		if !tc.fixed {
			want = tc.want + r.Planned()[0].Cost()
		}
		if got := r.Budget(); got != want {
			t.Errorf("%+v: %s, want %s", tc, got, want)
		}
		if r.options.Most = 7 * time.Minute; !tc.fixed && r.Budget() != 7*time.Minute {
			t.Errorf("%s, and 7 minutes were asked for", r.Budget())
		}
	}
	all := New(Options{Experiments: lab.List(), Chosen: lab.Options{Quick: true}, Host: w.host(), Machine: w.machine(), Now: time.Now})
	if got := all.Budget(); got < 8*time.Minute || got > 13*time.Minute {
		t.Errorf("all quick experiments may take %s", got)
	}
}

// A block during which the machine was slow is not in an answer, as it is not in a table.
func TestSlowBlock(t *testing.T) {
	e := must.Get(lab.Find("parallel"))(t)
	dir := filepath.Join(t.TempDir(), "out")
	w := (&world{cpus: 2}).plan(dir, lab.Options{Quick: true, Repeats: 7}, e)
	must.OK(t, measure(t, w))
	below := filepath.Join(dir, "parallel")
	contents := must.Get(journal.ReadDirectory(below))(t)
	must.OK(t, os.RemoveAll(below))
	made := must.Get(folder.Make(below))(t)
	defer made.Close()
	j := must.Get(journal.Create(made, contents.Header, func(text string) string { return text }))(t)
	for _, one := range contents.Trials {
		one.SpeedBefore, one.SpeedAfter = new(100.0), new(100.0)
		if one.Block == 3 {
			one.SpeedBefore, one.SpeedAfter, one.ThroughputPerSecond = new(50.0), new(50.0), new(*one.ThroughputPerSecond/2)
		}
		must.OK(t, j.Append(one))
	}
	must.OK(t, j.Close())
	_, unwritten, err := Conclude(dir, lab.ReadOutcome, pages)
	must.OK(t, errors.Join(err, unwritten))
	if a := each(t, dir); a.Measured.N != 6 {
		t.Errorf("%d blocks of 7 are in the answer", a.Measured.N)
	}
}

// A machine that stays busy is waited for once in a run, and not once in every sweep.
func TestBusyMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var list []lab.Experiment
		for _, id := range []string{"parallel", "cpubound", "contention"} {
			e := must.Get(lab.Find(id))(t)
			list = append(list, e)
		}
		dir, w := filepath.Join(t.TempDir(), "out"), unsure(2*0.83)
		w.others = 2
		_, took := decided(t, w, dir, lab.Options{Quick: true, Repeats: 4}, time.Hour, list...)
		if took < 2*time.Minute || took > 3*time.Minute {
			t.Errorf("it took %s", took)
		}
		for _, e := range read(t, dir).Experiments {
			if s := e.Stages[0]; s.Run == 0 || s.Complete || s.Stopped == "" {
				t.Errorf("%s: %+v", e.ID, s)
			}
		}
	})
}
