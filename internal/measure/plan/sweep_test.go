package plan

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

func ptr[T any](v T) *T { return &v }

func show(values []*int) string {
	var out []string
	for _, v := range values {
		if v == nil {
			out = append(out, "unset")
		} else {
			out = append(out, fmt.Sprint(*v))
		}
	}
	return strings.Join(out, " ")
}

func TestParseProcs(t *testing.T) {
	for in, want := range map[string]string{
		"default,1,2,4,8": "unset 1 2 4 8",
		"1..4":            "1 2 3 4",
		"4, 1..2,default": "unset 1 2 4",
		"2,2,2":           "2",
		"3..3":            "3",
	} {
		p, err := ParseProcs(in)
		if err != nil || show(p.For(2)) != want {
			t.Errorf("%q: %s, %v; want %s", in, show(p.For(2)), err, want)
		}
	}
	for in, want := range map[string]string{
		"0,-1,x":   `"0", "-1", "x": expected`,
		"":         `""`,
		"1,,2":     `"1,,2"`,
		"8..1":     `"8..1"`,
		"1..":      `"1.."`,
		"1..9999":  `"1..9999"`,
		"1..1000":  `"1..1000"`,
		"2.5":      `"2.5"`,
		"unset..2": `"unset..2"`,
		"9e9":      `"9e9"`,
	} {
		if _, err := ParseProcs(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want an error with %s", in, err, want)
		}
	}
}

func TestAutoProcs(t *testing.T) {
	for effective, want := range map[float64]string{
		0.5: "unset 1 2 4 8",
		1:   "unset 1 2 4 8",
		2:   "unset 1 2 3 4",
		2.5: "unset 1 2 3 4",
		6:   "unset 1 2 4 5 6 7 8",
		8:   "unset 1 2 4 7 8 9 16",
		64:  "unset 1 2 4 8 16 32 63 64 65 128",
	} {
		if got := show(Procs{Auto: true}.For(effective)); got != want {
			t.Errorf("%g CPUs: %s, want %s", effective, got, want)
		}
	}
}

func FuzzParseProcs(f *testing.F) {
	f.Add("unset,1..8,3")
	f.Add("auto")
	f.Fuzz(func(t *testing.T, in string) {
		p, err := ParseProcs(in)
		if err != nil {
			return
		}
		for _, v := range p.For(2) {
			if v != nil && (*v < 1 || *v > maxProcs) {
				t.Errorf("%q gives %d", in, *v)
			}
		}
	})
}

// settings are those of a test's plan.
type settings struct {
	Procs      Procs
	Quotas     []*float64
	GoVersions []string
	Against    bool
	CPUs       float64
	Blocks     int
	Pilots     int
	Seed       uint64
}

func plan(t *testing.T, m settings) journal.Plan {
	t.Helper()
	s := Default()
	s.Procs, s.Quotas, s.GoVersions, s.Repeats, s.Seed = m.Procs, m.Quotas, m.GoVersions, m.Blocks, &m.Seed
	s.Target.Command = []string{"program"}
	if m.GoVersions != nil {
		s.Target.Build = "."
	}
	if m.Against {
		s.Target.Against = []string{"old"}
	}
	must.OK(t, s.Validate())
	p := s.Plan(m.CPUs, 0)
	p.Pilots = m.Pilots
	return p
}

func TestPlanIsInterleavedAndRepeatable(t *testing.T) {
	m := settings{Procs: Procs{Values: []*int{nil, ptr(1), ptr(2)}}, Quotas: []*float64{nil, ptr(0.5)}, CPUs: 2, Blocks: 20, Pilots: 2, Seed: 42}
	p := plan(t, m)
	tasks := schedule(p)
	if !reflect.DeepEqual(tasks, schedule(p)) {
		t.Error("the same plan gives another schedule")
	}
	if want := 2*2 + 20*(6+2); len(tasks) != want {
		t.Fatalf("%d tasks, want %d", len(tasks), want)
	}
	orders := map[string]bool{}
	for block := range 20 {
		var order string
		seen := map[string]int{}
		for _, task := range tasks[4+8*block : 4+8*(block+1)] {
			if task.Block != block {
				t.Fatalf("block %d holds %+v", block, task)
			}
			name := fmt.Sprint(task.Setting.Label, task.Role, task.Setting.QuotaCPUs != nil)
			seen[name]++
			order += name + " "
		}
		if len(seen) != 8 {
			t.Errorf("block %d runs %v", block, seen)
		}
		orders[order] = true
	}
	if len(orders) < 15 {
		t.Errorf("only %d different orders in 20 blocks", len(orders))
	}
	m.Seed = 43
	if reflect.DeepEqual(tasks, schedule(plan(t, m))) {
		t.Error("another seed gives the same schedule")
	}
	m.Seed, m.Blocks = 42, 25
	if longer := schedule(plan(t, m)); !reflect.DeepEqual(tasks, longer[:len(tasks)]) {
		t.Error("more blocks change the earlier ones")
	}
}

