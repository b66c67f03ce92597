package lab

import (
	"cmp"
	"math"
	"strings"
)

// described is what a document makes of an experiment: what to run and what its
// numbers say.
type described struct {
	stages     func(Options) []Stage
	hypotheses []Hypothesis
}

// Tolerances, from the documents alone and not to fit what was measured here.
const (
	// Document 000: "Single runs vary by 5–10% even on quiet hardware", and its
	// tables are single runs. So a ratio of theirs is met within 10 %.
	tenthLess, tenthMore = 0.90, 1.10
	// What the documents call flat spreads over 2 % (001, I/O-bound: 15.3 to 15.0 s;
	// 000, above the peak: 78.1 to 76.4). 5 % is flat.
	flatLess, flatMore = 0.95, 1.05
)

// documents joins what the documents say, by experiment.
func documents() map[string]described {
	all := map[string]described{}
	for _, of := range []func() map[string]described{document000, document001, document002, document003, document004, documentsTogether, documentStatements} {
		for id, d := range of() {
			d.stages = within(id, d.stages)
			all[id] = d
		}
	}
	return all
}

// within is an experiment's stages as the user wants them.
func within(id string, stages func(Options) []Stage) func(Options) []Stage {
	return func(o Options) []Stage {
		o.CPUs = cmp.Or(o.CPUs, 1)
		list := stages(o)
		for i := range list {
			s := &list[i]
			s.Repeats = cmp.Or(o.Repeats, s.Repeats)
			if !s.Fixed {
				s.choose(o)
			}
			s.place(o)
			s.Name = strings.TrimSpace(id + " " + s.ID)
			s.Tolerant = s.Target.RunTimeout > 0 || len(s.GoVersions) > 0 || s.Tree != ""
		}
		return list
	}
}

// choose takes over what the user would have instead of the document's.
func (s *Stage) choose(o Options) {
	if o.Procs != nil {
		s.Procs = *o.Procs
	}
	if len(o.Quotas) > 0 {
		s.Quotas = o.Quotas
	}
	if len(o.Go) > 0 && s.Target.BuiltIn != "" {
		s.GoVersions = o.Go
	}
}

// cpus is the CPUs here as a number of Ps.
func (o Options) cpus() int { return max(1, int(math.Ceil(o.CPUs))) }
