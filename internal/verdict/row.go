package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// results are the settings, and a group's rows: one for each value, and one for each setting
// that has none, the unset setting and the old command's in their places.
func (g *group) results() (settings, rows []Row) {
	at := map[*contest.Value]int{} // in rows
	var without []Row              // settings of no value
	for _, a := range g.Settings {
		v, setting := g.ValueOf(a), g.summarize(a, g.Measured(a), g.Copies(a))
		setting.TooFewCPUs = g.HadTooFewCPUs(a)
		if setting.Excluded = g.Excluded(a); v != nil {
			g.compared(v, a, &setting)
		}
		settings = append(settings, setting)
		if _, done := at[v]; v == nil {
			without = append(without, setting)
		} else if !done {
			at[v] = len(rows)
			rows = append(rows, g.row(v, setting))
		}
	}
	for _, setting := range without {
		if v := g.sameNumber(&setting); v != nil {
			rows[at[v]].takeInvalid(&setting)
		} else {
			rows = append(rows, setting)
		}
	}
	g.inOrder(rows)
	if g.Group.Compares == "" {
		speedups(settings)
		speedups(rows)
	}
	return settings, rows
}

// inOrder sorts rows by numbers, the default before its own, then the old command's; of a variable
// by the plan's order of its values.
func (g *group) inOrder(rows []Row) {
	axis := g.header.Plan.Axis(g.Group.Compares)
	sorting.Stable(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Variant, b.Variant), cmp.Compare(axis.Rank(a.Variable), axis.Rank(b.Variable)), cmp.Compare(a.procs(), b.procs()))
	})
}

// procs is the number of Ps; 0: it is not known.
func (a *Row) procs() int { return stat.OrZero(cmp.Or(a.Procs, a.ResolvedProcs)) }

// withSliced adds rows of the values that only slices of one start measured. Their throughput is an
// estimate, which no judgement takes: the default's, times what the slices show over it.
func (g *group) withSliced(rows []Row) []Row {
	row := func(n int) int { return slices.IndexFunc(rows, func(a Row) bool { return a.procs() == n }) }
	at := row(g.Default)
	if at < 0 || rows[at].TooFewCPUs || g.Sliced == nil || g.Sliced.Kept == nil { // slices that chose nothing estimate nothing
		return rows
	}
	own, list := rows[at], slices.Clone(rows)
	for i := range g.Sliced.Values {
		v := &g.Sliced.Values[i]
		if row(v.Procs) >= 0 || own.Throughput.Median == nil || v.Throughput.Median == nil {
			continue
		}
		times := func(x *float64) *float64 { return stat.Scaled(x, *v.Throughput.Median) }
		list = append(list, Row{
			Label: journal.LabelOf(&v.Procs), Procs: &v.Procs, Sliced: v,
			Throughput: stat.Interval{Median: times(own.Throughput.Median)}, Speedup: times(own.Speedup),
		})
	}
	g.inOrder(list)
	return list
}

// sameNumber is the value that a numbered setting without a valid trial is of, as its trials
// would have been; nil: nothing else ran with it.
func (g *group) sameNumber(a *Row) *contest.Value {
	if a.Procs == nil || a.Variant != "" || a.Trials > 0 || a.Variable != "" {
		return nil
	}
	return g.Of(*a.Procs)
}

func (a *Row) takeInvalid(other *Row) {
	a.Invalid += other.Invalid
	for _, r := range other.InvalidReasons {
		same := func(own ReasonCount) bool { return own.Reason == r.Reason && own.Code == r.Code }
		if i := slices.IndexFunc(a.InvalidReasons, same); i >= 0 {
			a.InvalidReasons[i].Count += r.Count
		} else {
			a.InvalidReasons = append(a.InvalidReasons, r)
		}
	}
	a.Points, a.PooledWith = append(a.Points, other.Points...), append(a.PooledWith, other.Label)
}

