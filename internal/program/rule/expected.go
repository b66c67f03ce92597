package rule

import (
	"fmt"
	"go/version"
	"math"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

// ExpectedSchema is the version of an Expected in JSON.
const ExpectedSchema = "procfit.expected/v1"

// Expected is the value that a measurement decided for a program, kept next to the program
// with what the measurement holds for. Package expected makes and reads it.
type Expected struct {
	Schema    string   `json:"schema"`
	Program   string   `json:"program,omitempty"` // by which check finds it: the name of a container, of a service, or of a file
	Procs     int      `json:"procs"`
	LimitCPUs *float64 `json:"limit_cpus"` // null: it had no CPU limit
	CPUs      int      `json:"cpus"`       // that it could run on
	GoVersion string   `json:"go_version,omitempty"`
	// Requests are the rates at which it was measured.
	Requests *ExpectedRange `json:"requests_per_second,omitempty"`
	Measured string         `json:"measured"`         // the day: 2026-01-31
	Commit   string         `json:"commit,omitempty"` // of the program's source
	Again    []string       `json:"again,omitempty"`  // the words of procfit that measure it again
}

// ExpectedRange is from the lowest to the highest.
type ExpectedRange struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// MeasureAgain is the fix: the command that measures the value again.
func (e *Expected) MeasureAgain() string {
	if len(e.Again) == 0 {
		return "measure again with procfit sweep, and keep the new value: procfit report DIR -o expected"
	}
	return "measure again: procfit " + phrase.Shell(e.Again) + "; then keep the new value: procfit report DIR -o expected"
}

func (e *Expected) under() string {
	if e.LimitCPUs != nil {
		return "under a limit of " + number.CPUs(*e.LimitCPUs)
	}
	return "without a limit on " + number.CPUs(float64(e.CPUs))
}

// String is what the value was measured with, in words.
func (e *Expected) String() string {
	text := "measured on " + e.Measured + " " + e.under()
	if e.GoVersion != "" {
		text += ", with " + e.GoVersion
	}
	if r := e.Requests; r != nil {
		text += ", at " + number.Rate(r.Min) + " to " + number.Rate(r.Max) + " req/s"
	}
	if e.Commit != "" {
		text += "; commit " + e.Commit
	}
	return text
}

// Measured reports whether the expected value is the best one here, as far as is known: then
// it goes before what the CPUs alone suggest. It was measured without a reserve.
func (s Subject) Measured() bool {
	return s.Expected != nil && s.Reserve == 0 && len(s.outdated()) == 0
}

// best is the value that it should use: the measured one, or else the number of its CPUs.
func (s Subject) best() int {
	if s.Measured() {
		return s.Expected.Procs
	}
	return s.Fit.Procs
}

func checkExpected(s Subject) []Finding {
	e := s.Expected
	n, known := s.Procs()
	if e == nil || !known || n == e.Procs || s.EveryCPU(n) || s.Reserve > 0 {
		return nil
	}
	f := Finding{Message: fmt.Sprintf("%s, but the expected value is %d, measured on %s", s.Uses(n), e.Procs, e.Measured)}
	switch {
	case s.Lent() != "":
		f.Fix = s.afterOutside()
		return []Finding{f}
	case !s.Measured():
		f.Fix = s.expectedHere().MeasureAgain()
		return []Finding{f}
	case s.SetBy == SetByOutside:
		f.Fix = s.afterOutside()
	case s.SetBy == SetByCode && !s.automaxprocsActs(): // it overrides the environment
		f.Fix = s.orOutside(fmt.Sprintf("change its runtime.GOMAXPROCS call to use %d", e.Procs))
	default:
		f.Fix = setEnvTo(e.Procs)
	}
	or := ", or "
	if strings.Contains(f.Fix, ";") {
		or = "; or "
	}
	f.Fix += or + e.MeasureAgain()
	f.Now = s.now()
	return []Finding{f}
}

// expectedHere is the expected value with the command that measures it under the CPU limit that
// the program has now. A sweep in a cluster takes the limit from the pods.
func (s Subject) expectedHere() *Expected {
	e := *s.Expected
	if len(e.Again) == 0 || e.Again[0] != "sweep" {
		return &e
	}
	end := slices.Index(e.Again, "--")
	if end < 0 {
		end = len(e.Again)
	}
	var limits, words []string
	if l, limited := s.Limit(); limited {
		limits = []string{number.Exact(l.CPUs)}
	}
	for i := 1; i < end; i++ {
		name, value, joined := strings.Cut(e.Again[i], "=")
		if !slices.Contains([]string{"--limit", "--seed", "--out"}, name) {
			words = append(words, e.Again[i])
			continue
		}
		if !joined && i+1 < end {
			i++
			value = e.Again[i]
		}
		for item := range strings.SplitSeq(value, ",") {
			if name == "--limit" && strings.HasPrefix(item, "beside=") { // not its own
				limits = append(limits, item)
			}
		}
	}
	if limits != nil {
		words = slices.Insert(words, 0, "--limit", strings.Join(limits, ","))
	}
	e.Again = slices.Concat([]string{"sweep"}, words, e.Again[end:])
	return &e
}

func checkOutdated(s Subject) []Finding {
	if s.ExpectedWrong != "" {
		return []Finding{{
			Message: "its expected value cannot be read: " + s.ExpectedWrong,
			Fix:     "write it again: procfit report DIR -o expected",
		}}
	}
	var all []Finding
	for _, why := range s.outdated() {
		all = append(all, Finding{Message: why, Fix: s.expectedHere().MeasureAgain()})
	}
	return all
}

// outdated says what has changed since the expected value was measured. What is not known
// has not.
func (s Subject) outdated() (why []string) {
	e := s.Expected
	if e == nil {
		return nil
	}
	if text := s.otherCPUs(e); text != "" {
		why = append(why, fmt.Sprintf("%s, but its expected value was measured %s", text, e.under()))
	}
	now, then := version.Lang(s.goName()), version.Lang(e.GoVersion)
	if s.Facts.GoVersion != "" && now != "" && then != "" && now != then {
		why = append(why, fmt.Sprintf("it is built with Go %s, but its expected value was measured with Go %s", strings.TrimPrefix(now, "go"), strings.TrimPrefix(then, "go")))
	}
	return why
}

// Unread reports whether a fact may be there, and could not be read.
func Unread(f facts.Fact) bool { return f.State == facts.Unreadable || f.State == facts.Malformed }

// LimitsUnread reports whether there may be a CPU limit that could not be read.
func LimitsUnread(f facts.Facts) bool {
	return Unread(f.Cgroup.Fact) || slices.ContainsFunc(f.Limits, func(l facts.Limit) bool { return Unread(l.Fact) })
}

// otherCPUs says which CPUs it has now; empty: those that it was measured with, or that is
// not known. Under a limit, the CPUs of the machine above it do not count.
func (s Subject) otherCPUs(e *Expected) string {
	if len(s.Facts.Limits) == 0 && s.PID == 0 {
		return "" // a patch or a program in a file
	}
	limit, limited := s.Facts.Tightest()
	if LimitsUnread(s.Facts) {
		then := float64(e.CPUs)
		if e.LimitCPUs != nil {
			then = min(then, *e.LimitCPUs)
		}
		if limited && limit.CPUs < then-0.005 { // what is not known can only be less
			return "its CPU limit is " + number.CPUs(limit.CPUs)
		}
		return ""
	}
	machine := s.Facts.AffinityCPUs()
	known := machine > 0 && machine < standIn
	below := known && limited && float64(machine) <= limit.CPUs // the limit has no effect
	switch {
	case e.LimitCPUs == nil && limited && !below:
		return "its CPU limit is " + number.CPUs(limit.CPUs)
	case e.LimitCPUs == nil && known && machine != e.CPUs:
		return "it can use " + number.CPUs(float64(machine))
	case e.LimitCPUs == nil:
		return ""
	case !limited:
		return "it has no CPU limit"
	case math.Abs(limit.CPUs-*e.LimitCPUs) > 0.005:
		return "its CPU limit is " + number.CPUs(limit.CPUs)
	case known && float64(machine) < limit.CPUs:
		return "it can use " + number.CPUs(float64(machine))
	}
	return ""
}
