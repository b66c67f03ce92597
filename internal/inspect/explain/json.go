package explain

import (
	"encoding/json"
	"io"

	"github.com/procfit/procfit/maxprocs/facts"
)

// WriteJSON prints procfit.decision/v1 in one line.
func (e Explanation) WriteJSON(w io.Writer) error {
	s := e.subject
	out := Document{
		Schema: "procfit.decision/v1", PID: s.PID, Name: s.Name, Facts: factsOf(s.Facts), Language: s.Language,
		Automaxprocs: s.Automaxprocs, ProgramUnknown: s.ProgramUnknown,
		ActualProcs: s.Live, ActualSource: s.LiveSource, ActualUnknown: s.LiveUnknown,
		SetBy: s.SetBy, ReservedCPUs: s.Reserve, Policies: map[string]Decision{}, Findings: e.findings,
	}
	for _, d := range e.decisions {
		out.Policies[string(d.Policy)] = decisionOf(d)
	}
	if e.memory != nil {
		out.Memory = e.memory.document()
	}
	out.Request = e.request.document()
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func factsOf(f facts.Facts) Facts {
	out := Facts{
		PID: f.PID, Affinity: Fact(f.Affinity), Online: Fact(f.Online), Cgroup: cgroupOf(f.Cgroup),
		Env: Fact(f.Env), GODEBUG: Fact(f.GODEBUG), GoVersion: f.GoVersion, DefaultGODEBUG: f.DefaultGODEBUG,
	}
	if f.Limits != nil {
		out.Limits = make([]Limit, len(f.Limits))
	}
	for i, l := range f.Limits {
		out.Limits[i] = Limit{Fact: Fact(l.Fact), Dir: l.Dir, PeriodFile: l.PeriodFile, PeriodRaw: l.PeriodRaw}
	}
	return out
}

func cgroupOf(c facts.Cgroup) Cgroup {
	out := Cgroup{
		Fact: Fact(c.Fact), Mode: c.Mode, Version: c.Version, Path: c.Path,
		Mount: c.Mount, MountRoot: c.MountRoot, RootSeen: c.RootSeen,
	}
	if v := c.View; v != nil {
		out.View = &View{Fact: Fact(v.Fact), MountRoot: v.MountRoot}
	}
	return out
}

func decisionOf(d facts.Decision) Decision {
	out := Decision{Policy: d.Policy, Outcome: d.Outcome, Reasons: d.Reasons, Unknown: d.Unknown, Candidates: make([]Candidate, len(d.Candidates))}
	if d.Outcome == facts.Runs {
		out.Procs = &d.Procs
	}
	for i, c := range d.Candidates {
		out.Candidates[i] = Candidate(c)
	}
	return out
}
