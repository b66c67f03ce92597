package explain

import (
	"encoding/json"
	"io"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Document is procfit.decision/v1.
type Document struct {
	Schema         string              `json:"schema"`
	PID            int                 `json:"pid,omitempty"`
	Name           string              `json:"name,omitempty"`
	Mapped         string              `json:"mapped,omitempty"` // the Go library or program that it has mapped, if its executable is not Go's
	Facts          factsJSON           `json:"facts"`
	Language       string              `json:"language,omitempty"`
	Automaxprocs   string              `json:"automaxprocs,omitempty"`
	ProgramUnknown string              `json:"program_unknown,omitempty"`
	ActualProcs    *int                `json:"actual_procs"`
	ActualSource   string              `json:"actual_source,omitempty"`
	ActualUnknown  string              `json:"actual_unknown,omitempty"`
	FaultHeldPs    *float64            `json:"fault_held_ps,omitempty"` // Ps that waited for the disk in page faults, on average
	SetBy          rule.SetBy          `json:"set_by"`
	Expected       *rule.Expected      `json:"expected,omitempty"` // the value that a measurement decided, if one is kept with the program
	Policies       map[string]Decision `json:"policies"`
	Findings       []rule.Finding      `json:"findings"`
	ReservedCPUs   float64             `json:"reserved_cpus,omitempty"`
	Reserve        *reserveJSON        `json:"reserve,omitempty"` // what --reserve auto measured
	Request        *requestJSON        `json:"request,omitempty"` // asked about, or the weight of a group that was read
	Memory         *memoryJSON         `json:"memory,omitempty"`  // where it was asked for
}

// factsJSON is facts.Facts in the document. The forms here are the tool's own, so that
// its schema and the library's types may change each by itself.
type factsJSON struct {
	PID            int         `json:"pid,omitempty"`
	Affinity       factJSON    `json:"affinity"`
	Online         factJSON    `json:"online"`
	Cgroup         cgroupJSON  `json:"cgroup"`
	Limits         []limitJSON `json:"limits"`
	Env            factJSON    `json:"env"`
	GODEBUG        factJSON    `json:"godebug"`
	GoVersion      string      `json:"go_version,omitempty"`
	DefaultGODEBUG string      `json:"default_godebug,omitempty"`
}

type factJSON struct {
	State facts.State `json:"state"`
	CPUs  float64     `json:"cpus,omitempty"`
	File  string      `json:"file,omitempty"`
	Raw   string      `json:"raw,omitempty"`
	Error string      `json:"error,omitempty"`
}

type limitJSON struct {
	factJSON
	Dir        string `json:"dir"`
	PeriodFile string `json:"period_file,omitempty"`
	PeriodRaw  string `json:"period_raw,omitempty"`

	Burst *factJSON `json:"burst,omitempty"` // of a known limit; its cpus are those of one period
}

type cgroupJSON struct {
	factJSON
	Mode      facts.Mode `json:"mode"`
	Version   int        `json:"version,omitempty"`
	Path      string     `json:"path,omitempty"`
	Mount     string     `json:"mount,omitempty"`
	MountRoot string     `json:"mount_root,omitempty"`
	RootSeen  bool       `json:"root_seen"`
	View      *viewJSON  `json:"view,omitempty"`
}

type viewJSON struct {
	factJSON
	MountRoot string `json:"mount_root,omitempty"`
}

type Decision struct {
	Policy     facts.PolicyName `json:"policy"`
	Outcome    facts.Outcome    `json:"outcome,omitempty"` // dies; absent where it runs
	Procs      *int             `json:"procs"`             // null where it does not run
	Candidates []candidateJSON  `json:"candidates"`
	Reasons    []string         `json:"reasons"`
	Unknown    []string         `json:"unknown"`
}

type candidateJSON struct {
	What   facts.Kind `json:"what"`
	CPUs   float64    `json:"cpus"`
	Procs  int        `json:"procs"`
	File   string     `json:"file,omitempty"`
	Raw    string     `json:"raw,omitempty"`
	Winner bool       `json:"winner"`
}

func (e Explanation) WriteJSON(w io.Writer) error {
	s := e.subject
	out := Document{
		Schema: "procfit.decision/v1", PID: s.PID, Name: s.Name, Mapped: s.Mapped, Facts: factsOf(s.Facts), Language: s.Language,
		Automaxprocs: s.Automaxprocs, ProgramUnknown: s.ProgramUnknown,
		ActualProcs: s.Live, ActualSource: s.LiveSource, ActualUnknown: s.LiveUnknown,
		SetBy: s.SetBy, Expected: s.Expected, ReservedCPUs: s.Reserve, Policies: map[string]Decision{}, Findings: e.findings,
	}
	if s.Faults != nil {
		out.FaultHeldPs = &s.Faults.Held
	}
	for _, d := range e.decisions {
		out.Policies[string(d.Policy)] = decisionOf(d)
	}
	if e.memory != nil {
		out.Memory = e.memory.document()
	}
	out.Request, out.Reserve = e.Request.document(), e.reserve()
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func factsOf(f facts.Facts) factsJSON {
	out := factsJSON{
		PID: f.PID, Affinity: factJSON(f.Affinity), Online: factJSON(f.Online), Cgroup: cgroupOf(f.Cgroup),
		Env: factJSON(f.Env), GODEBUG: factJSON(f.GODEBUG), GoVersion: f.GoVersion, DefaultGODEBUG: f.DefaultGODEBUG,
	}
	if f.Limits != nil {
		out.Limits = make([]limitJSON, len(f.Limits))
	}
	for i, l := range f.Limits {
		out.Limits[i] = limitJSON{factJSON: factJSON(l.Fact), Dir: l.Dir, PeriodFile: l.PeriodFile, PeriodRaw: l.PeriodRaw}
		if l.Burst.State != "" {
			out.Limits[i].Burst = new(factJSON(l.Burst))
		}
	}
	return out
}

func cgroupOf(c facts.Cgroup) cgroupJSON {
	out := cgroupJSON{
		factJSON: factJSON(c.Fact), Mode: c.Mode, Version: c.Version, Path: c.Path,
		Mount: c.Mount, MountRoot: c.MountRoot, RootSeen: c.RootSeen,
	}
	if v := c.View; v != nil {
		out.View = &viewJSON{factJSON: factJSON(v.Fact), MountRoot: v.MountRoot}
	}
	return out
}

func decisionOf(d facts.Decision) Decision {
	out := Decision{Policy: d.Policy, Outcome: d.Outcome, Reasons: d.Reasons, Unknown: d.Unknown, Candidates: make([]candidateJSON, len(d.Candidates))}
	if d.Outcome == facts.Runs {
		out.Procs = &d.Procs
	}
	for i, c := range d.Candidates {
		out.Candidates[i] = candidateJSON(c)
	}
	return out
}