func (g *group) compared(v *contest.Value, a journal.Setting, result *Row) {
	result.Unmet = journal.Unmet(result.Missed, result.Trials)
	for _, other := range v.Settings {
		if other.Key() != a.Key() {
			result.PooledWith = append(result.PooledWith, other.Label)
		}
	}
	if g.Best == nil || !slices.Contains(g.Values, v) {
		return
	}
	if !v.Unmet {
		result.VersusPeak = g.interval(g.Best.Procs, v.Procs, race.Throughput).Inverse()
	}
	if v == g.Best {
		result.VersusPeak = stat.Interval{Median: new(1.0), Low: new(1.0), High: new(1.0), N: v.N}
	}
	if v.Throughput.Median != nil {
		result.NonInferior.Throughput = new(g.InTail(v))
	}
	if g.ByLatency && g.InTail(v) && len(g.Tail) > 1 && v.HasLatency() {
		result.NonInferior.P99 = new(g.PassesLatency(v))
	}
}

// row is a value as one setting, its metrics those of the level.
func (g *group) row(v *contest.Value, alone Row) Row {
	row := alone
	if len(v.Settings) > 1 {
		var measured, copies []*journal.Trial
		for _, a := range v.Settings {
			measured, copies = append(measured, g.Measured(a)...), append(copies, g.Copies(a)...)
		}
		sorting.Stable(measured, func(a, b *journal.Trial) int {
			return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(a.Order, b.Order))
		})
		row = g.summarize(v.Settings[0], measured, copies)
		row.NonInferior, row.TooFewCPUs = alone.NonInferior, alone.TooFewCPUs
		for _, a := range v.Settings[1:] {
			row.PooledWith = append(row.PooledWith, a.Label)
		}
	}
	row.Later = g.Lowest != nil && v != g.Lowest && !v.Saturated && !g.Beyond(v) && g.InTail(v) && g.P99(v, g.Lowest).Worse
	row.Excluded, row.Saturated, row.Unmet = v.Excluded, v.Saturated, v.Unmet
	// A single value next to an old program, which is in no contest, has the same kind of
	// level as the old one.
	paired := len(g.Current()) == 1 && len(g.Settings) > 1
	if v.Throughput.Median != nil && !paired {
		row.Throughput = v.Throughput
	}
	if v.P99.Median != nil {
		row.Judged = v.P99
		if of := g.judgedLevel(v.Settings[0]); paired && of.Median != nil {
			row.Judged = of
		}
		g.quantiles(&row, v)
	}
	if v.VersusPeak.Median != nil {
		row.VersusPeak = v.VersusPeak
	}
	if g.anyLatency() {
		row.P50, row.P99, row.Judged = alone.P50, alone.P99, alone.P99
	}
	return row
}

// speedups sets each current setting's median throughput against that of the
// smallest numbered one.
func speedups(list []Row) {
	compared := func(a Row) bool { return a.Variant == "" && !a.Unmet && a.Throughput.Median != nil }
	base := slices.IndexFunc(list, func(a Row) bool { return compared(a) && a.Procs != nil && *a.Throughput.Median > 0 }) // they are sorted by procs
	for i := range list {
		if a := &list[i]; base >= 0 && compared(*a) {
			a.Speedup = stat.Known(*a.Throughput.Median / *list[base].Throughput.Median)
		}
	}
}

