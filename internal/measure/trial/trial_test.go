package trial

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/trial/foreign"
	"github.com/procfit/procfit/internal/program/gobench"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// failure is what the error makes of a trial.
func failure(t *testing.T, err error) (journal.InvalidCode, string) {
	t.Helper()
	if err == nil {
		return "", ""
	}
	f, ok := errors.AsType[*Failure](err)
	if !ok || f.Code == "" {
		t.Fatalf("no Failure: %v", err)
	}
	return f.Code, f.Reason
}

// Whatever a trial came to while procfit itself was stopped is its own doing.
func TestStopped(t *testing.T) {
	silent := Invalid(journal.InvalidNoAnswer, "the target stopped answering")
	for _, err := range []error{nil, silent} {
		if code, reason := failure(t, Halted(err, 6*time.Second)); code != journal.InvalidStopped || !strings.Contains(reason, "procfit itself was stopped for 6 s") {
			t.Errorf("after %v: %s %q", err, code, reason)
		}
		if got := Halted(err, 0); got != err {
			t.Errorf("not stopped: %v became %v", err, got)
		}
	}
	if broken := errors.New("no memory"); Halted(broken, time.Second) != broken {
		t.Error("there is no trial, stopped or not")
	}
}

func readings(procs ...int) []Reading {
	var r []Reading
	for _, n := range procs {
		switch n {
		case 0:
			r = append(r, Reading{Err: os.ErrPermission})
		case -1:
			r = append(r, Reading{NoGo: true, Err: errors.New("none")})
		default:
			r = append(r, Reading{Procs: n, Source: "symbol"})
		}
	}
	return r
}

// What cannot be read is neither a match nor a fault.
func TestProcs(t *testing.T) {
	two := 2
	for name, tc := range map[string]struct {
		procs         *int
		before, after []Reading
		code          journal.InvalidCode
		reason        string
		warning       journal.WarningCode
	}{
		"as intended":          {&two, readings(2, 2), readings(2, 2), "", "", ""},
		"another":              {&two, readings(2, 4), readings(2, 4), journal.InvalidProcs, "ran with GOMAXPROCS=4 instead of 2", ""},
		"another of a child":   {&two, []Reading{{Procs: 1, Child: "process 7 (app)"}}, nil, journal.InvalidProcs, "the target's child process 7 (app) ran with GOMAXPROCS=1 instead of 2", ""},
		"changed":              {&two, readings(2), readings(3), journal.InvalidProcsChanged, "changed its GOMAXPROCS from 2 to 3", ""},
		"unreadable":           {&two, readings(0), readings(0), "", "", journal.WarnProcsUnproven},
		"one of two":           {&two, readings(2, 0), readings(2, 0), "", "", journal.WarnProcsUnproven},
		"no Go program":        {&two, readings(-1), nil, "", "", journal.WarnNoGo},
		"unset":                {nil, readings(7), readings(7), "", "", ""},
		"unset, then updated":  {nil, readings(2), readings(4), "", "", journal.WarnProcsChanged},
		"gone before the stop": {&two, readings(2), readings(0), "", "", ""},
		"read once":            {&two, readings(2), nil, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tr := journal.Trial{Setting: journal.Setting{Procs: tc.procs}}
			code, reason := failure(t, JudgeProcs(&tr, tc.before, tc.after))
			if code != tc.code || !strings.Contains(reason, tc.reason) {
				t.Errorf("%s %q, want %s with %q", code, reason, tc.code, tc.reason)
			}
			if len(tr.ObservedProcs) != len(tc.before) {
				t.Errorf("observed %v of %d replicas", tr.ObservedProcs, len(tc.before))
			}
			if (len(tr.Warnings) > 0) != (tc.warning != "") || tc.warning != "" && tr.Warnings[0].Code != tc.warning {
				t.Errorf("warnings %+v, want %q", tr.Warnings, tc.warning)
			}
			for i, p := range tr.ObservedProcs {
				if tc.before[i].Err != nil && p != nil {
					t.Errorf("replica %d could not be read, but is %d", i, *p)
				}
			}
		})
	}
}

