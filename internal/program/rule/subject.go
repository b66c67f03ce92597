package rule

import (
	"strconv"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

// SetBy says where a program's GOMAXPROCS comes from.
type SetBy string

const (
	SetByAuto    SetBy = "auto"    // the runtime's default
	SetByEnv     SetBy = "env"     // the environment variable
	SetByCode    SetBy = "code"    // a call of runtime.GOMAXPROCS
	SetByUnknown SetBy = "unknown" // not seen, or what is seen has several explanations
)

// Place is where a Subject was found. What does not apply is empty.
type Place struct {
	Path      string `json:"path,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	Object    string `json:"object,omitempty"` // of a manifest: "Deployment/api"
	Container string `json:"container,omitempty"`
	PID       int    `json:"pid,omitempty"`
}

// Observed is what is seen of one program. Each field is absent, empty or unknown
// by its own; they may be filled in any order.
type Observed struct {
	Place
	Name  string      // of the process or program, for people
	Facts facts.Facts // GoVersion and DefaultGODEBUG are the program's

	// Language is the go line of its go.mod, where that is known itself. Of a
	// program on disk only DefaultGODEBUG tells of it.
	Language     string
	Automaxprocs string      // the version of go.uber.org/automaxprocs in it; "" when none is seen
	MaySet       string      // what in the program may set GOMAXPROCS, in words; "": nothing is known to
	Live         *int        // GOMAXPROCS read from the process
	LiveSource   string      // how: "symbol" or "decoded"; "" where the process was asked itself
	NumCPU       int         // what its runtime counted when it started; 0: not known
	Custom       *bool       // its runtime holds that the value was set, by env or code; nil: not known
	Throttling   *Throttling // by the group that was held back most; nil without a limit, or not known

	// AnyMachine is of a program in a file: the CPUs of the machine that it will run
	// on are not known, and are taken for more than any limit.
	AnyMachine bool
	Reserve    float64  // CPUs that are left to others in the same limit, a sidecar say
	Foreign    bool     // others wrote the program, so that its source and its build are not at hand
	Written    *Written // how a file sets the variable; nil: no file was read

	NotGo          bool   // it is known to be no Go program; no rule judges it
	ProgramUnknown string // why the program could not be read
	LiveUnknown    string // why the live value of a process could not be read
}

// Subject is one program as the rules see it: what is observed, and what follows
// from it. Only [NewSubject] makes one that can be judged; to change what was
// observed, make a new one.
type Subject struct {
	Observed

	Go    facts.Decision // what its own runtime decides
	Fit   facts.Decision // what suits its CPUs
	SetBy SetBy

	// Whether this runtime follows the limit of its own group, and whether its
	// release does with all settings as new as the release.
	readsLimit, releaseReadsLimit bool
}

// NewSubject draws from what was observed all that follows from it.
func NewSubject(o Observed) Subject {
	s := Subject{Observed: o}
	if s.AnyMachine {
		s.Facts.Affinity = facts.Fact{State: facts.Known, CPUs: standIn, File: "any machine"}
	}
	s.Go = s.goDecision(s.Facts)
	s.Fit = facts.Decide(s.Facts, facts.Fit{Reserve: s.Reserve})
	s.readsLimit, s.releaseReadsLimit = readLimits(o)
	s.SetBy = setBy(s)
	return s
}

// unlessSet ends a sentence about what the runtime does, of a program that may do
// otherwise.
func (o Observed) unlessSet() string {
	if o.MaySet == "" || o.Live != nil {
		return ""
	}
	return ", unless it sets another itself: " + o.MaySet
}

func (s Observed) goDecision(f facts.Facts) facts.Decision {
	return facts.Decide(f, facts.Go{Language: s.Language})
}

// setBy infers where the value comes from. An env value that counts ends the
// default for good, so that only code can have changed it.
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
	case s.Automaxprocs != "" && live != s.Go.Procs:
		return SetByCode
	case s.Automaxprocs != "":
		return SetByUnknown // it may have set the very value of the default
	case live == s.Go.Procs:
		return SetByAuto
	case s.Live != nil && s.NumCPU > 0 && !s.readsLimit:
		// Such a runtime takes the CPUs that it counts, once.
		if live == s.NumCPU {
			return SetByAuto
		}
		return SetByCode
	}
	return SetByUnknown
}

// Procs is the GOMAXPROCS to judge: the live one, else the one that its runtime
// decides. It is not known where the process, and what its runtime decides by,
// could not be read.
func (s Subject) Procs() (n int, known bool) {
	if s.Live != nil {
		return *s.Live, true
	}
	if s.ProgramUnknown != "" || s.Facts.Env.State == facts.Unreadable {
		return 0, false
	}
	if _, env := s.EnvProcs(); env {
		return s.Go.Procs, true
	}
	if s.Go.Outcome == facts.Dies {
		return 0, false
	}
	// Without any CPU count the decision is a guess, and where automaxprocs is
	// linked in the runtime has not the last word.
	return s.Go.Procs, s.seesMachine() && s.Automaxprocs == ""
}

// Overridden is the value of the environment where it counts and another is live.
func (s Subject) Overridden() (n int, yes bool) {
	n, counts := s.EnvProcs()
	return n, counts && s.Live != nil && *s.Live != n
}

// FollowsLimit tells that its runtime follows the limit of its own group, where nothing
// else sets the value.
func (s Subject) FollowsLimit() bool { return s.readsLimit }

// env is the variable as it was written, cut where it would flood a message.
func (s Subject) env() string {
	const longest = 40
	return phrase.Clip(s.Facts.Env.Raw, longest+1)
}

// EnvProcs is the value of GOMAXPROCS in the environment, if it counts.
func (s Subject) EnvProcs() (n int, counts bool) {
	for _, c := range s.Go.Candidates {
		if c.What == facts.KindEnv {
			return c.Procs, true
		}
	}
	return 0, false
}

// Unset is what the runtime would decide without the variable; 0: it would die.
func (s Subject) Unset() int {
	f := s.Facts
	f.Env = facts.Fact{State: facts.Absent}
	return s.goDecision(f).Procs
}

// withoutEnv is that in words.
func (s Subject) withoutEnv() string {
	if n := s.Unset(); n > 0 {
		return "without it the runtime chooses " + value(n)
	}
	return "without it the runtime crashes at start"
}

// runs is the beginning of a sentence about the value.
func (s Subject) runs(n int) string {
	verb := "would run with "
	switch {
	case s.Live != nil:
		verb = "runs with "
	case s.LiveUnknown != "":
		verb = "seems to run with " // it runs, and only its memory could not be read
	}
	return verb + ps(n)
}

// standIn is the CPUs of a machine of which nothing is known.
const standIn = 1 << 30

// EveryCPU tells that a value is as many as its machine has CPUs, whatever these are.
func (s Subject) EveryCPU(n int) bool { return s.AnyMachine && n >= standIn }

// sized tells that it is known how many CPUs it can have.
func (s Subject) sized() bool {
	have := s.Facts.EffectiveCPUs()
	return have > 0 && !(s.AnyMachine && have >= standIn)
}

// usable are the CPUs that it can have, less those that are left to others; 0 when
// the CPUs are not known.
func (s Subject) usable() float64 { return max(0, s.Facts.EffectiveCPUs()-s.Reserve) }

func ps(n int) string {
	if n >= standIn {
		return "as many Ps as its machine has CPUs"
	}
	return phrase.Count(n, "P")
}

// value is a number of Ps as what somebody chooses.
func value(n int) string {
	if n >= standIn {
		return "the machine's CPUs"
	}
	return strconv.Itoa(n)
}

// seesMachine tells that the Subject is placed on a machine; a program on disk
// is not.
func (s Subject) seesMachine() bool { return s.Facts.AffinityCPUs() > 0 }

// Limit is the tightest limit, if it is below the affinity.
func (s Subject) Limit() (facts.Limit, bool) {
	l, ok := s.Facts.Tightest()
	return l, ok && (!s.seesMachine() || l.CPUs < float64(s.Facts.AffinityCPUs()))
}

// tooMany tells that the value judged, where one is known, is above what fits.
func (s Subject) tooMany() bool {
	n, known := s.Procs()
	return known && n > s.Fit.Procs
}
