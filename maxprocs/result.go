package maxprocs

import (
	"strconv"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

// Action is what was done.
type Action string

const (
	KeptEnv   Action = "kept_env"   // the environment sets it
	Kept      Action = "kept"       // it was already correct; if the runtime updates it, it continues to
	Changed   Action = "changed"    // it was changed; the runtime no longer updates it
	Automatic Action = "automatic"  // the runtime's default is correct, and the runtime updates it again
	NotRaised Action = "not_raised" // the known limits allow more, but not all limits are known
	Left      Action = "left"       // by Start: another value is better, but no limit that the runtime ignores is tighter
)

// Result is what was found and done.
type Result struct {
	Action   Action
	Procs    int     // GOMAXPROCS now
	Before   int     // GOMAXPROCS before
	Affinity int     // CPUs that the program may run on
	Limit    float64 // the tightest CPU limit, in CPUs; 0: none is known
	File     string  // the file of that limit
	Env      string  // GOMAXPROCS in the environment
	EnvSet   bool    // the environment has the variable
	Unknown  error   // what could not be read or is not valid; nil: nothing

	followed bool // the runtime followed a limit until now
}

// String is the result in one line.
func (r Result) String() string {
	s := "GOMAXPROCS=" + cgfs.Itoa(r.Procs) + ": "
	switch r.Action {
	case KeptEnv:
		return s + "set in the environment"
	case Kept:
		s += "already correct; "
	case Changed:
		s += "was " + cgfs.Itoa(r.Before) + "; "
	case Automatic:
		s += "was " + cgfs.Itoa(r.Before) + "; the runtime's default is correct and is used again; "
	case Left:
		s += "unchanged, because no limit that the runtime ignores is tighter; "
	case NotRaised:
		s += "not raised, because not all limits are known; "
	}
	if r.Limit > 0 {
		s += r.File + " limits it to " + strconv.FormatFloat(r.Limit, 'g', 6, 64) + plural(r.Limit) + ", "
	} else {
		s += "no CPU limit is known, "
	}
	s += "its affinity is " + cgfs.Itoa(r.Affinity) + plural(float64(r.Affinity))
	if r.Action == Changed && r.followed {
		s += "; the runtime no longer updates it"
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