func result(mode string) *load.Result {
	h := hdrhistogram.New(1, int64(time.Minute), 3)
	h.RecordValue(int64(time.Millisecond))
	r := &load.Result{Mode: mode, Duration: time.Second, AchievedPerSecond: 100, Requests: 100, Latency: h,
		PerURL: []load.URLCount{{Connections: 4, Answered: 50}, {Connections: 4, Answered: 50}}}
	if mode == load.ModeOpen {
		r.Rate, r.SendLag = 100, h
	}
	return r
}

func TestLoops(t *testing.T) {
	var tr journal.Trial
	usage := &journal.Usage{MeasuredSeconds: 1.1, CPUSeconds: &journal.CPUSeconds{User: 1}}
	must.OK(t, addClosed(&tr, result(load.ModeClosed), usage))
	half := &journal.Usage{MeasuredSeconds: 1.1, CPUSeconds: &journal.CPUSeconds{User: 0.5}}
	must.OK(t, addOpen(&tr, result(load.ModeOpen), half, 300*time.Millisecond))
	if *tr.ThroughputPerSecond != 100 || tr.ThroughputUnit != "requests" || tr.CPUSeconds.User != 1 || tr.Saturated || tr.LatencySeconds == nil {
		t.Errorf("%+v", tr)
	}
	if len(tr.Phases) != 2 || tr.Phases[0].Usage.CPUSeconds.User != 1 || tr.Phases[1].Usage.CPUSeconds.User != 0.5 || tr.Load.SendLagP99Seconds == nil {
		t.Errorf("phases %+v", tr.Phases)
	}
	slow := result(load.ModeOpen)
	slow.AchievedPerSecond = 98
	if err := addOpen(&tr, slow, nil, 0); err != nil || !tr.Saturated {
		t.Errorf("98%% carried: saturated %v, %v", tr.Saturated, err)
	}
}

// A replica that locks up makes the trial invalid, whatever it served before, unless a hypervisor took the CPUs. Where
// other programs did, that is reported next to it. A slow one has, as the run ends, what it was sent after the
// end of the phase.
func TestHungReplica(t *testing.T) {
	const hung = "replica 2 of 2 stopped answering: after 20 answers, all of its 4 connections were still waiting at the end of the "
	used := func(h journal.HostUse) *journal.Usage {
		h.TargetCPUs = 2
		return &journal.Usage{MeasuredSeconds: 2, HostUse: &h}
	}
	for name, tc := range map[string]struct {
		mode    string
		hanging int64
		usage   *journal.Usage
		code    journal.InvalidCode
		want    string
	}{
		"a closed loop":      {load.ModeClosed, 4, nil, journal.InvalidNoAnswer, hung + "throughput phase; a longer --trial-time shows"},
		"an open loop":       {load.ModeOpen, 4, nil, journal.InvalidNoAnswer, hung + "latency phase at 100 req/s; a lower --rate"},
		"slow":               {load.ModeOpen, 3, nil, "", ""},
		"nothing stolen":     {load.ModeClosed, 4, used(journal.HostUse{}), journal.InvalidNoAnswer, hung},
		"a little stolen":    {load.ModeClosed, 4, used(journal.HostUse{StealSeconds: 0.19 * 4}), journal.InvalidNoAnswer, hung},
		"most stolen":        {load.ModeClosed, 4, used(journal.HostUse{StealSeconds: 0.6 * 4}), journal.InvalidStolen, "took 60% of the CPU time of the throughput phase"},
		"a little by others": {load.ModeClosed, 4, used(journal.HostUse{OtherCPUSeconds: new(0.7)}), journal.InvalidNoAnswer, hung + "throughput phase; a longer --trial-time shows"},
		"most by others":     {load.ModeClosed, 4, used(journal.HostUse{OtherCPUSeconds: new(2.8)}), journal.InvalidNoAnswer, hung + "throughput phase, while other programs used 70% of the CPU time; a quieter machine, or a longer --trial-time, shows"},
	} {
		l := result(tc.mode)
		l.PerURL[1] = load.URLCount{Connections: 4, Answered: 20, Unanswered: 4, Hanging: tc.hanging}
		l.Unanswered = 4
		add := addClosed
		if tc.mode == load.ModeOpen {
			add = func(t *journal.Trial, l *load.Result, u *journal.Usage) error { return addOpen(t, l, u, 0) }
		}
		var tr journal.Trial
		if code, reason := failure(t, add(&tr, l, tc.usage)); code != tc.code || !strings.Contains(reason, tc.want) {
			t.Errorf("%s: %s %q, want %s %q", name, code, reason, tc.code, tc.want)
		}
		if len(tr.Warnings) != 1 || tr.Warnings[0].Code != journal.WarnUnanswered || tr.Warnings[0].Count != 4 {
			t.Errorf("%s: warnings %+v", name, tr.Warnings)
		}
	}
}

