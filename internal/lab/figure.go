package lab

import (
	"fmt"
	"go/version"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// figure is what to take of a trial: one of those below, or the name of a metric
// that the program printed: "Chain ns/op".
type figure string

const (
	throughput figure = ""     // a second; of benchmark lines operations, their geometric mean
	cost       figure = "cost" // 1 ÷ throughput

	// Latencies, of the open loop where there was one, else of the closed loop.
	p50        figure = "p50"
	p99        figure = "p99"
	p999       figure = "p999"
	closedP99  figure = "closed p99" // of the closed loop, as wrk's
	closedMean figure = "closed mean"
	closedMax  figure = "closed max"

	// What the kernel counted, over all replicas.
	cpus     figure = "cpus"         // CPU seconds a second
	cpuEach  figure = "cpu each"     // CPU seconds a request of the closed loop
	cpuOfRun figure = "cpu of a run" // CPU seconds of a batch program's run
	switches figure = "switches"     // context switches per second
	wait     figure = "wait"         // seconds waited for a CPU a second, throttling included

	// openCPUEach is the CPU seconds of a request of the open loop, if the setting kept up with its
	// rate.
	openCPUEach figure = "open cpu each"
	// overNeighbour is the CPU time of the target ÷ that of the program next to it.
	overNeighbour figure = "cpu over neighbour"
)

// value is nil where the trial does not have it.
func (f figure) value(t *journal.Trial) *float64 {
	if of, known := ofTrial[f]; known {
		return of(t)
	}
	if m, ok := t.Metrics[string(f)]; ok {
		return &m.Value
	}
	return nil
}

var ofTrial = map[figure]func(*journal.Trial) *float64{
	throughput: func(t *journal.Trial) *float64 { return t.ThroughputPerSecond },
	cost:       func(t *journal.Trial) *float64 { return quotient(new(1.0), t.ThroughputPerSecond) },
	p50:        func(t *journal.Trial) *float64 { return latency(t).P50 },
	p99:        func(t *journal.Trial) *float64 { return latency(t).P99 },
	p999:       func(t *journal.Trial) *float64 { return latency(t).P999 },
	closedP99:  func(t *journal.Trial) *float64 { return closed(t).P99 },
	closedMean: func(t *journal.Trial) *float64 { return closed(t).Mean },
	closedMax:  func(t *journal.Trial) *float64 { return closed(t).Max },
	cpus:       func(t *journal.Trial) *float64 { return quotient(cpuSeconds(t), &t.MeasuredSeconds) },
	cpuEach: func(t *journal.Trial) *float64 {
		return quotient(quotient(cpuSeconds(t), t.ThroughputPerSecond), &t.MeasuredSeconds)
	},
	cpuOfRun: cpuSeconds,
	switches: func(t *journal.Trial) *float64 {
		if t.ContextSwitches == nil {
			return nil
		}
		return quotient(new(float64(t.ContextSwitches.Voluntary+t.ContextSwitches.Involuntary)), &t.MeasuredSeconds)
	},
	wait: func(t *journal.Trial) *float64 { return quotient(t.RunQueueWaitSeconds, &t.MeasuredSeconds) },
	openCPUEach: func(t *journal.Trial) *float64 {
		if t.Saturated {
			return nil
		}
		return verdict.CPUPerRequest(t, journal.ModeOpen)
	},
	overNeighbour: func(t *journal.Trial) *float64 { return quotient(cpuSeconds(t), t.BesideCPUSeconds) },
}

func quotient(a, b *float64) *float64 {
	if a == nil || b == nil || *b <= 0 {
		return nil
	}
	return new(*a / *b)
}

func cpuSeconds(t *journal.Trial) *float64 {
	if t.CPUSeconds == nil {
		return nil
	}
	return new(t.CPUSeconds.Total())
}

func latency(t *journal.Trial) *journal.Latency {
	if t.LatencySeconds != nil {
		return t.LatencySeconds
	}
	return closed(t)
}

// closed has nothing where there was no closed loop.
func closed(t *journal.Trial) *journal.Latency {
	for i := range t.Phases {
		if l := t.Phases[i].LatencySeconds; l != nil && t.Phases[i].Mode == journal.ModeClosed {
			return l
		}
	}
	return &journal.Latency{}
}

// quantity is one figure of one setting of a stage. The zero value is the throughput of
// the unset setting, without a quota, of the only stage.
type quantity struct {
	Stage  string
	Figure figure
	Procs  ps
	Quota  float64 // 0: none; ownQuota
	// Go is the version as it was asked for: "1.4"; "1.4.3" is one of it. Empty is
	// today's: procfit's own where no versions were asked for, else the newest that
	// has a valid trial, unless that is older than procfit's own.
	Go string
}

// ownQuota is the only quota of the stage.
const ownQuota = -1

// At is the figure at a number of Ps, of the only stage, without a quota.
func (f figure) At(p ps) quantity { return quantity{Figure: f, Procs: p} }

func (q quantity) in(stage string) quantity {
	q.Stage = stage
	return q
}

// under is the figure under a quota of that many CPUs.
func (q quantity) under(quota float64) quantity {
	q.Quota = quota
	return q
}

func (q quantity) built(release string) quantity {
	q.Go = release
	return q
}

// over measures the figure against itself at another number of Ps.
func (q quantity) over(p ps) measure {
	other := q
	other.Procs = p
	return ratio(q, other)
}

// trials are those of the setting, or why there are none.
func (q quantity) trials(r Results) ([]*journal.Trial, string) {
	m, ok := r[q.Stage]
	switch {
	case !ok:
		return nil, "its sweep “" + q.Stage + "” is not among those that were run"
	case m.Result == nil:
		return nil, m.Why
	}
	key, known := q.key(m)
	list := contest.OfSetting(m.Trials, key)
	if !known || len(list) == 0 {
		return nil, q.setting(m) + " was not run"
	}
	return list, ""
}

// key is the setting's identity among a stage's, which all have as many replicas; false
// where none of them has that Go.
func (q quantity) key(m Measured) (key journal.SettingKey, known bool) {
	a := journal.Setting{GoVersion: q.version(m)}
	if q.Quota == ownQuota && len(m.Trials) > 0 {
		a.QuotaCPUs = m.Trials[0].Setting.QuotaCPUs
	} else if q.Quota != 0 {
		a.QuotaCPUs = &q.Quota
	}
	if procs := q.procs(m); procs != 0 {
		a.Procs = &procs
	}
	if len(m.Trials) > 0 {
		a.Replicas = m.Trials[0].Setting.Replicas
	}
	return a.Key(), a.GoVersion != "" || q.Go == ""
}

// numbered are the values of GOMAXPROCS that ran next to the setting.
func (q quantity) numbered(m Measured) (list []int) {
	key, _ := q.key(m)
	for i := range m.Trials {
		a := m.Trials[i].Setting
		if a.Group() == key.Group && a.Procs != nil && !slices.Contains(list, *a.Procs) {
			list = append(list, *a.Procs)
		}
	}
	return list
}

// version is Go as the stage's settings name it; empty: none of them fits.
func (q quantity) version(m Measured) string {
	var all, valid []string
	for i := range m.Trials {
		v := m.Trials[i].Setting.GoVersion
		all = append(all, v)
		if m.Trials[i].Valid {
			valid = append(valid, v)
		}
	}
	if q.Go == "" && len(valid) > 0 {
		all = valid
	}
	if q.Go != "" {
		all = slices.DeleteFunc(all, func(v string) bool { return v != q.Go && !strings.HasPrefix(v, q.Go+".") })
	}
	if len(all) == 0 || q.Go == "" && slices.Contains(all, "") {
		return ""
	}
	newest := slices.MaxFunc(all, func(a, b string) int { return version.Compare("go"+a, "go"+b) })
	if q.Go == "" && version.Compare("go"+newest, version.Lang(m.Result.Tool.GoVersion)) < 0 {
		return ""
	}
	return newest
}

func (q quantity) procs(m Measured) int {
	cpus := m.cpus()
	if q.Quota > 0 {
		cpus = math.Min(cpus, q.Quota)
	}
	return q.Procs.of(cpus)
}

// setting is its name in words.
func (q quantity) setting(m Measured) string {
	name := "default GOMAXPROCS"
	if p := q.procs(m); p > 0 {
		name = "GOMAXPROCS=" + strconv.Itoa(p)
	}
	if q.Quota > 0 {
		name += fmt.Sprintf(" under a quota of %g", q.Quota)
	}
	if q.Go != "" {
		name += " with Go " + q.Go
	} else if q.version(m) == "" && !slices.ContainsFunc(m.Trials, func(t journal.Trial) bool { return t.Setting.GoVersion == "" }) {
		name += " with today's Go"
	}
	if q.Stage != "" {
		name += " in " + q.Stage
	}
	return name
}

// printed are the numbers that the programs of all trials print, also of those that other
// programs or a slow machine disturbed: that changes no count and no decision.
func (q quantity) printed(r Results) ([]float64, string) {
	trials, why := q.trials(r)
	if why != "" {
		return nil, why
	}
	var list []float64
	for _, t := range trials {
		ran := t.Valid || t.InvalidCode == journal.InvalidCrowded || t.InvalidCode == journal.InvalidSlow
		if x := q.Figure.value(t); ran && x != nil {
			list = append(list, *x)
		}
	}
	if len(list) == 0 {
		_, why = q.byBlock(r)
	}
	return list, why
}

// byBlock are the figure's values of the valid trials, by block; or why there are
// none.
func (q quantity) byBlock(r Results) (map[int][]float64, string) {
	trials, why := q.trials(r)
	if why != "" {
		return nil, why
	}
	if values := contest.ByBlock(trials, q.Figure.value); len(values) > 0 {
		return values, ""
	}
	setting := q.setting(r[q.Stage])
	if invalid := contest.Where(trials, func(t *journal.Trial) bool { return !t.Valid }); len(invalid) > 0 {
		return nil, setting + " has no valid trial: " + phrase.FirstLine(invalid[len(invalid)-1].InvalidReason)
	}
	if q.Figure == openCPUEach {
		return nil, setting + " did not keep up with the rate of the latency phase, or its CPU time was not counted"
	}
	return nil, fmt.Sprintf("%s has no metric %q", setting, q.Figure)
}
