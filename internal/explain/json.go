package explain

import (
	"encoding/json"
	"io"

	"github.com/procfit/procfit/internal/rule"
	"github.com/procfit/procfit/maxprocs"
)

// Document is procfit.decision/v1.
type Document struct {
	Schema         string                       `json:"schema"`
	PID            int                          `json:"pid,omitempty"`
	Name           string                       `json:"name,omitempty"`
	Facts          maxprocs.Facts               `json:"facts"`
	Language       string                       `json:"language,omitempty"`
	Automaxprocs   string                       `json:"automaxprocs,omitempty"`
	ProgramUnknown string                       `json:"program_unknown,omitempty"`
	ActualProcs    *int                         `json:"actual_procs"`
	ActualSource   string                       `json:"actual_source,omitempty"`
	ActualUnknown  string                       `json:"actual_unknown,omitempty"`
	SetBy          rule.SetBy                   `json:"set_by"`
	Policies       map[string]maxprocs.Decision `json:"policies"`
	Findings       []rule.Finding               `json:"findings"`
}

// WriteJSON prints procfit.decision/v1 in one line.
func (e Explanation) WriteJSON(w io.Writer) error {
	s := e.subject
	out := Document{
		Schema: "procfit.decision/v1", PID: s.PID, Name: s.Name, Facts: s.Facts, Language: s.Language,
		Automaxprocs: s.Automaxprocs, ProgramUnknown: s.ProgramUnknown,
		ActualProcs: s.Live, ActualSource: s.LiveSource, ActualUnknown: s.LiveUnknown,
		SetBy: s.SetBy, Policies: map[string]maxprocs.Decision{}, Findings: e.findings,
	}
	for _, d := range e.decisions {
		out.Policies[d.Policy] = d
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}
