package output

import (
	"encoding/json"
	"io"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
)

const schema = "procfit.check/v1"

type document struct {
	Schema   string     `json:"schema"`
	Files    int        `json:"files"`
	Values   []jsonVal  `json:"values"`
	Findings []jsonFind `json:"findings"`
	Ignored  []jsonIgn  `json:"ignored"`
	Errors   []jsonErr  `json:"errors"`
	Notes    []jsonNote `json:"notes"`
	Fixed    []jsonFix  `json:"fixed"`
}

type jsonVal struct {
	rule.Place
	Procs     *int   `json:"procs"` // null: no number that is known
	Text      string `json:"text"`
	Source    string `json:"source"`
	Open      string `json:"open,omitempty"` // what was not read and may decide the value
	GoVersion string `json:"go_version,omitempty"`
	Module    string `json:"main_module,omitempty"`
	Go        bool   `json:"go"`
}

type jsonFind struct {
	rule.Finding
	Fixable bool `json:"fixable"`
}

type jsonIgn struct {
	rule.Finding
	Reason string `json:"reason"`
}

type jsonErr struct {
	Path    string `json:"path"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

type jsonNote struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

type jsonFix struct {
	Path    string   `json:"path"`
	Rules   []string `json:"rules"`
	Written bool     `json:"written"`
}

func writeJSON(w io.Writer, r *check.Report, _ Options) error {
	d := document{
		Schema: schema, Files: r.Files, Values: []jsonVal{}, Findings: []jsonFind{}, Ignored: []jsonIgn{},
		Errors: []jsonErr{}, Notes: []jsonNote{}, Fixed: []jsonFix{},
	}
	for _, v := range r.Values {
		d.Values = append(d.Values, valueJSON(v))
	}
	for _, f := range r.Findings {
		d.Findings = append(d.Findings, jsonFind{f.Finding, f.Change != nil})
	}
	for _, f := range r.Ignored {
		d.Ignored = append(d.Ignored, jsonIgn{f.Finding.Finding, f.Reason})
	}
	for _, p := range r.Problems {
		d.Errors = append(d.Errors, errorJSON(p))
	}
	for _, n := range r.Notes {
		d.Notes = append(d.Notes, jsonNote(n))
	}
	for _, f := range r.Fixed {
		d.Fixed = append(d.Fixed, jsonFix{f.Path, ids(f.Findings), f.Written})
	}
	return encode(w, d)
}

func valueJSON(v check.Value) jsonVal {
	return jsonVal{v.Place, v.Procs, v.Text, v.Source, v.Open, v.GoVersion, v.Module, v.Go}
}

func errorJSON(p check.Problem) jsonErr { return jsonErr{p.Path, p.Line, p.Column, p.Message} }

func encode(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(document)
}
