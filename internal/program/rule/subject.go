package rule

import (
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

// SetBy is the source of a program's GOMAXPROCS.
type SetBy string

const (
	SetByAuto    SetBy = "auto"    // the runtime's default
	SetByEnv     SetBy = "env"     // the environment variable
	SetByCode    SetBy = "code"    // a call of runtime.GOMAXPROCS
	SetByOutside SetBy = "outside" // a call that is not in the program: procfit set, a debugger
	SetByUnknown SetBy = "unknown" // not seen, or there are several explanations
)

// Place is where a Subject was found. Fields that do not apply are empty.
type Place struct {
	Path      string `json:"path,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	Object    string `json:"object,omitempty"` // of a manifest: "Deployment/api"
	Container string `json:"container,omitempty"`
	PID       int    `json:"pid,omitempty"`
}

// Observed is what is seen of one program. Each field can be absent, empty or unknown;
// they can be filled in any order.
type Observed struct {
	Place
	Name  string      // of the process or program, for display
	Facts facts.Facts // GoVersion and DefaultGODEBUG are the program's

	// Language is the go line of its go.mod, if it is known. A program on disk shows it
	// only through DefaultGODEBUG.
	Language     string
	Automaxprocs string      // the version of go.uber.org/automaxprocs in it; "": none is seen
	Required     bool        // its go.mod requires automaxprocs, and whether it imports that is not seen
	MaySet       string      // what in the program may set GOMAXPROCS, in words; "": nothing known
	SetsOwn      bool        // its code sets a value that is not known, as in a what-if about a process
	Follows      bool        // it imports maxprocs/auto; of a process, whose value is seen, false
	Live         *int        // GOMAXPROCS read from the process
	LiveSource   string      // how: "symbol" or "decoded"; "": the process is procfit itself
	Mapped       string      // its executable is not Go's, and has mapped this file, which is; "": the executable is
	Library      bool        // that file is a shared library, and no program
	NumCPU       int         // what its runtime counted at start; 0: not known
	NeverSets    bool        // its code is known to have no call that sets GOMAXPROCS
	Watches      bool        // it has code of maxprocs that sets GOMAXPROCS and then follows its limits
	LentUntil    time.Time   // when procfit is to give the value before back; zero: it lends none
	Leased       bool        // it lends it by a lease of maxprocs/live, whose end it moves
	Custom       *bool       // whether its runtime says that env or code set the value; nil: not known
	Throttling   *Throttling // of the cgroup that was throttled most; nil: no limit, or not known
	Faults       *Faults     // page faults that read from a disk; nil: not known

	// AnyMachine is set for a program in a file: the CPUs of the machine that it will
	// run on are not known, and are assumed to be more than any limit.
	AnyMachine bool
	Reserve    float64  // CPUs reserved for others under the same limit, such as a sidecar
	Recorded   bool     // it was read from a tree of files, see explain --root
	Foreign    bool     // it is a program of others, so that its source and its build cannot be changed
	Meant      bool     // what starts it means its value, as containerd does that of its shims
	Written    *Written // how a file sets the variable; nil: not from a file

	Shared   bool      // other Go programs are under the same limit, which is not only its own
	Together *Together // the limit that it shares, where all under it have more Ps than it; nil: none is known

	Expected      *Expected // what a measurement decided for it; nil: nothing is kept with it
	ExpectedWrong string    // why what is kept with it cannot be read

	NotGo          bool   // it is known not to be a Go program; no rule judges it
	ProgramUnknown string // why the program could not be read
	LiveUnknown    string // why the live value of a process could not be read
}

// automaxprocs is a module that sets GOMAXPROCS when it is imported.
const automaxprocs = "go.uber.org/automaxprocs"

// AutomaxprocsIn is the version of go.uber.org/automaxprocs among a program's modules, or
// empty.
func AutomaxprocsIn(deps []*debug.Module) string {
	for _, d := range deps {
		if d.Path == automaxprocs {
			return d.Version
		}
	}
	return ""
}

// Subject is one program as the rules see it: what is observed, and what follows from
// it. Make it with [NewSubject]; to change what was observed, make a new one, unless nothing
// but findings follows from it: Throttling, Faults, Shared and Together.
type Subject struct {
	Observed

	Go    facts.Decision // what its own runtime decides
	Fit   facts.Decision // the recommended value for its CPUs
	SetBy SetBy

	// Whether this runtime follows the limit of its own cgroup when the environment does not set
	// GOMAXPROCS, and whether its release would with its own default settings.
	readsLimit, releaseReadsLimit bool
}

// NewSubject computes everything that follows from what was observed.
func NewSubject(o Observed) Subject {
	s := Subject{Observed: o}
	if s.AnyMachine {
		s.Facts.Affinity = facts.Fact{State: facts.Known, CPUs: standIn, File: "any machine"}
	}
	s.Go = s.goDecision(s.Facts)
	s.Fit = facts.Decide(s.Facts, facts.Fit{Reserve: s.Reserve})
	s.readsLimit = facts.Go{Language: o.Language}.ReadsLimit(o.Facts)
	plain := o.Facts
	plain.DefaultGODEBUG, plain.GODEBUG = "", facts.Fact{}
	s.releaseReadsLimit = facts.Go{}.ReadsLimit(plain)
	s.SetBy = setBy(s)
	// A program without a call of runtime.GOMAXPROCS was made to call it, and so was one to which
	// procfit lends the value.
	if s.SetBy == SetByCode && (s.NeverSets && s.Automaxprocs == "" || !s.LentUntil.IsZero()) {
		s.SetBy = SetByOutside
	}
	return s
}

// unlessSet ends a sentence about the runtime, for a program that may set another value.
func (s Observed) unlessSet() string {
	if s.MaySet == "" || s.Live != nil {
		return ""
	}
	return ", unless the program sets GOMAXPROCS itself: " + s.MaySet
}

// goDecision is that of maxprocs/auto, if the program imports it, where a limit that its runtime ignores
// is the tightest.
func (s Observed) goDecision(f facts.Facts) facts.Decision {
	runtime := facts.Go{Language: s.Language}
	d := facts.Decide(f, runtime)
	own, _ := f.Own()
	tight, limited := f.Tightest()
	if !s.Follows || !limited || runtime.ReadsLimit(f) && own.State == facts.Known && own.CPUs == tight.CPUs ||
		slices.ContainsFunc(d.Candidates, func(c facts.Candidate) bool { return c.What == facts.KindEnv }) {
		return d
	}
	if lower := facts.Decide(f, facts.Fit{}); lower.Procs < d.Procs {
		return lower
	}
	return d
}

// Lent is until when its value is one that procfit lends: " until 14:32", or " by a lease"; empty: it
// lends none. After that, procfit is still trying to give the old value back.
func (s Observed) Lent() string {
	until := s.LentUntil.Local()
	switch {
	case s.LentUntil.IsZero():
		return ""
	case s.Leased:
		return " by a lease"
	case time.Until(until) < 0:
		return until.Format(" until after 15:04")
	case time.Until(until) > 12*time.Hour:
		return until.Format(" until 2 January, 15:04")
	}
	return until.Format(" until 15:04")
}

// setBy infers the source of the value without a look at the code. A valid value in the
// environment ends the default for good, so that only a call can have changed it.
func setBy(s Subject) SetBy {
	live, known := s.Procs()
	_, env := s.EnvProcs()
	switch {
	case !known:
		return SetByUnknown
	case s.Live != nil && s.Custom != nil && !*s.Custom:
		return SetByAuto
	case env && live == s.Go.Procs:
		return SetByEnv
	case env:
		return SetByCode
	case s.Facts.Env.State == facts.Unreadable:
		return SetByUnknown
	case s.Live != nil && s.Custom != nil:
		return SetByCode
	case s.automaxprocsActs() && live != s.Go.Procs:
		return SetByCode
	case s.automaxprocsActs():
		return SetByUnknown // it may have set the same value as the default
	case live == s.Go.Procs:
		return SetByAuto
	case s.Live != nil && s.NumCPU > 0 && !s.readsLimit:
		// Such a runtime uses the CPUs that it counts at start.
		if live == s.NumCPU {
			return SetByAuto
		}
		return SetByCode
	}
	return SetByUnknown
}

// Procs is the GOMAXPROCS to judge: the live value, or else the value that its runtime
// will choose. It is not known if neither could be read.
func (s Subject) Procs() (n int, known bool) {
	if s.Live != nil {
		return *s.Live, true
	}
	if s.ProgramUnknown != "" || s.SetsOwn || s.Facts.Env.State == facts.Unreadable {
		return 0, false
	}
	if _, env := s.EnvProcs(); env {
		return s.Go.Procs, true
	}
	if s.Go.Outcome == facts.Dies || s.LiveUnknown != "" && s.Facts.GoVersion == "" {
		return 0, false // of a process that does not show its release, either, as one that garble has built
	}
	// Without any CPU count the decision is a guess, and automaxprocs, if it is linked
	// in, may override the runtime.
	return s.Go.Procs, s.seesMachine() && !s.automaxprocsActs()
}

// automaxprocsActs reports whether automaxprocs is linked in and may set the value. With any
// GOMAXPROCS in the environment, also one that the runtime ignores, it does nothing.
func (s Subject) automaxprocsActs() bool {
	return s.Automaxprocs != "" && s.Facts.Env.State != facts.Known && !s.automaxprocsTooOld()
}

// automaxprocsTooOld reports whether the automaxprocs in it does not read the cgroups here. Of a
// program in a file it is not known which cgroups it will have.
func (s Subject) automaxprocsTooOld() bool {
	return !s.AnyMachine && !facts.Automaxprocs{Release: s.Automaxprocs}.ReadsLimit(s.Facts)
}

// ByCall is what set the value of a program whose SetBy is SetByCode: with automaxprocs in it, nobody sees
// which call it was.
func (s Subject) ByCall() string {
	if s.automaxprocsActs() {
		return "by go.uber.org/automaxprocs or another call of runtime.GOMAXPROCS"
	}
	return "by a call of runtime.GOMAXPROCS"
}

// Overridden is the valid value of the environment, if the program uses another one.
func (s Subject) Overridden() (n int, yes bool) {
	n, counts := s.EnvProcs()
	return n, counts && s.Live != nil && *s.Live != n
}

// FollowsLimit reports whether its runtime follows the limit of its own cgroup if nothing
// else sets the value.
func (s Subject) FollowsLimit() bool { return s.readsLimit }

// MissesLimit reports whether its runtime, although it follows the limit of its cgroup, uses
// all CPUs: then it does not see the limit, as in a sandbox that denies it
// /proc/self/mountinfo. It reads the limit every second, and every minute while the program
// is idle (half of forcegcperiod, in sysmon), so that no change of the limit explains that
// for long.
func (s Subject) MissesLimit() bool {
	return s.SetBy == SetByAuto && s.aboveItsLimit()
}

// behind reports whether its runtime follows its CPUs by itself, and has not done so yet: an
// idle one looks once a minute.
func (s Subject) behind() bool {
	return s.Live != nil && s.SetBy == SetByAuto && s.FollowsChanges() && *s.Live != s.Go.Procs && !s.MissesLimit()
}

// aboveItsLimit reports whether it uses all CPUs, and its runtime, which follows the limit,
// would use fewer.
func (s Subject) aboveItsLimit() bool {
	if s.Live == nil || !s.FollowsChanges() || ownLimit(s.Facts) == nil {
		return false
	}
	n, would := *s.Live, s.Unset()
	return would > 0 && n > would && (n == s.NumCPU || n == s.Facts.AffinityCPUs())
}

// longestEnv is the length at which a variable is cut, in characters.
const longestEnv = 40

// env is the variable as it was written, shortened for a message.
func (s Subject) env() string { return phrase.Clip(s.Facts.Env.Raw, longestEnv+1) }

// EnvProcs is the value of GOMAXPROCS in the environment, if it is valid.
func (s Subject) EnvProcs() (n int, counts bool) {
	for _, c := range s.Go.Candidates {
		if c.What == facts.KindEnv {
			return c.Procs, true
		}
	}
	return 0, false
}

// Unset is what the runtime would choose without the variable; 0: it would crash.
func (s Subject) Unset() int {
	f := s.Facts
	f.Env = facts.Fact{State: facts.Absent}
	return s.goDecision(f).Procs
}

// withoutEnv is Unset in words.
func (s Subject) withoutEnv() string {
	if n := s.Unset(); n > 0 {
		return "without it the runtime chooses " + value(n)
	}
	return "without it the runtime crashes at start"
}

// Uses is the beginning of a sentence about the value.
func (s Subject) Uses(n int) string {
	verb := "will use "
	switch {
	case s.Live != nil:
		verb = "uses "
	case s.LiveUnknown != "":
		verb = "seems to use " // it runs, but its memory could not be read
	}
	return verb + setting(n)
}

// standIn is the number of CPUs of a machine that is not known.
const standIn = 1 << 30

// EveryCPU reports whether the value is the number of CPUs of its machine, which is not
// known.
func (s Subject) EveryCPU(n int) bool { return s.AnyMachine && n >= standIn }

// sized reports whether it is known how many CPUs it can use.
func (s Subject) sized() bool {
	have := s.Facts.EffectiveCPUs()
	return have > 0 && !(s.AnyMachine && have >= standIn)
}

// usable is the number of CPUs that it can use, without those reserved for others; 0: not
// known.
func (s Subject) usable() float64 { return max(0, s.Facts.EffectiveCPUs()-s.Reserve) }

// setting is a value with its name.
func setting(n int) string {
	if n >= standIn {
		return "all CPUs of its machine"
	}
	return "GOMAXPROCS=" + strconv.Itoa(n)
}

// value is a value that somebody chooses.
func value(n int) string {
	if n >= standIn {
		return "all CPUs of the machine"
	}
	return strconv.Itoa(n)
}

// seesMachine reports whether the Subject is on a known machine; a program on disk is not.
func (s Subject) seesMachine() bool { return s.Facts.AffinityCPUs() > 0 }

// Limit is the tightest limit, if it is lower than the affinity.
func (s Subject) Limit() (facts.Limit, bool) {
	l, ok := s.Facts.Tightest()
	return l, ok && (!s.seesMachine() || l.CPUs < float64(s.Facts.AffinityCPUs()))
}

func (s Subject) tooMany() bool {
	n, known := s.Procs()
	return known && n > s.Fit.Procs
}
