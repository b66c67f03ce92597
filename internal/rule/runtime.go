package rule

import (
	"fmt"
	"go/version"
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/maxprocs"
)

// readLimits asks the policy whether this program's runtime follows the limit of
// its own group when the environment does not set GOMAXPROCS, and the same of its
// release with all settings as new as the release.
func readLimits(s Subject) (itself, release bool) {
	f := s.Facts
	itself = wouldReadLimit(f, s.Language)
	if f.DefaultGODEBUG == "" && f.GODEBUG.Raw == "" && s.Language == "" {
		return itself, itself
	}
	f.DefaultGODEBUG, f.GODEBUG = "", maxprocs.Fact{}
	return itself, wouldReadLimit(f, "")
}

// modern is what the newest runtime with its own settings would choose here
// without the environment.
func (s Subject) modern() int {
	f := s.Facts
	f.GoVersion, f.DefaultGODEBUG = "", ""
	f.Env = maxprocs.Fact{State: maxprocs.Absent}
	f.GODEBUG = f.Env
	return maxprocs.Decide(f, maxprocs.Go{}).Procs
}

// setOrImport is the way out where no runtime chooses what fits.
func (s Subject) setOrImport() string {
	return fmt.Sprintf("set GOMAXPROCS=%d in its environment, or import github.com/procfit/procfit/maxprocs/auto", s.Fit.Procs)
}

// wouldReadLimit puts the program into a group of 3 CPUs on a machine of 64.
func wouldReadLimit(f maxprocs.Facts, language string) bool {
	known := maxprocs.Fact{State: maxprocs.Known}
	test := maxprocs.Facts{
		Affinity:       maxprocs.Fact{State: maxprocs.Known, CPUs: 64},
		Cgroup:         maxprocs.Cgroup{Fact: known, Version: 2, MountRoot: "/"},
		Limits:         []maxprocs.Limit{{Fact: maxprocs.Fact{State: maxprocs.Known, CPUs: 3, Raw: "300000 100000\n"}}},
		GODEBUG:        f.GODEBUG,
		GoVersion:      f.GoVersion,
		DefaultGODEBUG: f.DefaultGODEBUG,
	}
	return maxprocs.Decide(test, maxprocs.Go{Language: language}).Procs == 3
}

// RuntimeName is the program's runtime for a sentence.
func (s Subject) RuntimeName() string {
	if s.Facts.GoVersion == "" {
		return "the newest Go runtime"
	}
	return "the runtime of " + s.goName()
}

// goName is the program's Go release without what else its version may hold.
func (s Subject) goName() string {
	for _, field := range strings.Fields(s.Facts.GoVersion) {
		if version.IsValid(field) {
			return field
		}
	}
	if s.Facts.GoVersion == "" {
		return "the newest Go"
	}
	return s.Facts.GoVersion
}

// CPUs is a number of CPUs in words.
func CPUs(n float64) string {
	text := number(n)
	if text == "1" {
		return "1 CPU"
	}
	return text + " CPUs"
}

// number has no more digits than needed, and four decimals at most.
func number(n float64) string {
	return strconv.FormatFloat(math.Round(n*1e4)/1e4, 'f', -1, 64)
}
