package trial

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial/foreign"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
)

// judge reports whether the p99 of an open loop is valid, with that many requests, those that
// failed, were never answered or never sent among them. at is the latency at a quantile;
// null where that is not known.
func judge(t *journal.Trial, p *journal.Phase, requests int64, at func(quantile float64) *float64) {
	var periods *int64
	if t.Setting.QuotaCPUs != nil || limitedFromOutside(p.Usage) {
		periods = new(int64(p.DurationSeconds/journal.QuotaPeriod.Seconds() + 1e-9))
	}
	j := &p.Judgement
	switch {
	case requests < journal.LeastRequests:
		j.UnjudgedReason = journal.UnjudgedFewRequests
	case periods != nil && *periods < journal.LeastPeriods:
		j.UnjudgedReason = journal.UnjudgedFewPeriods
	}
	j.Judged = new(j.UnjudgedReason == "")
	for _, quantile := range journal.CarriedQuantiles(requests, periods) {
		if quantile == 0.99 {
			return // the p99 itself
		}
		if latency := at(quantile); latency != nil {
			j.Quantile, j.QuantileSeconds = quantile, latency
			return
		}
	}
}

// limitedFromOutside reports whether a limit around procfit itself can throttle the target.
func limitedFromOutside(u *journal.Usage) bool {
	if u == nil || u.HostUse == nil {
		return false
	}
	cpus := float64(u.HostUse.TargetCPUs)
	return slices.ContainsFunc(u.OuterLimits, func(l journal.OuterLimit) bool { return l.CPUs > 0 && l.CPUs < cpus })
}

func seconds(nanoseconds int64) *float64 { return new(time.Duration(nanoseconds).Seconds()) }

// Reading is what was read of one replica's live program.
type Reading struct {
	Procs      int
	Source     string // symbol, decoded
	GoVersion  string
	MainModule string
	Package    string   // its main package, of a program of this machine
	Err        error    // why Procs could not be read
	NoGo       bool     // no Go program is among its processes
	Ended      bool     // one of them ended before it could be read, and no other is a Go program
	Programs   []string // that they are if NoGo; nil: not known
	Child      string   // the process that was read, if not the command's own; empty: it is, or not known
}

// tells is how much a reading says: a value, that a program cannot be read, that none is a Go
// program, or nothing, since it ended too early.
func (r Reading) tells() int {
	switch {
	case r.Procs > 0 && r.Err == nil:
		return 3
	case r.Ended:
		return 0
	case r.NoGo:
		return 1
	}
	return 2
}

// who is the program that was read, as a message names it.
func (r Reading) who() string {
	if r.Child != "" {
		return "the target's child " + r.Child
	}
	return "the target"
}

// JudgeProcs records what the target ran at and says whether that is what the setting
// wants. before is from after the warm-up, after from before the stop; it may be nil.
func JudgeProcs(t *journal.Trial, before, after []Reading) error {
	t.ObservedProcs = make([]*int, len(before))
	want := t.Setting.Procs
	for i, now := range before {
		switch {
		case now.NoGo:
			warn(t, journal.Warning{Code: journal.WarnNoGo})
			continue
		case now.Err != nil:
			warn(t, journal.Warning{Code: journal.WarnProcsUnproven, Detail: now.Err.Error()})
			continue
		}
		t.ObservedProcs[i] = &now.Procs
		t.ObservedSource, t.ObservedGoVersion, t.ObservedMainModule = now.Source, now.GoVersion, now.MainModule
		if want != nil && now.Procs != *want {
			return Invalid(journal.InvalidProcs, "%s ran with GOMAXPROCS=%d instead of %d: something overrides the environment (a call of runtime.GOMAXPROCS, automaxprocs, a parent that sets it for its children, or a wrapper that clears the environment)", now.who(), now.Procs, *want)
		}
		if i >= len(after) || after[i].Err != nil || after[i].NoGo || after[i].Procs == now.Procs {
			continue
		}
		if want != nil {
			return Invalid(journal.InvalidProcsChanged, "%s changed its GOMAXPROCS from %d to %d during the trial", now.who(), now.Procs, after[i].Procs)
		}
		warn(t, journal.Warning{Code: journal.WarnProcsChanged, From: &now.Procs, To: &after[i].Procs})
	}
	return nil
}