// A trial whose CPUs a hypervisor took tells nothing of its program; one that lost less
// is as noisy as it is, and one too short for the ticks is not judged by them.
func TestStolen(t *testing.T) {
	usage := func(share, seconds float64) *journal.Usage {
		return &journal.Usage{MeasuredSeconds: seconds, HostUse: &journal.HostUse{StealSeconds: share * 2 * seconds, TargetCPUs: 2}}
	}
	ofTarget := func(machine, own float64) *journal.Usage {
		u := usage(machine, 2)
		u.HostUse.TargetStealSeconds = new(own * 2 * 2)
		return u
	}
	for name, tc := range map[string]struct {
		trial journal.Trial
		want  string
	}{
		"none":            {journal.Trial{Usage: *usage(0, 2)}, ""},
		"a part":          {journal.Trial{Usage: *usage(0.45, 2)}, ""},
		"most":            {journal.Trial{Usage: *usage(0.85, 2)}, "the hypervisor took 85% of the CPU time of the trial"},
		"more than there": {journal.Trial{Usage: *usage(1.2, 2)}, "took 100%"},
		"too short":       {journal.Trial{Usage: *usage(0.85, 0.4)}, ""},
		"not known":       {journal.Trial{}, ""},
		"of other CPUs":   {journal.Trial{Usage: *ofTarget(0.9, 0.1)}, ""},
		"of its own CPUs": {journal.Trial{Usage: *ofTarget(0.1, 0.9)}, "the hypervisor took 90% of the CPU time of the trial"},
		"in one loop": {journal.Trial{Usage: *usage(0.1, 2), Phases: []journal.Phase{
			{Mode: journal.ModeClosed, Usage: usage(0.1, 2)}, {Mode: journal.ModeOpen, Usage: usage(0.6, 2)},
		}}, "took 60% of the CPU time of the latency phase"},
	} {
		err := judgeStolen(&tc.trial)
		if tc.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if code, reason := failure(t, err); code != journal.InvalidStolen || !strings.Contains(reason, tc.want) {
			t.Errorf("%s: %s %q, want %q", name, code, reason, tc.want)
		}
	}
}

func TestRedirects(t *testing.T) {
	l := result(load.ModeClosed)
	l.Redirects = 100
	var tr journal.Trial
	if err := addClosed(&tr, l, nil); err != nil || len(tr.Warnings) != 1 || tr.Warnings[0].Code != journal.WarnRedirects {
		t.Errorf("%v, %+v: want a warning of redirects", err, tr.Warnings)
	}
}