func TestPlanOfAGateAndOfQuotas(t *testing.T) {
	p := plan(t, settings{Procs: Procs{Values: []*int{nil}}, Against: true, CPUs: 2, Blocks: 6})
	if len(p.Settings) != 2 || p.Settings[1].Variant != journal.VariantAgainst || p.Settings[1].Label != "old default" || len(p.AA) != 1 || p.AA[0].Variant != "" {
		t.Errorf("%+v", p)
	}
	s := server()
	if s.Load.Rate = 100; !s.Plan(2, 0).SmallestFor {
		t.Error("a rate does not ask for the smallest value that carries it")
	}
	if s.Target.Against = []string{"old"}; s.Plan(2, 0).SmallestFor {
		t.Error("the rate of a gate asks for the smallest value that carries it")
	}
	p = plan(t, settings{Procs: Procs{Auto: true}, Quotas: []*float64{ptr(8.0)}, CPUs: 2, Blocks: 6})
	if got := p.Settings[len(p.Settings)-1].Label; got != "4" || len(p.Settings) != 5 {
		t.Errorf("a quota above the CPUs: %d settings up to %s, want those of 2 CPUs", len(p.Settings), got)
	}
}

// fake answers with a throughput of 100 a CPU, and as its script says.
type fake struct {
	ran    []Task
	answer func(n int, t Task) (journal.Trial, error)
}

func (f *fake) Prepare(context.Context, journal.Plan, Observer) error { return nil }
func (f *fake) Close() error                                          { return nil }

func (f *fake) Run(ctx context.Context, t Task, _ Observer) (journal.Trial, error) {
	f.ran = append(f.ran, t)
	if f.answer != nil {
		return f.answer(len(f.ran), t)
	}
	return journal.Trial{Valid: true, ThroughputPerSecond: ptr(100.0 * float64(max(1, value(t.Setting.Procs))))}, nil
}

type run struct {
	Execution
	kept   []journal.Trial
	blocks []journal.Block
}

func newRun(p journal.Plan, r Runner, have []journal.Trial) *run {
	x := &run{kept: have}
	x.Execution = Execution{Header: journal.Header{Plan: p}, Have: Record{Trials: have}, Runner: r, Now: time.Now,
		Begin:  func(b journal.Block) error { x.blocks = append(x.blocks, b); return nil },
		Append: func(t journal.Trial) error { x.kept = append(x.kept, t); return nil }}
	return x
}

// Every trial knows whether one before it read a Go program, also one before a kill.
func TestTrialsKnowWhatWasRead(t *testing.T) {
	p := plan(t, settings{Procs: Procs{Values: []*int{nil, ptr(1)}}, CPUs: 2, Blocks: 2, Seed: 1})
	for read, want := range map[int]string{0: "false true true", 1: "true true true"} {
		x := newRun(p, &fake{}, nil)
		ended := errors.New("ended")
		x.Runner = &fake{answer: func(n int, task Task) (journal.Trial, error) {
			if n > len(schedule(p))-3 {
				return journal.Trial{}, ended
			}
			return journal.Trial{Valid: true}, nil
		}}
		if err := x.Run(t.Context()); !errors.Is(err, ended) {
			t.Fatal(err)
		}
		x.kept[0].ObservedProcs = []*int{nil, ptr(2)}[read:][:1]
		second := &fake{answer: func(int, Task) (journal.Trial, error) {
			return journal.Trial{Valid: true, ObservedProcs: []*int{ptr(2)}}, nil
		}}
		must.OK(t, newRun(p, second, x.kept).Run(t.Context()))
		var got []string
		for _, task := range second.ran {
			got = append(got, fmt.Sprint(task.SawGo))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d programs were read before: %v, want %s", read, got, want)
		}
	}
}