// clients are main packages, or what they begin with, of programs that start another one where procfit
// does not see it, and do not hand on their GOMAXPROCS.
var clients = []string{
	"github.com/docker/cli/", "github.com/docker/compose/", "github.com/containerd/nerdctl/", "github.com/containers/podman/", "go.podman.io/podman/",
	"k8s.io/kubernetes/cmd/kubectl", "github.com/openshift/oc/",
}

// IsClient reports whether no value of the program that was read is one of the program that is to be measured.
func (r Reading) IsClient() bool {
	return slices.ContainsFunc(clients, func(c string) bool { return strings.HasPrefix(r.Package, c) })
}

// refuse ends a run whose target is a client, or no Go program: GOMAXPROCS has no effect on it, and what
// its trials differ by is chance. A run in which any trial read a Go program, before it was
// resumed or since, is not ended: this trial missed it.
func (t *Task) refuse(readings []Reading) error {
	for _, r := range readings {
		if r.IsClient() && !t.Spec.Target.AnyProgram {
			return plan.Wrong("command", "%s starts the program in a container or on another machine, and GOMAXPROCS and --limit would be its own, not the program's; run the program itself (docker cp copies it from an image), or measure its pods: procfit kube sweep; to measure the client: --any-program", r.who())
		}
	}
	if t.Spec.Target.AnyProgram || t.SawGo || len(readings) == 0 || slices.ContainsFunc(readings, func(r Reading) bool { return !r.NoGo }) {
		return nil
	}
	what := "the target is"
	if names := readings[0].Programs; len(names) > 0 {
		what = phrase.And(names) + " is"
		if len(names) > 1 {
			what = phrase.And(names) + " are"
		}
	}
	return plan.Wrong("command", "%s not a Go program, so GOMAXPROCS has no effect on it; to measure a server under load: procfit load --rate N URL; if it starts a Go program that procfit cannot see: --any-program", what)
}

const (
	stolenMuch = 0.2 // of the CPUs' time, by a hypervisor: a target that does not answer is not at fault
	stolenMost = 0.5 // figures are then the hypervisor's, and not the program's
	// Tellable is the span below which the kernel's ticks of 10 ms do not show what other
	// programs, or a hypervisor, took from a trial.
	Tellable = 500 * time.Millisecond
	// tickError is by how much the time that a CPU was busy may be off: its user and its
	// system time are each cut to a tick.
	tickError = 20 * time.Millisecond
)

// CountOthers records what other programs used in a span, or the most that it may be if that is short.
func CountOthers(use *journal.HostUse, seconds float64, span time.Duration) {
	use.OtherCPUSeconds, use.MostOtherCPUSeconds = &seconds, nil
	if span < Tellable {
		use.OtherCPUSeconds, use.MostOtherCPUSeconds = nil, new(seconds+tickError.Seconds()*float64(use.TargetCPUs))
	}
}

// stolen is the share of the target's CPU time that a hypervisor took.
func stolen(u *journal.Usage) float64 {
	if u == nil || u.HostUse == nil || u.MeasuredSeconds <= 0 || u.HostUse.TargetCPUs < 1 {
		return 0
	}
	seconds := u.HostUse.StealSeconds
	if own := u.HostUse.TargetStealSeconds; own != nil {
		seconds = *own
	}
	return min(1, seconds/(u.MeasuredSeconds*float64(u.HostUse.TargetCPUs)))
}

// judgeStolen says whether a hypervisor took so much of the CPU time that a trial tells
// nothing of its program. Less than that is noise, which affects all settings equally.
func judgeStolen(t *journal.Trial) error {
	most, where := 0.0, ""
	look := func(u *journal.Usage, of string) {
		if share := stolen(u); share > most && u.MeasuredSeconds >= Tellable.Seconds() {
			most, where = share, of
		}
	}
	for i := range t.Phases {
		if p := &t.Phases[i]; p.Mode != journal.ModeBatch {
			look(p.Usage, phaseName(string(p.Mode)))
		}
	}
	look(&t.Usage, "trial")
	if most < stolenMost {
		return nil
	}
	return Invalid(journal.InvalidStolen, "the hypervisor took %.0f%% of the CPU time of the %s; measure again when the machine has its CPUs", 100*most, where)
}

const (
	engineLimit = 0.90 // of a CPU in the busiest engine thread
	machineFull = 0.95 // of all CPU time
	loadShare   = 0.05 // of all CPU time: below it the load disturbs little
)