func TestAnswers(t *testing.T) {
	kinds := map[string]int64{"status_503": 100, "reset": 3}
	for name, tc := range map[string]struct {
		phases []journal.Phase
		code   journal.InvalidCode
		want   string
	}{
		"good":     {[]journal.Phase{{Requests: 1000}}, "", ""},
		"a few":    {[]journal.Phase{{Requests: 1000, Errors: 5}, {Requests: 1000}}, "", ""},
		"too many": {[]journal.Phase{{Requests: 1000, Errors: 103, ErrorKinds: kinds}}, journal.InvalidErrors, "10.3% of the requests failed (100 × status 503)"},
		// 35% of a slow phase next to 75,000 good answers of a fast one.
		"in one phase":      {[]journal.Phase{{Mode: journal.ModeClosed, Requests: 75_000}, {Mode: journal.ModeOpen, Requests: 40, Errors: 14, ErrorKinds: kinds}}, journal.InvalidErrors, "35% of the requests failed in the latency phase (100 × status 503)"},
		"far too slow":      {[]journal.Phase{{Mode: journal.ModeClosed, Requests: 34}, {Mode: journal.ModeOpen, Unanswered: 8}}, journal.InvalidNoAnswer, "no request was answered in the latency phase: the target carries far fewer than the offered requests; try a lower --rate"},
		"none in one phase": {[]journal.Phase{{Mode: journal.ModeClosed, Requests: 75_000}, {Mode: journal.ModeOpen, Unanswered: 4, Hanging: 4}}, journal.InvalidNoAnswer, "no request was answered in the latency phase: 4 never answered"},
		"of one replica":    {[]journal.Phase{{Requests: 10_000, Errors: 60, ByReplica: []journal.ReplicaFigures{{Requests: 9900}, {Requests: 100, Errors: 60}}}}, journal.InvalidErrors, "60% of the requests to replica 2 of 2 failed (the reason is unknown)"},
		"a replica hangs":   {[]journal.Phase{{Requests: 1e6, Unanswered: 15, Hanging: 15, ByReplica: []journal.ReplicaFigures{{Requests: 5e5}, {Requests: 5e5, Unanswered: 15, Hanging: 15}}}}, journal.InvalidErrors, "15 of 1000 connections to replica 2 of 2 got no answers any more"},
		"of one request":    {[]journal.Phase{{Requests: 10_000, Errors: 60, ByRequest: []journal.RequestFigures{{Name: "GET /", Requests: 9900}, {Name: "GET /slow", Requests: 100, Errors: 50, Unanswered: 10, Hanging: 10}}}}, journal.InvalidErrors, "54.5% of the requests GET /slow failed"},
		"one of a few":      {[]journal.Phase{{Requests: 10_000, Errors: 1, ByRequest: []journal.RequestFigures{{Name: "GET /", Requests: 9990}, {Name: "GET /rare", Requests: 10, Errors: 1}}}}, "", ""},
		"all":               {[]journal.Phase{{Errors: 7}}, journal.InvalidNoAnswer, "no request was answered"},
		"more errors":       {[]journal.Phase{{Requests: 1, Errors: 99}}, journal.InvalidErrors, "100% of the requests failed"},
		"silence":           {[]journal.Phase{{}}, journal.InvalidNoAnswer, "the reason is unknown"},
		"never answered":    {[]journal.Phase{{Requests: 900, Unanswered: 100, Hanging: 100}}, journal.InvalidErrors, "10% of the requests failed (100 never answered)"},
		"only slow":         {[]journal.Phase{{Mode: journal.ModeOpen, Requests: 900, Unanswered: 100, ByReplica: []journal.ReplicaFigures{{Requests: 450, Unanswered: 50}, {Requests: 450, Unanswered: 50}}, ByRequest: []journal.RequestFigures{{Name: "GET /", Requests: 900, Unanswered: 100}}}}, "", ""},
		"some unanswered":   {[]journal.Phase{{Requests: 9990, Unanswered: 10, Hanging: 10}}, "", ""},
		"connections hang":  {[]journal.Phase{{Requests: 1e6, Unanswered: 30, Hanging: 30}}, journal.InvalidErrors, "30 of 2000 connections got no answers any more"},
		"both":              {[]journal.Phase{{Requests: 900, Errors: 103, Unanswered: 100, Hanging: 100, ErrorKinds: kinds}}, journal.InvalidErrors, "(100 × status 503, 100 never answered)"},
		"connections fail": {[]journal.Phase{{Mode: journal.ModeOpen, Requests: 1000, Errors: 100, FailedConnections: 100, ErrorKinds: map[string]int64{"refused": 100},
			ByReplica: []journal.ReplicaFigures{{Requests: 500}, {Requests: 500, Errors: 100}}}}, "", ""},
		"a replica's connections fail": {[]journal.Phase{{Mode: journal.ModeOpen, Requests: 1000, Errors: 100, FailedConnections: 100,
			ByReplica: []journal.ReplicaFigures{{Requests: 1000}, {Errors: 100}}}}, journal.InvalidErrors, "100% of the requests to replica 2 of 2 failed"},
		"the closed loop's connections": {[]journal.Phase{{Mode: journal.ModeClosed, Requests: 1000, Errors: 100, FailedConnections: 100}}, journal.InvalidErrors, "10% of the requests failed"},
		"nothing answered":              {[]journal.Phase{{Unanswered: 64, Hanging: 64}}, journal.InvalidNoAnswer, "64 never answered"},
	} {
		code, reason := failure(t, JudgeAnswers(&journal.Trial{Phases: tc.phases}, 0.01, 2000))
		if code != tc.code || !strings.Contains(reason, tc.want) {
			t.Errorf("%s: %s %q, want %s with %q", name, code, reason, tc.code, tc.want)
		}
	}
}

