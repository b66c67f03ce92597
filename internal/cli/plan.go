package cli

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
)

// describe is a session's plan and its cost in words, a fact a line.
func (m *measurement) describe(s *session.Session) string {
	what := s.Header.Name + " at " + s.Plan.Compared()
	if len(s.Spec.Target.Against) > 0 {
		what = s.Header.Name + ", old and new, at " + s.Plan.Compared()
	}
	what += s.Plan.Each()
	facts := append([]string{what}, arrangement(s)...)
	if s.Plan.Racing() {
		facts = append(facts, m.race(s)...)
	} else {
		facts = append(facts, grid(s)...)
	}
	if s.Plan.Pilots > 0 && !s.Ended {
		facts = append(facts, fmt.Sprintf("the first %s find the request rate", phrase.Count(plan.Pilots(s.Plan), "trial")))
		if s.Plan.Slices {
			n, take := plan.Slices(s.Plan)
			facts = append(facts, fmt.Sprintf("then %s of one start, about %s, choose the values that get trials", phrase.Count(n, "slice"), number.Minutes(take)))
		}
	}
	for _, q := range s.Spec.Quotas {
		if q != nil && s.Spec.Target.Pods == nil {
			facts = append(facts, beyondCPUs(*q, s)...)
		}
	}
	facts = append(facts, unjudged(s)...)
	if s.Spec.Profile != "" {
		facts = append(facts, "then profiles of the verdict's value and of the default")
	}
	return factLines(append(facts, "results in "+s.Dir))
}

// factLines are the facts of a plan, each on a line of its own below the first.
func factLines(facts []string) string {
	w := terminal.NewWriter(0, false)
	w.Paragraph("", "    ", facts[0])
	for _, fact := range facts[1:] {
		w.Paragraph("  ", "    ", fact)
	}
	return strings.TrimSuffix(w.String(), "\n")
}

// beyondCPUs is that this machine's CPUs keep anything from reaching a CPU limit, if they do.
func beyondCPUs(limit float64, s *session.Session) []string {
	cpus := s.Header.TargetHost.EffectiveCPUs
	if cpus <= 0 || limit <= cpus {
		return nil
	}
	return []string{fmt.Sprintf("a limit of %s limits nothing here: procfit may use %s", number.CPUs(limit), number.CPUs(cpus))}
}

func grid(s *session.Session) []string {
	tasks := s.Trials()
	trials := phrase.Count(tasks, "trial")
	if s.Done > 0 && !s.Ended {
		trials += fmt.Sprintf(", %d of them done", s.Done)
	}
	if s.Spec.Target.Attach != nil {
		return []string{trials + ", about " + number.Minutes(s.Spec.Each()*time.Duration(tasks-s.Done))}
	}
	twice := "one"
	if n := len(s.Plan.AA); n != 1 { // of each group
		twice = strconv.Itoa(n)
	}
	blocks := fmt.Sprintf("%s of %s, %s of them twice", phrase.Count(s.Plan.Blocks, "block"), phrase.Count(len(s.Plan.Settings), "setting"), twice)
	facts := []string{blocks}
	if s.Plan.SmallestFor {
		facts = append(facts, fmt.Sprintf("every value equally often: which is the smallest that carries %s req/s", number.Count(s.Spec.Load.Rate)))
	}
	switch {
	case s.Ended:
		trials += ", all of them done"
	case s.Spec.Each() > 0:
		trials += aboutTime(s, tasks-s.Done)
	default:
		facts = append(facts, untimed)
	}
	return append([]string{trials}, facts...)
}

const untimed = "the first trials will show how long it takes"

func aboutTime(s *session.Session, trials int) string {
	each, most := s.Spec.Each(), s.Spec.EachAtMost()
	text := ", about " + number.Minutes(each*time.Duration(trials))
	if s.Plan.Pilots > 0 && most > each {
		text += " (up to " + number.Minutes(most*time.Duration(trials)) + " with a slow server)"
	}
	return text
}

// stepWords are of the steps of a Runner that have the same words each time.
var stepWords = map[plan.Step]string{
	plan.StepUnseen:     "here only throughput and latency are measured: the live GOMAXPROCS, the kernel's counters, quotas and lists of CPUs need Linux",
	plan.StepArrange:    "two trials show how many CPUs of its own the load generator needs; --cpus load=shared leaves it on the target's",
	plan.StepStart:      "starting",
	plan.StepReady:      "waiting until it is ready",
	plan.StepWarmup:     "warm-up",
	plan.StepClosedLoop: "closed loop",
	plan.StepPrepare:    "preparing",
	plan.StepNeighbour:  "starting the --beside command",
	plan.StepRun:        "running",
}