// summarize is a setting by itself, before it is compared with others. Its metrics
// are those of its own valid trials; the second copy of an A/A pair is among the
// points only.
func (g *group) summarize(a journal.Setting, measured, copies []*journal.Trial) Row {
	result := Row{
		Label:      a.Label,
		Procs:      a.Procs,
		Variant:    a.Variant,
		Variable:   a.Key().Value,
		Trials:     contest.Valid(measured),
		Invalid:    len(measured) - contest.Valid(measured),
		Throughput: stat.Median(contest.Figures(measured, throughputOf)),
		P50:        stat.Median(contest.Figures(measured, shownLatency(g.latencyMode, ofP50))),
		P99:        stat.Median(contest.Figures(measured, shownLatency(g.latencyMode, ofP99))),
		Metrics:    metricIntervals(measured),
		ByRequest:  byRequest(measured, g.latencyMode),
		Saturated:  mostlySaturated(measured),
		Missed:     contest.HowMany(measured, func(t *journal.Trial) bool { return t.Valid && t.Missed() }),
	}
	if a.Variant != "" { // which no contest levels
		result.Judged = g.judgedLevel(a)
	}
	all := slices.Concat(measured, copies)
	result.InvalidReasons = invalidReasons(measured)
	for _, t := range measured {
		for _, p := range t.Phases {
			if t.Valid {
				result.Requests, result.Unanswered, result.Redirects = result.Requests+p.Requests, result.Unanswered+p.Unanswered, result.Redirects+p.Redirects
			}
		}
	}
	if p, source := contest.Resolved(all); p > 0 {
		result.ResolvedProcs, result.ResolvedSource = &p, source
	}
	ps := g.effective
	if p := cmp.Or(result.ResolvedProcs, a.Procs); p != nil {
		ps = float64(*p)
	}
	replicas := float64(g.Group.Replicas)
	usable := math.Min(g.machine, math.Min(ps, g.effective)*replicas)
	result.Evidence = medianEvidence(measured, ofTrial, g.machine, replicas, usable)
	result.Evidence.loadEvidence(measured)
	result.Evidence.PeakRSSBytes = g.peakMemory(a, measured)
	result.Evidence.CPUSecondsEach = contest.Median(measured, cpuEach)
	if open := medianEvidence(measured, ofOpenLoop, g.machine, replicas, usable); open.CPUs != nil {
		open.CPUSecondsEach = contest.Median(measured, func(t *journal.Trial) *float64 { return CPUPerRequest(t, journal.ModeOpen) })
		result.OpenEvidence = &open
	}
	for _, t := range all {
		result.Points = append(result.Points, Point{
			Trial:     t,
			P50:       shownLatency(g.latencyMode, ofP50)(t),
			P99:       shownLatency(g.latencyMode, ofP99)(t),
			ClosedP99: shownLatency(journal.ModeClosed, ofP99)(t),
			Judged:    g.judgedIfValid(t),
		})
	}
	sorting.Stable(result.Points, func(a, b Point) int { return cmp.Compare(a.Block, b.Block) })
	return result
}

// peakMemory is the median of a setting's trials, or where the plan limits it the most of any, which
// is what the limit is held against.
func (g *group) peakMemory(a journal.Setting, measured []*journal.Trial) *float64 {
	if peak, judged := g.Peak[a.Key()]; judged {
		return new(float64(peak))
	}
	return contest.Median(measured, func(t *journal.Trial) *float64 {
		peak := t.PeakMemory()
		if peak == nil {
			return nil
		}
		return new(float64(*peak))
	})
}

func ofP50(l *journal.Latency) *float64 { return l.P50 }
func ofP99(l *journal.Latency) *float64 { return l.P99 }

// shownLatency is a latency of the loop that the group displays: the judged one, or
// where there is none that of the closed loop.
func shownLatency(mode journal.Mode, of func(*journal.Latency) *float64) figure {
	return func(t *journal.Trial) *float64 {
		if mode == journal.ModeOpen {
			if t.LatencySeconds == nil {
				return nil
			}
			return of(t.LatencySeconds)
		}
		if p := t.Phase(mode); p != nil && p.LatencySeconds != nil {
			return of(p.LatencySeconds)
		}
		return nil
	}
}

// mostlySaturated is by majority of the valid trials: what was seen. What is concluded of it
// is the contest's.
func mostlySaturated(trials []*journal.Trial) bool {
	return contest.Most(trials, func(t *journal.Trial) bool { return t.Saturated })
}

func invalidReasons(trials []*journal.Trial) []ReasonCount {
	count := map[ReasonCount]int{}
	for _, t := range trials {
		if !t.Valid {
			count[ReasonCount{Reason: t.InvalidReason, Code: t.InvalidCode}]++
		}
	}
	var list []ReasonCount
	for r, n := range count {
		r.Count = n
		list = append(list, r)
	}
	sorting.Stable(list, func(a, b ReasonCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Code, b.Code))
	})
	return list
}