// A server that is down for a while still shows: requests are never sent for want of a connection.
// A server that is slow drops requests too, which makes no trial invalid.
func TestAnswersOfAServerThatIsDown(t *testing.T) {
	for name, tc := range map[string]struct {
		connections, dropped int64
		code                 journal.InvalidCode
		want                 string
	}{
		"down":                  {40, 700, journal.InvalidErrors, "13.3% of the requests failed in the latency phase (40 × connection refused)"},
		"down, for one request": {40, 1, "", ""},
		"slow":                  {0, 700, "", ""},
	} {
		p := journal.Phase{Mode: journal.ModeOpen, Requests: 300, Errors: tc.connections, FailedConnections: tc.connections, ErrorKinds: map[string]int64{"refused": tc.connections}}
		tr := journal.Trial{Phases: []journal.Phase{{Mode: journal.ModeClosed, Requests: 1000}, p}, Load: &journal.LoadCost{Dropped: tc.dropped}}
		code, reason := failure(t, JudgeAnswers(&tr, 0.01, 2000))
		if code != tc.code || !strings.Contains(reason, tc.want) {
			t.Errorf("%s: %s %q, want %s with %q", name, code, reason, tc.code, tc.want)
		}
	}
}

// Each warning of what was the limit comes when it should and not else.
func TestLimits(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	quiet := func() *journal.Trial {
		return &journal.Trial{Usage: journal.Usage{MeasuredSeconds: 1, HostUse: &journal.HostUse{BusyRatio: 0.5}}, LatencySeconds: &journal.Latency{P99: p(0.01)},
			Load: &journal.LoadCost{CPUSeconds: 0.5, ThreadBusiestRatio: p(0.5), SendLagP99Seconds: p(0.0001)}}
	}
	limits := func(tr *journal.Trial, here bool) []journal.Warning {
		warnOfLimits(tr, here)
		return tr.Warnings
	}
	if w := limits(quiet(), true); len(w) != 0 {
		t.Errorf("nothing was the limit: %+v", w)
	}
	for want, change := range map[journal.WarningCode]func(*journal.Trial){
		journal.WarnLoadLimited: func(t *journal.Trial) { t.Load.ThreadBusiestRatio = p(0.95) },
		journal.WarnLoadTook:    func(t *journal.Trial) { t.HostUse.BusyRatio = 0.99 },
		journal.WarnSaturated:   func(t *journal.Trial) { t.Saturated = true },
		journal.WarnSentLate:    func(t *journal.Trial) { t.Load.SendLagP99Seconds = p(0.005) },
	} {
		tr := quiet()
		change(tr)
		if w := limits(tr, true); len(w) != 1 || w[0].Code != want {
			t.Errorf("%+v, want one %s", w, want)
		}
	}
	tr := quiet()
	tr.HostUse.BusyRatio = 0.99
	if w := limits(tr, false); len(w) != 0 {
		t.Errorf("a load from elsewhere takes no CPU here: %+v", w)
	}
}