func activity(a plan.Activity) string {
	switch a.Step {
	case plan.StepOthers:
		return fmt.Sprintf("other programs use %s that the target may use, so the target has less CPU time in every trial", a.Others)
	case plan.StepUnjudged:
		return shortfall(*a.Shortfall)
	case plan.StepCompile:
		return "compiling " + a.Detail
	case plan.StepNode:
		return "waiting for node " + a.Detail + ", which is not ready"
	case plan.StepOpenLoop:
		return "open loop at " + number.Count(a.RatePerSecond) + " req/s"
	case plan.StepLoadCommand:
		return "load: " + a.Detail
	case plan.StepBusy:
		if a.Waited > 0 {
			return fmt.Sprintf("still waiting: other programs use %s, at most %s more", a.Others, number.Clock(a.Left))
		}
		return fmt.Sprintf("other programs use %s and left the last trials too little CPU time to compare them: waiting until these programs stop, at most %s on top of --for", a.Others, number.Minutes(a.Left))
	case plan.StepSlow:
		return fmt.Sprintf("the machine itself was %.0f%% slower, or changed its speed, during %s: procfit measures others instead, and uses such trials only if later ones show that the program does not depend on this", 100*a.Share, numbered(a.Trials))
	case plan.StepListens:
		return fmt.Sprintf("the program has not ended yet and listens at %s: if it is a server, which never ends, press Ctrl-C and add --url http://%s/", a.Detail, a.Detail)
	case plan.StepProfile:
		text := "profiling GOMAXPROCS " + a.Detail
		if a.Left > 0 {
			text += " for " + number.Minutes(a.Left)
		}
		return text
	case plan.StepSliced:
		if a.Detail != "" {
			return "every value is measured in starts of its own, since " + inOneLine(a.Detail)
		}
		return "after the slices of one start, these values get trials: GOMAXPROCS " + phrase.And(a.Values)
	case plan.StepResize:
		return fmt.Sprintf("CPU limit %s, under %s req/s", number.BareCPUs(a.CPUs), number.Count(a.RatePerSecond))
	}
	return cmp.Or(stepWords[a.Step], string(a.Step))
}

// numbered are trials by their numbers: "trial 20", "trials 16 to 20".
func numbered(trials []int) string {
	n := len(trials)
	switch {
	case n == 1:
		return fmt.Sprintf("trial %d", trials[0])
	case n > 2 && trials[n-1]-trials[0] == n-1:
		return fmt.Sprintf("trials %d to %d", trials[0], trials[n-1])
	}
	return "trials " + phrase.And(phrase.Each(trials, strconv.Itoa))
}

// arrangement says where target and load run; nothing where they share what there is.
func arrangement(s *session.Session) []string {
	host := s.Header.TargetHost
	if split := s.Spec.Split; split != nil {
		target, load := len(split.Target), len(split.Load)
		return []string{fmt.Sprintf("on %d of %d CPUs; the load generator has %d", target, target+load, load)}
	}
	if s.Spec.ApartOn(host.EffectiveCPUs) {
		return []string{fmt.Sprintf("on the CPUs of %d that the load generator leaves, once two trials have shown what it needs", host.AffinityCPUs)}
	}
	return nil
}

// unjudged reports under which CPU limits the p99 will not be judged, and what would
// do; nothing where it will be, or where only the first trials can tell.
func unjudged(s *session.Session) (list []string) {
	quotas := s.Spec.Quotas
	if len(quotas) == 0 {
		quotas = []*float64{nil}
	}
	for _, q := range quotas {
		if short := s.Spec.Shortfall(s.Spec.Load.Rate, q != nil); short != nil {
			text := shortfall(*short)
			if len(quotas) > 1 && q != nil {
				text += fmt.Sprintf(" (limit %g)", *q)
			}
			list = append(list, text)
		}
	}
	return list
}

func shortfall(s plan.Shortfall) string {
	one, many := " request", " requests"
	if s.Periods() {
		one, many = " period of the CPU limit", " periods of the CPU limit"
	}
	of := number.Count(float64(s.Have)) + many
	if s.Have == 1 {
		of = "1" + one
	}
	return fmt.Sprintf("p99 will not be judged: %s in %s; use --trial-time %s", of, number.Short(number.Seconds(s.In.Seconds())), number.Typed(s.Duration))
}

// raceFields are the flags of a measurement that ends when its answer is there.
var raceFields = []string{"until", "for"}

// setBudget makes the sweep a race, unless the flags ask for what only a grid shows.
func (m *measurement) setBudget(spec *plan.Spec) error {
	grid := m.wantsGrid(*spec)
	for _, flag := range raceFields {
		if grid != "" && m.Has(flag) {
			return usageError("--%s has no effect with %s, which measures every setting equally often; use only one of them", flag, grid)
		}
	}
	if grid == "" {
		race := m.spec.Race
		spec.Budget, spec.Slices = &race, steer.Supported
	}
	return nil
}

// wantsGrid is what asks for a grid, if anything does. The smallest setting that
// carries a rate may be one that no race for the best would look at again, and an earlier
// sweep is compared setting by setting. Within an objective, --rate only asks which is the cheapest, and with
// variables, or of a gate, it only is the rate of the open loop.
func (m *measurement) wantsGrid(spec plan.Spec) string {
	switch {
	case m.Has("repeats"):
		return "--repeats"
	case spec.Load.Rate > 0 && spec.Load.SLO == nil && len(spec.Vary) == 0 && !m.gate:
		return fmt.Sprintf("--rate %g", spec.Load.Rate)
	case m.baseline != "":
		return "the earlier sweep " + m.baseline
	}
	return ""
}

