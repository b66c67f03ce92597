package profile

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
)

// Sums are a profile by function.
type Sums struct {
	Total     float64    // seconds of CPU time, or bytes
	Seconds   float64    // that the profile covers, as it says; 0: it does not say
	Functions []Function // the largest first
	Left      int        // functions that are not among them, since there are too many
}

// Function is what a function took itself.
type Function struct {
	Name  string
	Value float64
}

// mostFunctions bounds how many functions are named; a large server has some hundreds.
const mostFunctions = 500

// mostName bounds the name of a function, in characters. Those of generic types are long.
const mostName = 300

const unnamed = "(no symbol)"

// frame is what a location of a stack comes to.
type frame struct {
	name  string // of the function that was running, or that allocated, if the location is the innermost
	takes bool   // it takes the profiles, which is not the program's own work
}

// Read sums a profile up, packed or not. Each location is looked at once, however many stacks it
// is in.
func Read(kind Kind, b []byte) (Sums, error) {
	p, column, err := parse(kind, b)
	if err != nil {
		return Sums{}, err
	}
	s := Sums{Seconds: float64(p.DurationNanos) / 1e9}
	frames := make(map[*profile.Location]frame, len(p.Location))
	for _, l := range p.Location {
		frames[l] = frame{nameOf(l), slices.ContainsFunc(l.Line, takesProfiles)}
	}
	of, per := map[string]float64{}, kind.column().per
	for _, one := range p.Sample {
		value := float64(one.Value[column]) / per
		if !(value > 0) || slices.ContainsFunc(one.Location, func(l *profile.Location) bool { return frames[l].takes }) {
			continue
		}
		name := unnamed
		if len(one.Location) > 0 {
			name = frames[one.Location[0]].name
		}
		s.Total += value
		of[name] += value
	}
	for name, value := range of {
		s.Functions = append(s.Functions, Function{name, value})
	}
	sorting.Stable(s.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name))
	})
	if n := len(s.Functions); n > mostFunctions {
		s.Functions, s.Left = s.Functions[:mostFunctions], n-mostFunctions
	}
	return s, nil
}

func takesProfiles(l profile.Line) bool {
	return l.Function != nil && (strings.HasPrefix(l.Function.Name, "runtime/pprof.") || strings.HasPrefix(l.Function.Name, "net/http/pprof."))
}

// nameOf is the function of a location. Of functions that are compiled into another, the
// innermost comes first.
func nameOf(l *profile.Location) string {
	if len(l.Line) > 0 && l.Line[0].Function != nil && l.Line[0].Function.Name != "" {
		return clipped(l.Line[0].Function.Name)
	}
	if l.Mapping != nil && l.Mapping.File != "" {
		file := l.Mapping.File
		return clipped("(" + path.Base(file[max(0, len(file)-4*mostName):]) + ")")
	}
	return unnamed
}

// clipped is a name that can be printed. What is surely too long is cut before it is looked
// at: a character has up to four bytes, and a name may be as long as a profile.
func clipped(name string) string {
	return phrase.Clip(phrase.Clean(name[:min(len(name), 4*mostName+4)]), mostName)
}