func TestJudgedMetric(t *testing.T) {
	metrics := []load.Metric{{Name: "took"}, {Name: "throughput"}}
	took := load.Value{Value: 4, Better: load.BetterLower}
	for name, tc := range map[string]struct {
		found map[string]load.Value
		want  float64
		unit  string
		code  journal.InvalidCode
	}{
		"the first, reciprocal": {map[string]load.Value{"took": took}, 0.25, "1/took", ""},
		"throughput wins":       {map[string]load.Value{"took": took, "throughput": {Value: 9, Better: load.BetterHigher}}, 9, "throughput", ""},
		"zero has no ratio":     {map[string]load.Value{"took": {Better: load.BetterLower}}, 0, "", journal.InvalidMetric},
		"nor has less":          {map[string]load.Value{"took": {Value: -1, Better: load.BetterHigher}}, 0, "", journal.InvalidMetric},
	} {
		var tr journal.Trial
		code, _ := failure(t, judgeMetric(&tr, metrics, tc.found))
		if code != tc.code {
			t.Errorf("%s: %q, want %q", name, code, tc.code)
		} else if code == "" && (*tr.ThroughputPerSecond != tc.want || tr.ThroughputUnit != tc.unit) {
			t.Errorf("%s: %g %s, want %g %s", name, *tr.ThroughputPerSecond, tr.ThroughputUnit, tc.want, tc.unit)
		}
	}
}

func TestMean(t *testing.T) {
	got := mean([]map[string]load.Value{{"x": {Value: 1, Better: "lower"}}, {"x": {Value: 2, Better: "lower"}}, {"x": {Value: 6, Better: "lower"}}})
	if v := got["x"]; v.Value != 3 || v.Better != "lower" {
		t.Errorf("%+v, want 3", got)
	}
}