func TestResumeCompletesExactlyWhatIsMissing(t *testing.T) {
	p := plan(t, settings{Procs: Procs{Auto: true}, Quotas: []*float64{nil, ptr(1.0)}, CPUs: 2, Blocks: 3, Pilots: 1, Seed: 1})
	tasks := schedule(p)
	for stop := range len(tasks) {
		ctx, cancel := context.WithCancel(t.Context())
		first := &fake{}
		first.answer = func(n int, task Task) (journal.Trial, error) {
			if n > stop {
				cancel()
				return journal.Trial{}, ctx.Err()
			}
			return (&fake{}).Run(ctx, task, nil)
		}
		x := newRun(p, first, nil)
		if err := x.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped after %d: %v", stop, err)
		}
		if len(x.kept) != stop {
			t.Fatalf("%d trials kept, want %d", len(x.kept), stop)
		}
		second := &fake{}
		y := newRun(p, second, x.kept)
		must.OK(t, y.Run(t.Context()))
		if len(second.ran) != len(tasks)-stop || len(Record{Trials: y.kept}.Lacks(tasks)) != 0 {
			t.Fatalf("stopped after %d: the second run did %d of %d", stop, len(second.ran), len(tasks))
		}
		for _, task := range second.ran {
			if task.Role != journal.RolePilot && (task.RatePerSecond == nil || *task.RatePerSecond != 50) {
				t.Fatalf("%+v runs at another rate than half of the pilots' 100", task)
			}
		}
	}
}

