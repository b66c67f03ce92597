package observe

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
)

func TestUsageOfAGroup(t *testing.T) {
	for name, of := range map[string]struct {
		files map[string]string
		want  time.Duration // -1: this kernel does not count it there
		wrong string
	}{
		"v2":               {map[string]string{"cpu.stat": "usage_usec 1500000\nuser_usec 1\nnr_periods 0\n"}, 1500 * time.Millisecond, ""},
		"v1, together":     {map[string]string{"cpu.stat": "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n", "cpuacct.usage": "2000000000\n"}, 2 * time.Second, ""},
		"v1, by itself":    {map[string]string{"cpu.stat": "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n"}, -1, ""},
		"gone":             {nil, 0, "no such file"},
		"not a number":     {map[string]string{"cpu.stat": "usage_usec many\n"}, 0, `"many" is not a CPU time`},
		"below zero":       {map[string]string{"cpu.stat": "\n", "cpuacct.usage": "-5\n"}, 0, "is not a CPU time"},
		"more than a time": {map[string]string{"cpu.stat": "usage_usec 9223372036854775807\n"}, 0, "is not a CPU time"},
	} {
		dir := t.TempDir()
		for file, text := range of.files {
			must.OK(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
		}
		got, err := usageOf(dir)
		switch {
		case of.wrong != "":
			if err == nil || !strings.Contains(err.Error(), of.wrong) {
				t.Errorf("%s: %v, want %q", name, err, of.wrong)
			}
		case err != nil || (got == nil) != (of.want < 0) || got != nil && *got != of.want:
			t.Errorf("%s: %v, %v, want %v", name, got, err, of.want)
		}
	}
}

func TestProcessesOfAGroup(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{"cgroup.procs": "1\n20\n", "a/cgroup.procs": "", "a/b/cgroup.procs": "300\n0\n"} {
		must.OK(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755))
		must.OK(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600))
	}
	pids, err := (&neighbourhood{dir: dir}).pids(t.Context())
	if slices.Sort(pids); err != nil || !slices.Equal(pids, []int{0, 1, 20, 300}) {
		t.Errorf("%v, %v", pids, err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&neighbourhood{dir: dir}).pids(over); !errors.Is(err, context.Canceled) {
		t.Errorf("without time: %v", err)
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, "a", "cgroup.procs"), []byte("x\n"), 0o600))
	if _, err := (&neighbourhood{dir: dir}).pids(t.Context()); err == nil || !strings.Contains(err.Error(), `"x" is not a process`) {
		t.Errorf("%v", err)
	}
	must.OK(t, os.Remove(filepath.Join(dir, "cgroup.procs")))
	if _, err := (&neighbourhood{dir: dir}).pids(t.Context()); err == nil || !strings.Contains(err.Error(), "give their CPUs as a number") {
		t.Errorf("a group that cannot be read: %v", err)
	}
}