func metricIntervals(trials []*journal.Trial) map[string]MetricInterval {
	all := map[string]MetricInterval{}
	for _, t := range trials {
		for name, m := range t.Metrics {
			if _, done := all[name]; done || !t.Valid {
				continue
			}
			all[name] = MetricInterval{stat.Median(contest.Figures(trials, metricOf(name))), m.Unit, m.Better}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// judgedIfValid is that of a valid trial, as JSON can hold it.
func (g *group) judgedIfValid(t *journal.Trial) *float64 {
	if x := g.Latency.Of(t); t.Valid && x != nil && *x > 0 && !math.IsInf(*x, 1) {
		return x
	}
	return nil
}

// judgedLevel is the judged latency of a setting by itself.
func (g *group) judgedLevel(a journal.Setting) stat.Interval {
	return stat.Median(contest.Figures(g.Measured(a), g.judgedIfValid))
}

// quantiles gives a row its p50 and p99 from the trials that its judged latency is of, so
// that all are of the same requests: medians, but no p50 is above the level of a judged p90, nor
// a p99 below it.
func (g *group) quantiles(row *Row, v *contest.Value) {
	trials := contest.Where(v.Trials, func(t *journal.Trial) bool { return !t.Saturated && g.judgedIfValid(t) != nil })
	of := func(quantile float64, f func(*journal.Latency) *float64) stat.Interval {
		if quantile == g.Latency.Quantile {
			return row.Judged
		}
		seen := stat.Median(contest.Figures(trials, func(t *journal.Trial) *float64 { return f(t.LatencySeconds) }))
		if seen.Median == nil {
			return seen
		}
		if level := *row.Judged.Median; (quantile < g.Latency.Quantile) == (*seen.Median > level) {
			return seen.Scaled(level / *seen.Median)
		}
		return seen
	}
	row.P50 = of(0.5, ofP50)
	row.P99 = of(0.99, ofP99)
}

// byRequest are the requests of a mix, in the order of the first trial that has them.
func byRequest(trials []*journal.Trial, mode journal.Mode) (list []RequestLatency) {
	at := map[string]int{}
	p50, p99 := map[string][]float64{}, map[string][]float64{}
	for _, t := range trials {
		for _, one := range mixOf(t, mode) {
			i, known := at[one.Name]
			if !known {
				i = len(list)
				at[one.Name] = i
				list = append(list, RequestLatency{Name: one.Name})
			}
			list[i].Requests += one.Requests
			list[i].Errors += one.Errors
			if l := one.LatencySeconds; l != nil && l.P50 != nil && l.P99 != nil {
				p50[one.Name] = append(p50[one.Name], *l.P50)
				p99[one.Name] = append(p99[one.Name], *l.P99)
			}
		}
	}
	for i := range list {
		list[i].P50, list[i].P99 = stat.Median(p50[list[i].Name]), stat.Median(p99[list[i].Name])
	}
	return list
}

// mixOf are the requests of a valid trial's last phase of the mode.
func mixOf(t *journal.Trial, mode journal.Mode) (list []journal.RequestFigures) {
	for i := range t.Phases {
		if p := &t.Phases[i]; t.Valid && p.Mode == mode {
			list = p.ByRequest
		}
	}
	return list
}

// summary is a group's settings by themselves, and what ran next to them.
func (g *group) summary(settings []Row) Group {
	result := Group{
		Setting: journal.Setting{Replicas: g.Group.Replicas, GoVersion: g.Group.GoVersion, Compares: g.Group.Compares}, Origin: g.origin, EffectiveCPUs: g.effective, LimitAround: limitAround(g.all(g.Current())),
		ThroughputUnit: g.unit(), LatencyMode: string(g.latencyMode), RatePerSecond: g.rate,
		Latency: g.Latency, Values: []*contest.Value{}, Others: g.others,
		Settings: settings, Flatness: Flatness{WithinMargin: []string{}}, Race: g.took(), Override: g.overrides(),
	}
	if s := g.Sliced; s != nil && len(s.Values)+len(s.Why) > 0 {
		result.Sliced = s
	}
	result.Default = g.judgeDefault(settings, result.Override)
	if part := partOf(g.header, g.machine); part != nil && g.effective >= float64(part.CPUs) { // else a limit holds it, not the load
		result.Part = part
	}
	if g.Group.Limited {
		result.QuotaCPUs = new(g.Group.QuotaCPUs)
	}
	if g.Group.Procs > 0 {
		result.Procs = new(g.Group.Procs)
	}
	for _, a := range g.Settings {
		result.Variables = slices.DeleteFunc(slices.Clone(a.Variables), func(v journal.Variable) bool { return v.Name == result.Compares })
	}
	return result
}

func limitAround(trials []*journal.Trial) (tightest *journal.OuterLimit) {
	for _, t := range trials {
		for i := range t.OuterLimits {
			if l := &t.OuterLimits[i]; t.Role == journal.RoleMeasure && l.CPUs > 0 && (tightest == nil || l.CPUs < tightest.CPUs) {
				tightest = l
			}
		}
	}
	return tightest
}

// partOf is the target's part of a machine whose other CPUs the load has.
func partOf(h journal.Header, machine float64) *Part {
	if h.Load.Arranged() != journal.ArrangementApart {
		return nil
	}
	p := Part{CPUs: len(h.Target.Had()), Of: int(machine)}
	if p.CPUs <= 0 || p.CPUs >= p.Of {
		return nil
	}
	return &p
}

// ofTrial is what the kernel counted in the closed loop, or in a batch program's runs.
func ofTrial(t *journal.Trial) *journal.Usage { return &t.Usage }

// ofOpenLoop is that of the open loop; nil where it was not counted.
func ofOpenLoop(t *journal.Trial) *journal.Usage {
	if p := t.Phase(journal.ModeOpen); p != nil {
		return p.Usage
	}
	return nil
}

// evidenceOf is what the kernel and the runtime counted in one stretch of a trial: ThrottledRatio of
// all replicas together, and StealRatio in CPUs.
func evidenceOf(u *journal.Usage) (e Evidence) {
	per := func(x float64) *float64 { return contest.PerSecond(u, &x) }
	if c := u.CPUSeconds; c != nil {
		e.CPUs, e.UserCPUs, e.SystemCPUs = per(c.Total()), per(c.User), per(c.System)
	}
	if c := u.ContextSwitches; c != nil {
		e.VoluntaryPerSecond, e.InvoluntaryPerSecond = per(float64(c.Voluntary)), per(float64(c.Involuntary))
	}
	e.RunQueueWaitRatio, e.BesideCPUs = contest.PerSecond(u, u.RunQueueWaitSeconds), contest.PerSecond(u, u.BesideCPUSeconds)
	if f := u.PageFaults; f != nil {
		e.FaultHeldPs, e.MajorFaultsPerSecond = contest.PerSecond(u, f.HeldSeconds), per(float64(f.Major))
	}
	if u.ThreadsMax != nil {
		e.ThreadsMax = new(float64(*u.ThreadsMax))
	}
	if c := u.Cgroup; c != nil {
		e.ThrottledPeriodsRatio, e.ThrottledRatio = throttledShare(c), per(c.ThrottledSeconds)
		if c.Periods > 0 && c.Bursts != 0 { // nil where no period used the burst
			e.BurstPeriodsRatio = new(float64(c.Bursts) / float64(c.Periods))
		}
	}
	if h := u.HostUse; h != nil {
		e.StealRatio, e.OtherCPUs = per(h.StealSeconds), contest.PerSecond(u, h.OtherCPUSeconds)
		if u.MeasuredSeconds > 0 {
			e.MachineBusy = &h.BusyRatio
		}
	}
	if m := u.Memory; m != nil {
		e.PeakRSSBytes = new(float64(m.PeakRSSBytes))
		if m.RSSBytes != nil {
			e.RSSBytes = new(float64(*m.RSSBytes))
		}
	}
	if g := u.GC; g != nil && g.SpanSeconds > 0 {
		cycles := float64(g.Cycles) / g.SpanSeconds
		e.GCCyclesPerSecond, e.gcCycles = &cycles, new(cycles*u.MeasuredSeconds)
		if g.CPUSeconds != nil && stat.OrZero(g.BusySeconds) > 0 {
			e.GCBusyRatio = new(*g.CPUSeconds / *g.BusySeconds)
		}
	}
	return e
}

// numbers are those of evidenceOf.
func (e *Evidence) numbers() []**float64 {
	return []**float64{
		&e.CPUs, &e.UserCPUs, &e.SystemCPUs, &e.VoluntaryPerSecond, &e.InvoluntaryPerSecond, &e.RunQueueWaitRatio, &e.BesideCPUs,
		&e.FaultHeldPs, &e.MajorFaultsPerSecond, &e.ThreadsMax, &e.ThrottledPeriodsRatio, &e.ThrottledRatio, &e.BurstPeriodsRatio,
		&e.StealRatio, &e.OtherCPUs, &e.MachineBusy, &e.PeakRSSBytes, &e.RSSBytes, &e.GCCyclesPerSecond, &e.gcCycles, &e.GCBusyRatio,
	}
}

// medianEvidence is the medians of what was counted in a stretch of the valid trials. Usable is the CPUs
// that all replicas of the setting together could have used.
func medianEvidence(trials []*journal.Trial, of func(*journal.Trial) *journal.Usage, machine, replicas, usable float64) (e Evidence) {
	medians := e.numbers()
	values := make([][]float64, len(medians))
	for _, t := range trials {
		u := of(t)
		if !t.Valid || u == nil {
			continue
		}
		one := evidenceOf(u)
		for i, x := range one.numbers() {
			if *x != nil && stat.Known(**x) != nil {
				values[i] = append(values[i], **x)
			}
		}
	}
	for i, list := range values {
		*medians[i] = stat.Median(list).Median
	}
	e.ThrottledRatio, e.StealRatio, e.CPUUtilisation = over(e.ThrottledRatio, replicas), over(e.StealRatio, machine), over(e.CPUs, usable)
	return e
}

func (e *Evidence) loadEvidence(trials []*journal.Trial) {
	e.LoadCPUs = contest.Median(trials, contest.LoadCPUs)
	for _, t := range trials {
		if t.Valid && t.Load != nil {
			e.Dropped += t.Load.Dropped
		}
	}
}

// CPUPerRequest is the CPU time of a request in the phase of this mode, in seconds; nil: it
// was not counted.
func CPUPerRequest(t *journal.Trial, mode journal.Mode) *float64 {
	i := slices.IndexFunc(t.Phases, func(p journal.Phase) bool { return p.Mode == mode && p.AchievedPerSecond > 0 })
	if i < 0 {
		return nil
	}
	u := t.Phases[i].Usage
	if u == nil && mode == ownLoop(t) {
		u = &t.Usage
	}
	if u == nil {
		return nil
	}
	return over(evidenceOf(u).CPUs, t.Phases[i].AchievedPerSecond)
}

// cpuEach is that of the loop whose usage is the trial's.
func cpuEach(t *journal.Trial) *float64 { return CPUPerRequest(t, ownLoop(t)) }

// ownLoop is that loop: the closed one, or the open one of a server that already ran, which
// has no other.
func ownLoop(t *journal.Trial) journal.Mode {
	if slices.ContainsFunc(t.Phases, func(p journal.Phase) bool { return p.Mode == journal.ModeClosed }) {
		return journal.ModeClosed
	}
	return journal.ModeOpen
}

func over(x *float64, by float64) *float64 {
	if x == nil || by <= 0 {
		return nil
	}
	return stat.Known(*x / by)
}

const (
	// collectsMuch is the share of a program's busy time from which on its garbage
	// collector is the likelier thing to turn than its number of Ps.
	collectsMuch = 0.1
	// fewestCycles in a second, of a process, tell a program that allocates from one that
	// collected once while it was looked at.
	fewestCycles = 1
)

// flat reports whether no value is beyond the margin of the best, of three at least, and none is shown
// to be worse: by its latency, or in slices.
func (g *group) flat() bool {
	return len(g.Values) >= 3 && g.Best != nil && len(g.flatness().WithinMargin) == len(g.measured()) && !slices.ContainsFunc(g.Values, g.Worse)
}

// allocates reports whether that is a program whose collector is worth looking at first.
func (g *group) allocates(rows []Row, rec *Recommendation) *Allocates {
	if rec.Verdict != NoDifference && (rec.Verdict == SustainsRate || !g.flat()) {
		return nil
	}
	label := rec.Setting
	if label == "" && g.Best != nil {
		label = g.Best.Setting
	}
	for i := range rows {
		e := &rows[i].Evidence
		if row := &rows[i]; row.Variant == "" && (row.Label == label || slices.Contains(row.PooledWith, label)) &&
			stat.OrZero(e.GCCyclesPerSecond) >= fewestCycles && stat.OrZero(e.GCBusyRatio) >= collectsMuch {
			return &Allocates{label, *e.GCCyclesPerSecond, *e.GCBusyRatio}
		}
	}
	return nil
}