func TestHopelessRunsEnd(t *testing.T) {
	invalid := func(int, Task) (journal.Trial, error) { return journal.Trial{InvalidReason: "it crashed"}, nil }
	p := plan(t, settings{Procs: Procs{Auto: true}, CPUs: 2, Blocks: 3, Pilots: 1})
	x := newRun(p, &fake{answer: invalid}, nil)
	if err := x.Run(t.Context()); !errors.Is(err, ErrHopeless) || !strings.Contains(err.Error(), "it crashed") || len(x.kept) != 1 {
		t.Errorf("invalid pilot: %v with %d trials", err, len(x.kept))
	}
	again := &fake{}
	if err := newRun(p, again, x.kept).Run(t.Context()); err != nil || again.ran[0].Role != journal.RolePilot || again.ran[0].Tried != 1 || again.ran[1].Tried != 0 {
		t.Errorf("after an invalid pilot: %v, the first are %+v; want a pilot again", err, again.ran[:2])
	}

	p.Pilots = 2
	later := &fake{answer: func(n int, task Task) (journal.Trial, error) {
		if n == 2 {
			return journal.Trial{InvalidReason: "starved"}, nil
		}
		return journal.Trial{Valid: true, ThroughputPerSecond: ptr(80.0)}, nil
	}}
	if err := newRun(p, later, nil).Run(t.Context()); err != nil || *later.ran[2].RatePerSecond != 40 {
		t.Errorf("one of two pilots invalid: %v, want to go on with the rate of the other", err)
	}

	p.Pilots = 0
	x = newRun(p, &fake{answer: invalid}, nil)
	if err := x.Run(t.Context()); !errors.Is(err, ErrHopeless) || len(x.kept) != 6 {
		t.Errorf("invalid block: %v with %d trials, want to stop after 6", err, len(x.kept))
	}
	for name, c := range map[string]struct {
		code   journal.InvalidCode
		others float64 // of two CPUs, in two seconds
		status string  // of all requests
		ends   bool
	}{
		"its own fault":           {journal.InvalidNoAnswer, 0.7, "", true},
		"a busy machine":          {journal.InvalidNoAnswer, 0.9, "", false},
		"no such path":            {journal.InvalidNoAnswer, 0.9, "status_404", true},
		"too much to do":          {journal.InvalidNoAnswer, 0.9, "status_503", false},
		"too many requests":       {journal.InvalidErrors, 0.9, "status_429", false},
		"too many that waited":    {journal.InvalidErrors, 0.9, "", false},
		"a hypervisor's":          {journal.InvalidStolen, 0, "", false},
		"whatever else it may be": {journal.InvalidCrashed, 0.9, "", true},
	} {
		busy := func(n int, _ Task) (journal.Trial, error) {
			if n > 6 {
				return journal.Trial{Valid: true}, nil
			}
			var phases []journal.Phase
			if c.status != "" {
				phases = []journal.Phase{{ErrorKinds: map[string]int64{c.status: 10, "timeout": 1}}}
			}
			return journal.Trial{InvalidCode: c.code, Phases: phases, Usage: journal.Usage{
				MeasuredSeconds: 2, HostUse: &journal.HostUse{OtherCPUSeconds: &c.others, TargetCPUs: 2},
			}}, nil
		}
		x = newRun(p, &fake{answer: busy}, nil)
		if err := x.Run(t.Context()); errors.Is(err, ErrHopeless) != c.ends || c.ends != (len(x.kept) == 6) {
			t.Errorf("%s: %v with %d trials", name, err, len(x.kept))
		}
	}
	// A pilot that a busy machine made invalid is run again, as a block is, up to a bound
	// whose words say so; any other ends the run.
	p.Pilots = 2
	for name, c := range map[string]struct {
		code  journal.InvalidCode
		until int // from this trial on all are valid
		want  int // trials in all; 0: it ends
		says  string
	}{
		"busy for a while":     {journal.InvalidErrors, 5, 5 + 1 + 3*6, ""},
		"a hypervisor's":       {journal.InvalidStolen, 4, 4 + 3*6, ""},
		"busy all the time":    {journal.InvalidErrors, 1000, 0, "10 trials in a row that find the request rate were invalid while other programs used the machine's CPUs; the last one: 43 never answered"},
		"the target's own":     {journal.InvalidCrashed, 2, 0, "the trial that finds the request rate was invalid: 43 never answered"},
		"one and then its own": {journal.InvalidNeverReady, 3, 0, "the trial that finds the request rate was invalid"},
	} {
		x = newRun(p, &fake{answer: func(n int, _ Task) (journal.Trial, error) {
			if n >= c.until {
				return journal.Trial{Valid: true, ThroughputPerSecond: ptr(80.0)}, nil
			}
			return journal.Trial{InvalidCode: c.code, InvalidReason: "43 never answered", Usage: journal.Usage{
				MeasuredSeconds: 2, HostUse: &journal.HostUse{OtherCPUSeconds: ptr(1.9), TargetCPUs: 2},
			}}, nil
		}}, nil)
		switch err := x.Run(t.Context()); {
		case c.want > 0 && (err != nil || len(x.kept) != c.want):
			t.Errorf("%s: %v with %d trials, want %d", name, err, len(x.kept), c.want)
		case c.want == 0 && (!errors.Is(err, ErrHopeless) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, want one with %q", name, err, c.says)
		}
	}
	p.Pilots = 0
	half := &fake{answer: func(n int, task Task) (journal.Trial, error) { return journal.Trial{Valid: n%6 == 0}, nil }}
	if err := newRun(p, half, nil).Run(t.Context()); err != nil {
		t.Errorf("a block with a valid trial: %v", err)
	}
}

// A pilot is shorter than the trials after it: it shows their rate, not their length.
func TestRemainingTime(t *testing.T) {
	p := plan(t, settings{Procs: Procs{Values: []*int{ptr(1)}}, CPUs: 2, Blocks: 2, Pilots: 1})
	x := newRun(p, &fake{answer: func(_ int, task Task) (journal.Trial, error) {
		takes := 7.0
		if task.Role == journal.RolePilot {
			takes = 1
		}
		return journal.Trial{Valid: true, ThroughputPerSecond: ptr(20.0), DurationSeconds: takes}, nil
	}}, nil)
	x.Spec = Default()
	x.Spec.Target.URL = "http://127.0.0.1/"
	first, atRate := x.Spec.EachAt(0), x.Spec.EachAt(10)
	var left []time.Duration
	x.Report = func(p Progress) {
		if p.Trial != nil || p.Done == 0 {
			left = append(left, p.Remaining)
		}
	}
	must.OK(t, x.Run(t.Context()))
	if want := []time.Duration{5 * first, 4 * atRate, 21 * time.Second, 14 * time.Second, 7 * time.Second, 0}; first == atRate || !slices.Equal(left, want) {
		t.Errorf("remaining %v, want %v: as without a rate, at the rate that the pilot found, then 7 s as measured", left, want)
	}
	x = newRun(p, &fake{}, nil)
	x.Report = func(p Progress) {
		if p.Done == 0 && p.Remaining != 0 {
			t.Errorf("%s are promised before anything is known", p.Remaining)
		}
	}
	must.OK(t, x.Run(t.Context()))
}

// A tolerant run goes through to its end, and a group whose pilots were invalid
// has no open loop.
func TestTolerant(t *testing.T) {
	p := plan(t, settings{Procs: Procs{Values: []*int{ptr(1)}}, GoVersions: []string{"1.4", "1.26"}, CPUs: 2, Blocks: 2, Pilots: 1})
	x := newRun(p, &fake{answer: func(n int, task Task) (journal.Trial, error) {
		if task.Setting.GoVersion == "1.4" {
			if task.RatePerSecond != nil {
				t.Errorf("%+v has a rate without a pilot", task)
			}
			return journal.Trial{InvalidReason: "it cannot be had"}, nil
		}
		if task.Role != journal.RolePilot && *task.RatePerSecond != 50 {
			t.Errorf("%+v: want half of the pilot's 100", task)
		}
		return journal.Trial{Valid: true, ThroughputPerSecond: ptr(100.0)}, nil
	}}, nil)
	x.Spec.Tolerant = true
	if err := x.Run(t.Context()); err != nil || len(x.kept) != 10 {
		t.Errorf("%v with %d trials, want all 10", err, len(x.kept))
	}
}

// One trial in another unit than its group's would make any figure the best.
func TestUnitsAgree(t *testing.T) {
	p := plan(t, settings{Procs: Procs{Values: []*int{ptr(1), ptr(2)}}, Quotas: []*float64{nil, ptr(1.0)}, CPUs: 2, Blocks: 2})
	x := newRun(p, &fake{answer: func(n int, task Task) (journal.Trial, error) {
		unit := "throughput"
		if task.Setting.QuotaCPUs != nil {
			unit = "runs" // a group of its own
		} else if n == len(p.Settings)+len(p.AA)+1 || task.Block == 1 && task.Role == journal.RoleAA {
			unit = "runs"
		}
		return journal.Trial{Valid: true, ThroughputPerSecond: ptr(1.0), ThroughputUnit: unit}, nil
	}}, nil)
	must.OK(t, x.Run(t.Context()))
	wrong := 0
	for _, trial := range x.kept {
		if trial.Valid != (trial.InvalidCode == "") || trial.Valid && trial.Setting.QuotaCPUs == nil && trial.ThroughputUnit != "throughput" {
			t.Errorf("%+v", trial)
		}
		if trial.InvalidCode == journal.InvalidUnit {
			wrong++
		}
	}
	if wrong == 0 || wrong > 2 {
		t.Errorf("%d trials are invalid for their unit, want one or two", wrong)
	}
}

// A mean of other Go benchmarks than in earlier trials cannot be compared with theirs. One
// that is named after GOMAXPROCS is another at each value, but not in the two programs of
// a gate.
func TestBenchmarksAgree(t *testing.T) {
	trial := func(procs int, variant string, names ...string) journal.Trial {
		one := journal.Trial{Setting: withProcs(journal.Setting{Replicas: 1}, &procs, variant), Valid: true, ThroughputUnit: "operations", Metrics: map[string]journal.Metric{"A B/op": {Unit: "B/op"}}}
		for _, name := range names {
			one.Metrics[name+" ns/op"] = journal.Metric{Value: 1, Unit: "ns/op"}
		}
		return one
	}
	for name, c := range map[string]struct {
		earlier, now journal.Trial
		want         string
	}{
		"the same":              {trial(1, "", "A", "B"), trial(2, "", "A", "B"), ""},
		"named after the value": {trial(1, "", "A/1"), trial(2, "", "A/2"), ""},
		"one for each P":        {trial(1, "", "A/1"), trial(2, "", "A/1", "A/2"), "(with A/2)"},
		"skipped at one":        {trial(2, "", "A", "B"), trial(1, "", "A"), "(without B)"},
		"the same in a gate":    {trial(1, journal.VariantAgainst, "A"), trial(1, "", "A"), ""},
		"a gate's new one":      {trial(1, journal.VariantAgainst, "A"), trial(1, "", "A", "B"), "(with B)"},
		"a gate's renamed one":  {trial(1, journal.VariantAgainst, "A"), trial(1, "", "B"), "(without A, with B)"},
		"a gate's other value":  {trial(1, journal.VariantAgainst, "A/1"), trial(2, "", "A/2"), ""},
	} {
		agree(&c.now, []journal.Trial{c.earlier})
		if c.now.Valid != (c.want == "") || c.want != "" && (c.now.InvalidCode != journal.InvalidNoBenchmark || !strings.Contains(c.now.InvalidReason, c.want)) {
			t.Errorf("%s: %v, %s %q, want %q", name, c.now.Valid, c.now.InvalidCode, c.now.InvalidReason, c.want)
		}
	}
}