// What the others used is what all used without the process; without the kernel's count it is
// the sum, and a process that cannot be read makes that unknown.
func TestSumOfNeighbours(t *testing.T) {
	at := func(pid int, seconds float64) Stat {
		return Stat{PID: pid, Name: "p" + strconv.Itoa(pid), Started: uint64(pid), User: time.Duration(seconds * float64(time.Second))}
	}
	w := &neighbourhood{pid: 7, dir: "/g", first: map[Identity]Stat{}, last: map[Identity]Stat{}}
	for _, two := range [][2]Stat{{at(7, 10), at(7, 12)}, {at(8, 0), at(8, 1)}, {at(9, 5), at(9, 5)}, {at(10, 1), at(10, 4)}} {
		w.first[two[0].Identity()], w.last[two[1].Identity()] = two[0], two[1]
	}
	before := func(used *time.Duration) counted {
		return counted{used: used, own: at(7, 10), limit: facts.Throttling{Periods: 10, ThrottledPeriods: 1}}
	}
	after := func(used *time.Duration) counted {
		return counted{used: used, own: at(7, 12), limit: facts.Throttling{Periods: 50, ThrottledPeriods: 11}}
	}
	n := Neighbours{Over: 4 * time.Second}
	must.OK(t, w.sum(&n, before(new(time.Second)), after(new(8*time.Second))))
	if n.All != 1.75 || n.Own != 0.5 || n.Used() != 1.25 || n.Reserve() != 1.25 || !n.Counted || *n.Throttled != 0.25 {
		t.Errorf("%+v", n)
	}
	if len(n.Others) != 2 || n.Others[0] != (Used{10, "p10", 0.75}) || n.Others[1].PID != 8 {
		t.Errorf("%+v", n.Others)
	}
	sum := Neighbours{Over: 4 * time.Second}
	if err := w.sum(&sum, before(nil), after(nil)); err != nil || sum.Counted || sum.All != 1.5 || sum.Reserve() != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
	// What procfit itself used is not reserved.
	looking, looked := before(new(time.Second)), after(new(8*time.Second))
	looking.self, looked.self = at(10, 0), at(10, 4)
	without := Neighbours{Over: 4 * time.Second}
	if err := w.sum(&without, looking, looked); err != nil || without.All != 0.75 || len(without.Others) != 1 || without.Others[0].PID != 8 {
		t.Errorf("%+v, %v", without, err)
	}
	sum = Neighbours{Over: 4 * time.Second}
	if looking.used, looked.used = nil, nil; w.sum(&sum, looking, looked) != nil || sum.All != 0.75 {
		t.Errorf("%+v", sum)
	}
	same := before(new(time.Second))
	same.limit = facts.Throttling{}
	idle := Neighbours{Over: 4 * time.Second}
	if err := w.sum(&idle, same, same); err != nil || idle.Throttled != nil || idle.All != 0 {
		t.Errorf("no period has passed: %+v, %v", idle, err)
	}
	reused := after(new(8 * time.Second))
	reused.own.Started++
	if err := w.sum(&Neighbours{Over: time.Second}, before(new(time.Second)), reused); err == nil || !strings.Contains(err.Error(), "process 7 has ended, or left /g") {
		t.Errorf("another process of the same number: %v", err)
	}
	w.hidden = 2
	if err := w.sum(&Neighbours{Over: time.Second}, before(nil), after(nil)); err == nil || !strings.Contains(err.Error(), "2 processes of /g cannot be read") {
		t.Errorf("%v", err)
	}
	// If steps of 10 ms were reserved, a process that is alone would lose a P to fit's rounding.
	for used, want := range map[float64]float64{0: 0, 0.009: 0, 0.012: 0.02, 0.37: 0.37, 0.374: 0.38} {
		if got := (Neighbours{All: used + 1.5, Own: 1.5, Over: 5 * time.Second}).Reserve(); math.Abs(got-want) > 1e-12 {
			t.Errorf("%g: %g, want %g", used, got, want)
		}
	}
}

// A process without a limit shares its CPUs; a busy neighbour there is found by its name.
func TestNeighboursOnTheCPUs(t *testing.T) {
	busy := exec.Command("sh", "-c", "while :; do :; done")
	must.OK(t, busy.Start())
	defer func() { busy.Process.Kill(); busy.Wait() }()
	f := facts.Read()
	f.Limits = nil // what is around this test is not looked at
	s := rule.NewSubject(rule.Observed{Place: rule.Place{PID: os.Getpid()}, Facts: f})
	const over = 300 * time.Millisecond
	n := must.Get(LookAtNeighbours(t.Context(), s, over))(t)
	found := slices.ContainsFunc(n.Others, func(o Used) bool { return o.PID == busy.Process.Pid && o.CPUs > 0 }) // next to fifty others it is little
	if !found || n.Dir != "" || n.CPUs != f.AffinityCPUs() || n.Used() <= 0 || n.Over < over {
		t.Errorf("%+v", n)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := LookAtNeighbours(ended, s, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	s.PID = 1 << 30
	if _, err := LookAtNeighbours(t.Context(), s, time.Second); err == nil || !strings.HasSuffix(err.Error(), "has ended") {
		t.Errorf("%v", err)
	}
}