func TestBenchmarks(t *testing.T) {
	parse := func(text string) []gobench.Result {
		results, _, err := gobench.ParseOutput([]byte(text), 2)
		must.OK(t, err)
		return results
	}
	var tr journal.Trial
	must.OK(t, addBenchmarks(&tr, parse("goos: linux\nBenchmarkA-2 \t 10\t 100 ns/op\t 8 B/op\nBenchmarkB/x-2 \t 10\t 400 ns/op\t 5 MB/s\nPASS\n"), nil, true))
	if got := *tr.ThroughputPerSecond; math.Abs(got-5e6) > 1 || tr.ThroughputUnit != "operations" {
		t.Errorf("throughput %g %s, want the geometric mean of 1e7 and 2.5e6", got, tr.ThroughputUnit)
	}
	for name, want := range map[string]journal.Metric{
		"A ns/op":   {Value: 100, Unit: "ns/op", Better: "lower"},
		"A B/op":    {Value: 8, Unit: "B/op", Better: "lower"},
		"B/x MB/s":  {Value: 5, Unit: "MB/s", Better: "higher"},
		"B/x ns/op": {Value: 400, Unit: "ns/op", Better: "lower"},
	} {
		if tr.Metrics[name] != want {
			t.Errorf("%s is %+v, want %+v; all: %v", name, tr.Metrics[name], want, tr.Metrics)
		}
	}
	// Of several runs a metric is the mean, as the throughput is.
	var twice journal.Trial
	must.OK(t, addBenchmarks(&twice, append(parse("BenchmarkA-2 \t 10\t 100 ns/op\n"), parse("BenchmarkA-2 \t 10\t 400 ns/op\n")...), nil, true))
	if got := twice.Metrics["A ns/op"].Value; got != 250 || math.Abs(*twice.ThroughputPerSecond-5e6) > 1 {
		t.Errorf("two runs: %g ns/op and %g operations/s, want 250 and 5e6", got, *twice.ThroughputPerSecond)
	}
	if code, reason := failure(t, addBenchmarks(&journal.Trial{}, nil, []string{"Logs", "Prints"}, true)); code != journal.InvalidNoBenchmark || !strings.Contains(reason, "no result can be found of Logs and Prints") {
		t.Errorf("%s %q", code, reason)
	}
	var some journal.Trial
	if err := addBenchmarks(&some, parse("BenchmarkA-2 \t 10\t 100 ns/op\n"), []string{"Logs", "Logs"}, true); err != nil || len(some.Warnings) != 1 || some.Warnings[0].Count != 1 || some.Warnings[0].Detail != "Logs" {
		t.Errorf("%v, warnings %+v", err, some.Warnings)
	}
	if code, reason := failure(t, addBenchmarks(&tr, nil, nil, true)); code != journal.InvalidNoBenchmark || !strings.Contains(reason, "check that -bench matches") {
		t.Errorf("no benchmark: %s %q", code, reason)
	}
	// Lines of a program that measures no time are metrics next to its runs a second.
	runs := journal.Trial{}
	addRuns(&runs, 14, 2*time.Second)
	must.OK(t, addBenchmarks(&runs, parse("BenchmarkDefaults 1 2 gomaxprocs 8 numcpu\n"), nil, false))
	if *runs.ThroughputPerSecond != 7 || runs.ThroughputUnit != "runs" || runs.Metrics["Defaults numcpu"].Value != 8 {
		t.Errorf("%+v", runs)
	}
	if code, _ := failure(t, addBenchmarks(&runs, nil, nil, false)); code != journal.InvalidNoBenchmark {
		t.Error("no benchmark at all is no fault")
	}
	// Which benchmarks an output that was cut lacks is not known.
	line := []byte("BenchmarkA-2 \t 10\t 100 ns/op\n")
	_, _, err := (&Task{Trial: &journal.Trial{}}).benchmarks(load.Output{Head: line, Cut: true, Tail: line})
	if code, reason := failure(t, err); code != journal.InvalidNoBenchmark || !strings.Contains(reason, "print less") {
		t.Errorf("an output that was cut: %q %q", code, reason)
	}
}

func TestExternal(t *testing.T) {
	figures := func() *foreign.Report {
		return &foreign.Report{Figures: foreign.Figures{"throughput": 50, "p99": 0.02}}
	}
	var tr journal.Trial
	must.OK(t, External(&tr, figures(), 2*time.Second, nil, nil))
	if p := tr.Phases[0]; p.Mode != journal.ModeClosed || p.Requests != 100 || tr.LatencySeconds != nil {
		t.Errorf("a generator without a rate: %+v, judged latency %v", p, tr.LatencySeconds)
	}
	rate := 100.0
	tr = journal.Trial{}
	if err := External(&tr, figures(), 2*time.Second, &rate, nil); err != nil || !tr.Saturated || tr.LatencySeconds == nil {
		t.Errorf("half of the rate: %v, %+v", err, tr)
	}
	if code, _ := failure(t, External(&tr, &foreign.Report{}, time.Second, nil, nil)); code != journal.InvalidLoadOutput {
		t.Errorf("no throughput: %q", code)
	}
}
