package maxprocs

import (
	"strconv"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

// Action is what was done.
type Action string

const (
	KeptEnv   Action = "kept_env"   // the environment says what it shall be
	Kept      Action = "kept"       // it was right already; the runtime goes on updating it, if it did
	Changed   Action = "changed"    // it is ours now; the runtime updates it no more
	Automatic Action = "automatic"  // the runtime's own default is right, and it is in charge again
	NotRaised Action = "not_raised" // more would fit what is known, but not all is
	Left      Action = "left"       // by Start: another would fit, but no limit that the runtime ignores is tighter
)

// Result is what was found and done.
type Result struct {
	Action   Action
	Procs    int     // GOMAXPROCS now
	Before   int     // and before
	Affinity int     // CPUs that the program may run on
	Limit    float64 // the tightest CPU limit, in CPUs; 0: none is known
	File     string  // where that is written
	Env      string  // GOMAXPROCS in the environment
	EnvSet   bool    // there is such a variable
	Unknown  error   // what could not be read or made no sense; nil when all did

	followed bool // the runtime followed a limit until now
}

// String is the result in one line.
func (r Result) String() string {
	s := "GOMAXPROCS=" + cgfs.Itoa(r.Procs) + ": "
	switch r.Action {
	case KeptEnv:
		return s + "set in the environment"
	case Kept:
		s += "already right; "
	case Changed:
		s += "was " + cgfs.Itoa(r.Before) + "; "
	case Automatic:
		s += "was " + cgfs.Itoa(r.Before) + "; the runtime's own default is right, and it decides again; "
	case Left:
		s += "left as it is, since no limit that the runtime ignores is tighter; "
	case NotRaised:
		s += "not raised, since not all limits are known; "
	}
	if r.Limit > 0 {
		s += r.File + " limits it to " + strconv.FormatFloat(r.Limit, 'g', 6, 64) + plural(r.Limit) + ", "
	} else {
		s += "no CPU limit is known, "
	}
	s += "the affinity to " + cgfs.Itoa(r.Affinity)
	if r.Action == Changed && r.followed {
		s += "; the runtime updates it no more"
	}
	if r.EnvSet {
		s += "; GOMAXPROCS=" + cgfs.Quote(r.Env) + " in the environment is " + whyIgnored(r.Env) + ", so it is ignored"
	}
	if u, ok := r.Unknown.(*unknown); ok {
		s += "; unknown: " + u.text()
	}
	return s
}

// whyIgnored says what the runtime has against a value that it does not take: of
// digits alone it takes all but 0 and what is no int32.
func whyIgnored(env string) string {
	zero := true
	for i := 0; i < len(env); i++ {
		if env[i] < '0' || env[i] > '9' {
			return "not a positive integer"
		}
		zero = zero && env[i] == '0'
	}
	if zero {
		return "not a positive integer"
	}
	return "above 2147483647"
}

func plural(cpus float64) string {
	if cpus == 1 {
		return " CPU"
	}
	return " CPUs"
}
