package facts

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/maxprocs/internal/fit"
)

// Policy is a rule that turns Facts into a GOMAXPROCS. This package defines all of
// them: Go, Automaxprocs, JVM and Fit.
type Policy interface {
	// Name is the policy's name on the command line and in JSON.
	Name() PolicyName
	decide(Facts) Decision
}

// PolicyName is the name of a policy.
type PolicyName string

const (
	PolicyGo           PolicyName = "go"
	PolicyFit          PolicyName = "fit"
	PolicyAutomaxprocs PolicyName = "automaxprocs"
	PolicyJVM          PolicyName = "jvm"
)

// Outcome is what happens to a program.
type Outcome string

const (
	Runs Outcome = ""     // with Procs
	Dies Outcome = "dies" // its runtime crashes at start, so there is no number
)

// Decision is the result of a policy. Equal Facts and policies give equal Decisions.
type Decision struct {
	Policy     PolicyName
	Outcome    Outcome
	Procs      int // at least 1; 0 if it does not run
	Candidates []Candidate
	Reasons    []string // in the order of the steps
	Unknown    []string // what should have been used but could not be read
}

// Candidate is a number that the policy considered.
type Candidate struct {
	What   Kind
	CPUs   float64 // before rounding
	Procs  int
	File   string
	Raw    string
	Winner bool
}

// Kind is the source of a Candidate's number.
type Kind string

const (
	KindEnv      Kind = "env"      // GOMAXPROCS in the environment
	KindAffinity Kind = "affinity" // the CPUs that the process may run on, or 1 if they are not known
	KindLimit    Kind = "limit"    // a cgroup's CPU limit
	KindDefault  Kind = "default"  // 1, in releases before Go 1.5
	KindOption   Kind = "option"   // an option of the policy itself
)

// Decide applies the policy. It reads nothing and changes nothing.
func Decide(f Facts, p Policy) Decision { return p.decide(f) }

// String formats the decision for a log or a terminal, with one reason per line.
func (d Decision) String() string {
	if d.Outcome == Dies {
		return fmt.Sprintf("%s: crashes at start\n  %s", d.Policy, strings.Join(d.Reasons, "\n  "))
	}
	return fmt.Sprintf("%s: GOMAXPROCS=%d\n  %s", d.Policy, d.Procs, strings.Join(d.Reasons, "\n  "))
}

func newDecision(p Policy, f Facts) Decision {
	return Decision{Policy: p.Name(), Candidates: []Candidate{}, Reasons: []string{}, Unknown: append([]string{}, f.Unknown()...)}
}

func (d *Decision) because(format string, args ...any) {
	d.Reasons = append(d.Reasons, fmt.Sprintf(format, args...))
}

func (d *Decision) add(c Candidate) { d.Candidates = append(d.Candidates, c) }

// win ends the decision with the last candidate of the kind.
func (d *Decision) win(what Kind, procs int) Decision {
	d.Procs = procs
	for i := len(d.Candidates) - 1; i >= 0; i-- {
		if d.Candidates[i].What == what {
			d.Candidates[i].Winner = true
			break
		}
	}
	return *d
}

// addCPUs adds the affinity: what a process without a limit may use. If nothing is
// known it is 1, as in the runtime.
func (d *Decision) addCPUs(f Facts) int {
	cpus, ok := f.cpus()
	n := 1
	if ok && cpus.CPUs > 1 {
		n = fit.Int(cpus.CPUs)
	}
	switch {
	case !ok:
		d.because("neither the affinity nor the online CPUs are known; without a limit, 1 is safe")
	case f.Affinity.State != Known:
		d.because("the affinity is %s; %s online (%s)", f.Affinity.State, plural(n, "CPU is", "CPUs are"), cpus.File)
	default:
		d.because("it may run on %s (affinity, %s)", plural(n, "CPU", "CPUs"), cpus.File)
	}
	d.add(Candidate{What: KindAffinity, CPUs: float64(n), Procs: n, File: cpus.File, Raw: cpus.Raw})
	return n
}

