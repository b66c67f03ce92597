package facts

import (
	"fmt"
	"math"
	"strconv"
	"strings"
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

// Outcomes returns all Outcomes.
func Outcomes() []Outcome { return []Outcome{Runs, Dies} }

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
	d := Decision{Policy: p.Name(), Candidates: []Candidate{}, Reasons: []string{}, Unknown: f.Unknown()}
	if d.Unknown == nil {
		d.Unknown = []string{}
	}
	return d
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
		n = toInt(cpus.CPUs)
	}
	switch {
	case !ok:
		d.because("neither the affinity nor the online CPUs are known; 1 is safe")
	case f.Affinity.State != Known:
		d.because("the affinity is %s; %s online (%s)", f.Affinity.State, plural(n, "CPU is", "CPUs are"), cpus.File)
	default:
		d.because("it may run on %s (affinity, %s)", plural(n, "CPU", "CPUs"), cpus.File)
	}
	d.add(Candidate{What: KindAffinity, CPUs: float64(n), Procs: n, File: cpus.File, Raw: cpus.Raw})
	return n
}

// describe says where a limit comes from.
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

// countCPUs is that number with its noun.
func countCPUs(cpus float64) string {
	if text := cpusText(cpus); text != "1" {
		return text + " CPUs"
	}
	return "1 CPU"
}

// toInt converts after rounding; very large limits saturate.
func toInt(cpus float64) int {
	if cpus > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(cpus)
}