// warnOfLimits warns of what else was the limit. loadHere: the load ran on the target's machine.
func warnOfLimits(t *journal.Trial, loadHere bool) {
	l := t.Load
	if l != nil && l.ThreadBusiestRatio != nil && *l.ThreadBusiestRatio >= engineLimit {
		warn(t, journal.Warning{Code: journal.WarnLoadLimited, Value: l.ThreadBusiestRatio})
	}
	if l != nil && t.HostUse != nil && loadHere && t.HostUse.BusyRatio >= machineFull && t.MeasuredSeconds > 0 {
		if cpus := l.CPUSeconds / t.MeasuredSeconds; cpus >= loadShare {
			warn(t, journal.Warning{Code: journal.WarnLoadTook, Value: &cpus})
		}
	}
	if t.Saturated {
		warn(t, journal.Warning{Code: journal.WarnSaturated, Value: carriedShare(t)})
	}
	if contest.Late(t) {
		warn(t, journal.Warning{Code: journal.WarnSentLate, Value: new(*l.SendLagP99Seconds)})
	}
}

func carriedShare(t *journal.Trial) *float64 {
	for _, p := range t.Phases {
		if p.Mode == journal.ModeOpen && p.RatePerSecond != nil && *p.RatePerSecond > 0 {
			return new(p.AchievedPerSecond / *p.RatePerSecond)
		}
	}
	return nil
}

// addProbe adds an open loop at one of the rates of a search, and says what the
// objective sees of it. More errors than may be are a rate that is not carried; a
// program that answers nothing more at a rate may do so at a lower one.
func (t *Task) addProbe(o slo.Objective, l *load.Result, usage *journal.Usage) (slo.Probe, error) {
	if err := addPhase(t.Trial, l, usage); err != nil {
		return slo.Probe{}, err
	}
	p := &t.Trial.Phases[len(t.Trial.Phases)-1]
	p.DroppedHeadSeconds = t.Spec.Load.OpenHead().Seconds()
	probe := slo.Probe{RatePerSecond: l.Rate, Carried: l.AchievedPerSecond >= Carried*l.Rate && TooMany(p, l.Dropped, t.Spec.Load.MaxErrors) == ""}
	if l.Latency.TotalCount() > 0 {
		probe.Seconds = time.Duration(l.Latency.ValueAtQuantile(100 * o.Quantile)).Seconds()
	}
	if t.Trial.Load != nil && o.Meets(probe) { // at a rate that is too high the generator may well be late
		paced := Cost(l)
		t.Trial.Load.SendLagP99Seconds, t.Trial.Load.Dropped = paced.SendLagP99Seconds, paced.Dropped
	}
	return probe, nil
}

// attain makes the capacity within the objective the throughput, in place of the closed loop's.
func attain(t *journal.Trial, s slo.Search, done []slo.Probe) {
	capacity, met := s.Capacity(done)
	for _, p := range done {
		if !met && (capacity == 0 || p.RatePerSecond < capacity) {
			capacity = p.RatePerSecond // it carries less than that
		}
	}
	t.ThroughputPerSecond = &capacity
	t.Attained = &journal.Attainment{Met: met, Probes: len(done)}
}

// JudgeAnswers says whether so few requests failed that the others count. Requests that
// were never answered are failures too, and each of them holds its place to the end:
// places, plan.Load.Places, is how many requests can be under way at once. Every phase is
// judged by itself, and in it each replica and each request of a mix: the many good answers
// of one would hide the failures of another, which are fast and make its latency look good.
func JudgeAnswers(t *journal.Trial, maxErrors float64, places int) error {
	if len(t.Phases) == 0 {
		return Invalid(journal.InvalidNoAnswer, "no request was answered: the reason is unknown")
	}
	for i := range t.Phases {
		if t.Attained != nil && i > 0 {
			break // what fails at a rate that is searched for is the rate's
		}
		if err := judgePhase(t, &t.Phases[i], maxErrors, places); err != nil {
			return err
		}
	}
	return nil
}