// checkBudget refuses a budget that ends before anything can be compared.
func checkBudget(s *session.Session) error {
	if !s.Plan.Racing() {
		return nil
	}
	trials, takes := fewest(s)
	if s.Plan.MaxTrials < trials {
		return usageError("--until trials=%d: before anything can be compared it takes %s", s.Plan.MaxTrials, phrase.Count(trials, "trial"))
	}
	if most := s.Spec.Budget.MaxTime; most > 0 && most < takes {
		return usageError("--for %s: before anything can be compared it takes %s, about %s; for example --for %s is enough", number.Typed(most), phrase.Count(trials, "trial"), number.Minutes(takes), number.Typed(enough(s)))
	}
	return nil
}

// fewest is how many trials a race takes at least, and how long. Slices of one start may leave two
// values, of which one is the default, and a pilot in that start takes about a second.
func fewest(s *session.Session) (trials int, takes time.Duration) {
	trials = plan.Fewest(s.Header)
	if !s.Plan.Slices {
		return trials, time.Duration(trials) * s.Spec.Each()
	}
	pilots := plan.Pilots(s.Plan)
	_, slices := plan.Slices(s.Plan)
	after := min(2, trials-pilots)
	return pilots + after, time.Duration(after)*s.Spec.Each() + slices + time.Duration(pilots)*time.Second
}

// enough is a --for that holds a race's first trials, in whole minutes where it is one or more.
func enough(s *session.Session) time.Duration {
	unit := time.Minute
	_, takes := fewest(s)
	if takes < unit {
		unit = time.Second
	}
	return (takes + unit - 1).Truncate(unit)
}

func (m *measurement) race(s *session.Session) []string {
	if s.Ended && s.OutOfTime() {
		return []string{phrase.Count(s.Done, "trial") + " done, and the time of --for is used up: a longer --for continues"}
	}
	if s.Ended {
		return []string{phrase.Count(s.Done, "trial") + ", all of them done"}
	}
	// A block that was begun is completed, whatever the budget is now.
	trials := max(s.Plan.MaxTrials, s.Done+s.Missing())
	left, most := s.Spec.Each()*time.Duration(trials-s.Done), s.TimeLeft()
	text, more, done := "at most "+phrase.Count(trials, "trial"), "", ""
	if s.Done > 0 {
		text, more, done = text+fmt.Sprintf(", %d of them done", s.Done), " more", "; "+phrase.Count(s.Done, "trial")+" done"
	}
	switch {
	case most != nil && (left == 0 || *most == 0): // how many trials that is, nobody knows yet
		text = "at most " + number.Minutes(*most) + more + " and what is running then" + done
	case most != nil && *most < left: // the time ends it first
		text = fmt.Sprintf("at most %s%s, about %s%s", number.Minutes(*most), more, phrase.Count(int(math.Ceil(float64(*most)/float64(s.Spec.Each()))), "trial"), done)
	case left > 0:
		text += aboutTime(s, trials-s.Done)
	}
	ends := "usually fewer: it ends once the gate is decided"
	if !s.Plan.GateAgainst {
		ends = fmt.Sprintf("usually fewer: it ends once the answer is %s", s.Plan.Goal)
	}
	switch {
	case left == 0 && most == nil:
		return []string{text, ends, untimed}
	case most == nil && left > longPlan:
		if ways := m.sooner(s, left); ways != nil {
			return []string{text, ends, "to end sooner: " + phrase.Or(ways)}
		}
	}
	return []string{text, ends}
}

// sooner is how a long plan is made to end sooner: by what it does not do already.
func (m *measurement) sooner(s *session.Session, left time.Duration) (list []string) {
	if bound := max(enough(s), longPlan); bound < left && m.takes("for", number.Typed(bound)) {
		list = append(list, "--for "+number.Typed(bound))
	}
	if s.Plan.Goal != "likely" && m.takes("until", "likely") {
		list = append(list, "--until likely")
	}
	return list
}

// takes reports whether a flag with this text can be added to the command line: the settings of a
// fleet's services are in its file.
func (m *measurement) takes(name, text string) bool { return m.again == "" && m.Takes(name, text) }

// patience is how to wait longer for other programs, or not at all, behind what they use.
func (m *measurement) patience() string {
	if !m.takes("timeout", "quiet=10m") {
		return ""
	}
	return "; --timeout quiet=10m waits longer, --timeout quiet=0s measures anyway"
}

// longPlan is a time for which somebody who waits wants to know how to wait less.
const longPlan = 3 * time.Minute

// countTrials is how many trials there are, and of how many where these end the run and not --for.
func countTrials(p plan.Progress) string {
	switch {
	case p.Bound > 0:
		return strconv.Itoa(p.Done)
	case p.AtMost:
		return fmt.Sprintf("%d of at most %d", p.Done, p.Total)
	}
	return fmt.Sprintf("%d/%d", p.Done, p.Total)
}

// counted is countTrials with its unit, where it is a number alone.
func counted(p plan.Progress) string {
	if p.Bound > 0 {
		return phrase.Count(p.Done, "trial")
	}
	return countTrials(p)
}