func (l Limit) describe() string {
	raw := strings.TrimSpace(l.Raw)
	if l.PeriodFile != "" {
		raw += " ÷ " + strings.TrimSpace(l.PeriodRaw)
	}
	return fmt.Sprintf("%s: %q", l.File, raw)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// cpusText formats a number of CPUs without unnecessary digits.
func cpusText(cpus float64) string {
	return strconv.FormatFloat(math.Round(cpus*1e4)/1e4, 'f', -1, 64)
}

func countCPUs(cpus float64) string {
	if text := cpusText(cpus); text != "1" {
		return text + " CPUs"
	}
	return "1 CPU"
}

// Rounding is how a fraction of a CPU is rounded.
type Rounding = fit.Rounding

const (
	Ceil  = fit.Ceil  // the default: otherwise a fraction of a CPU would never be used
	Floor = fit.Floor // the default with a reserve, because rounding up would use the reserve
)

// Fit is the policy of package maxprocs: GOMAXPROCS is not higher than the CPUs that the
// process can use. It takes the tightest limit of all cgroups from the process's own to
// the root, or the affinity if that is lower, subtracts a reserve, and rounds. The zero
// value is the default.
//
// It differs from the runtime of Go 1.25 and later in two points. The runtime reads only
// the limit of the process's own cgroup, although the kernel also enforces those of its
// parents (golang/go#81180): in a cgroup of 20 CPUs below one of 1.5 CPUs it chooses 20.
// And the runtime never chooses less than 2, even for a limit of one CPU or less.
//
// Fit ignores the environment: it is for the caller to keep a valid GOMAXPROCS there.
type Fit struct {
	Rounding  Rounding // "": Floor with a reserve, otherwise Ceil
	Threshold float64  // above 0: the smallest fraction of a CPU that is rounded up; overrides Rounding
	Min       int      // below 1: 1; overrides Max, and applies only under a limit
	Max       int      // below 1: none
	Reserve   float64  // CPUs reserved for others under the same limit, such as a sidecar
}

// Name implements Policy.
func (Fit) Name() PolicyName { return PolicyFit }

func (p Fit) decide(f Facts) Decision {
	d := newDecision(p, f)
	cpus := float64(d.addCPUs(f))
	winner := KindAffinity
	for _, l := range f.Limits {
		switch l.State {
		case Known:
			d.because("%s limits it to %s", l.describe(), countCPUs(l.CPUs))
		case Unreadable, Malformed:
			d.because("the limit of %s is %s and is not used: %s", l.Dir, l.State, l.Error)
		}
	}
	if f.Cgroup.State == Unreadable || f.Cgroup.State == Malformed {
		d.because("its CPU limits cannot be found: %s", f.Cgroup.Error)
	}
	l, limited := f.Tightest()
	if limited {
		d.add(Candidate{What: KindLimit, CPUs: l.CPUs, Procs: fit.Rule(p).Round(l.CPUs), File: l.File, Raw: l.Raw})
		if _, seen := f.cpus(); l.CPUs < cpus || !seen {
			cpus, winner = l.CPUs, KindLimit
			d.because("the limit of %s is the tightest", l.Dir)
		} else {
			d.because("no limit is below its affinity")
		}
	}
	if p.Reserve > 0 {
		d.because("%s reserved for others: %s − %s", countCPUs(p.Reserve), cpusText(cpus), cpusText(p.Reserve))
		cpus = fit.Rule(p).Left(cpus)
	}
	n := fit.Rule(p).Round(cpus)
	if float64(n) != cpus && cpus > 0 {
		d.because("%s is rounded %s to %d", cpusText(cpus), p.roundingText(), n)
	}
	if p.Max > 0 && n > p.Max {
		d.because("%d is above the maximum of %d", n, p.Max)
		n = p.Max
	}
	if least := fit.Rule(p).Clamp(n, limited); n < least {
		d.because("%d is below the minimum of %d", n, least)
		n = least
	} else if n < p.Min {
		d.because("the minimum of %d applies only under a limit", p.Min)
	}
	return d.win(winner, n)
}

func (p Fit) roundingText() string {
	if p.Threshold > 0 {
		return "(up from " + cpusText(p.Threshold) + ")"
	}
	if p.Rounding == "" && p.Reserve > 0 {
		return "down (up would take the reserve back)"
	}
	return map[Rounding]string{Ceil: "up", Floor: "down"}[fit.Rule(p).Direction()]
}

// JVM is the policy of HotSpot's container support, as in JDK 24 and later. It does not
// apply to Go programs, but shows what a neighbor under the same limits uses. It rounds
// up the tightest limit of all cgroups, at most to the affinity, and ignores CPU shares
// (JDK-8281181).
type JVM struct {
	ActiveProcessorCount int // -XX:ActiveProcessorCount; 0: not given
}

// Name implements Policy.
func (JVM) Name() PolicyName { return PolicyJVM }

func (p JVM) decide(f Facts) Decision {
	d := newDecision(p, f)
	if p.ActiveProcessorCount > 0 {
		d.because("-XX:ActiveProcessorCount=%d overrides what it would find", p.ActiveProcessorCount)
		d.add(Candidate{What: KindOption, CPUs: float64(p.ActiveProcessorCount), Procs: p.ActiveProcessorCount})
		return d.win(KindOption, p.ActiveProcessorCount)
	}
	procs := d.addCPUs(f)
	l, ok := f.Tightest()
	if !ok {
		d.because("it finds no CPU limit")
		return d.win(KindAffinity, procs)
	}
	n := fit.Int(math.Max(1, math.Ceil(l.CPUs)))
	d.add(Candidate{What: KindLimit, CPUs: l.CPUs, Procs: n, File: l.File, Raw: l.Raw})
	d.because("%s limits it to %s; rounded up: %d", l.describe(), countCPUs(l.CPUs), n)
	if _, seen := f.cpus(); n < procs || !seen {
		return d.win(KindLimit, n)
	}
	d.because("that is not below its affinity")
	return d.win(KindAffinity, procs)
}