func judgePhase(t *journal.Trial, p *journal.Phase, maxErrors float64, places int) error {
	in := ""
	if len(t.Phases) > 1 {
		in = " in the " + phaseName(string(p.Mode))
	}
	usage, busy := &t.Usage, ""
	if p.Usage != nil {
		usage = p.Usage
	}
	if share := contest.Others(usage); contest.AtLeast(share, contest.CrowdedFrom) {
		busy = fmt.Sprintf("; other programs used %.0f%% of the CPU time: stop them, or measure on a quieter machine", 100**share)
	}
	if p.Requests == 0 {
		return Invalid(journal.InvalidNoAnswer, "no request was answered%s: %s%s", in, whyFailed(p), busy)
	}
	var dropped int64 // the load's cost has those of its open loop
	if t.Load != nil && p.Mode == journal.ModeOpen {
		dropped = t.Load.Dropped
	}
	if failing := TooMany(p, dropped, maxErrors); failing != "" {
		return Invalid(journal.InvalidErrors, "%s%s (%s), more than --max-errors %g%% allows%s", failing, in, whyFailed(p), 100*maxErrors, busy)
	}
	if hang := Hanging(p, maxErrors, places); hang != "" {
		return Invalid(journal.InvalidErrors, "%s%s, more than --max-errors %g%% allows%s", hang, in, 100*maxErrors, busy)
	}
	return nil
}

// Hanging says how many connections got no answers any more, if that is a greater share than most of
// all, or of those to a replica; else it is empty. The many good answers before would hide them
// among the requests. places is how many requests can be under way at once.
func Hanging(p *journal.Phase, most float64, places int) string {
	share := func(waiting int64, of int) float64 { return float64(waiting) / float64(max(1, of)) }
	words := func(waiting int64, of int, who string) string {
		return fmt.Sprintf("%d of %d connections%s got no answers any more", waiting, max(1, of), who)
	}
	if share(p.Hanging, places) > most {
		return words(p.Hanging, places, "")
	}
	for i, r := range p.ByReplica {
		if of := places / len(p.ByReplica); r.Hanging > 1 && share(r.Hanging, of) > most {
			return words(r.Hanging, of, " to "+Replica(i, len(p.ByReplica)))
		}
	}
	return ""
}

// Failed is how many requests of a phase failed. A connection that failed with no request on it,
// as it was opened say, is no request. In an open loop it counts only as far as requests were
// never sent: dropped of them. In a closed loop it stands for the request that its place could
// not send.
func Failed(p *journal.Phase, dropped int64) int64 {
	if p.Mode != journal.ModeOpen {
		return p.Errors
	}
	return p.Errors - p.FailedConnections + min(p.FailedConnections, dropped)
}

// TooMany says whether a greater share than most failed or was never answered: of all requests of
// a phase, those to one replica, or one request of a mix; empty: of none. A single failure is judged
// only among all requests: it would be a great share of a request that is rarely sent. The
// connections to a replica that failed with no request on them count as far as it answered less
// than its part.
func TooMany(p *journal.Phase, dropped int64, most float64) string {
	judge := func(which string, answered, failed, unanswered int64) string {
		bad := failed + unanswered
		share := float64(bad) / float64(max(1, answered+unanswered, bad))
		if share <= most || which != "" && bad < 2 {
			return ""
		}
		return fmt.Sprintf("%.3g%% of the requests%s failed", 100*share, which)
	}
	all := Failed(p, dropped)
	failing := judge("", p.Requests, all, p.Hanging)
	for i, r := range p.ByReplica {
		short := max(0, p.Requests/int64(len(p.ByReplica))-r.Requests)
		failing = cmp.Or(failing, judge(" to "+Replica(i, len(p.ByReplica)), r.Requests, min(r.Errors, all+short), r.Hanging))
	}
	for _, r := range p.ByRequest {
		failing = cmp.Or(failing, judge(" "+r.Name, r.Requests, r.Errors, r.Hanging))
	}
	return failing
}

// Replica is a copy of the target as a message names it.
func Replica(i, of int) string {
	if of == 1 {
		return "the target"
	}
	return fmt.Sprintf("replica %d of %d", i+1, of)
}

func whyFailed(p *journal.Phase) string {
	why := mostOften(p.ErrorKinds)
	switch {
	case p.Hanging == 0 && why == "" && p.Unanswered > 0: // each was sent after the end, as what was due before it
		return "the target carries far fewer than the offered requests; try a lower --rate"
	case p.Hanging == 0:
		return cmp.Or(why, "the reason is unknown")
	case why != "":
		why += ", "
	}
	return why + fmt.Sprintf("%d never answered", p.Hanging)
}

// Late reports that a latency of procfit's own load is mostly the generator's, which was late to send.
func Late(o *foreign.Offered) bool {
	return contest.Late(&journal.Trial{LatencySeconds: o.LatencySeconds, Load: &o.Load})
}
