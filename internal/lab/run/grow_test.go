package run

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/verdict/journal"
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
// take some per cent.
func unsure(ratio float64) *world {
	return &world{cpus: 2, noise: func(block, procs int) float64 {
		if procs == 1 {
			return 1
		}
		plain := math.Pow(2, exponent) * (1 + 0.002) / (1 + 0.002*2)
		return ratio / plain * (1 + 0.06*math.Sin(2.4*float64(block)))
	}}
}

// untilDecided measures as procfit lab run --until-decided does.
func untilDecided(t *testing.T, r *Run, budget time.Duration) (list []More) {
	t.Helper()
	held, err := r.Open(Events{})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	on := Events{More: func(m More) { list = append(list, m) }}
	if err := errors.Join(r.Measure(t.Context(), on), r.UntilDecided(t.Context(), on, budget), r.Write()); err != nil {
		t.Fatal(err)
	}
	return list
}

// A hypothesis whose interval holds a bound gets more blocks until it is decided, and what
// decided it stays with the folder.
func TestUntilDecided(t *testing.T) {
	t.Parallel() // it waits for the disk, trial by trial
	e, err := lab.Find("parallel")
	if err != nil {
		t.Fatal(err)
	}
	chosen := lab.Options{Quick: true, Repeats: 6}
	dir, w := filepath.Join(t.TempDir(), "out"), unsure(2*0.83) // each CPU adds 0.83, and the bound is 0.7875
	if list := untilDecided(t, w.plan(dir, chosen, e), 200*time.Millisecond); len(list) > 0 || w.ran != 18 || !each(t, dir).Open {
		t.Fatalf("a budget of less than two blocks: %+v; %d trials ran; %+v", list, w.ran, each(t, dir))
	}
	list := untilDecided(t, w.plan(dir, chosen, e), time.Hour)
	if len(list) != 1 || list[0].Have != 6 || list[0].Want != 12 || list[0].Trials != 18 || !slices.Equal(list[0].Open, []string{"each_cpu"}) {
		t.Errorf("%+v", list)
	}
	a := each(t, dir)
	if a.Answer != lab.Holds || a.Open || a.Measured.N != 12 || w.ran != 36 {
		t.Errorf("%+v after %d trials", a, w.ran)
	}
	// Gone on with, nothing runs; the reports made again say the same.
	if list := untilDecided(t, w.plan(dir, chosen, e), time.Hour); len(list) > 0 || w.ran != 36 {
		t.Errorf("%+v, %d trials", list, w.ran)
	}
	o := read(t, dir)
	if err := Conclude(dir, o, pages); err != nil {
		t.Fatal(err)
	}
	again := each(t, dir)
	if again.Answer != a.Answer || *again.Measured.Low != *a.Measured.Low || !o.Complete || o.Experiments[0].Stages[0].Planned != 36 {
		t.Errorf("%+v, %+v", again, o.Experiments[0].Stages)
	}
}

// What lies on the bound is never decided: it is judged a few times, and no more.
func TestNeverDecided(t *testing.T) {
	t.Parallel() // it waits for the disk, trial by trial
	e, err := lab.Find("parallel")
	if err != nil {
		t.Fatal(err)
	}
	const bound = 4.2 / 0.6 / 8 * 0.90
	dir, w := filepath.Join(t.TempDir(), "out"), unsure(2*bound)
	chosen := lab.Options{Quick: true, Repeats: 6}
	// What is left of the budget makes the last round shorter.
	list := untilDecided(t, w.plan(dir, chosen, e), 6200*time.Millisecond)
	var want []int
	for _, m := range list {
		want = append(want, m.Want)
	}
	if !slices.Equal(want, []int{12, 24, 26}) || !each(t, dir).Open {
		t.Errorf("%v blocks, %+v", want, each(t, dir))
	}
	before := w.ran
	if list := untilDecided(t, w.plan(dir, chosen, e), time.Hour); len(list) > 0 || w.ran != before {
		t.Errorf("after %d rounds: %+v, %d more trials", lab.Rounds, list, w.ran-before)
	}
}

// A block during which the machine was slow is not in an answer, as it is not in a table.
func TestSlowBlock(t *testing.T) {
	e, err := lab.Find("parallel")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	w := (&world{cpus: 2}).plan(dir, lab.Options{Quick: true, Repeats: 7}, e)
	if err := measure(t, w); err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(dir, "parallel")
	contents, err := journal.ReadDirectory(below)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(below); err != nil {
		t.Fatal(err)
	}
	made, err := folder.Make(below)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	j, err := journal.Create(made, contents.Header, func(text string) string { return text })
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range contents.Trials {
		one.SpeedBefore, one.SpeedAfter = new(100.0), new(100.0)
		if one.Block == 3 {
			one.SpeedBefore, one.SpeedAfter = new(50.0), new(50.0)
		}
		if err := j.Append(one); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Conclude(dir, &w.Outcome, pages); err != nil {
		t.Fatal(err)
	}
	if a := each(t, dir); a.Measured.N != 6 {
		t.Errorf("%d blocks of 7 are in the answer", a.Measured.N)
	}
}
