package output

import (
	"encoding/json"
	"io"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
)

type document struct {
	Schema   string          `json:"schema"`
	Files    int             `json:"files"`
	Values   []check.Value   `json:"values"`
	Findings []jsonFind      `json:"findings"`
	Ignored  []jsonIgn       `json:"ignored"`
	Errors   []check.Problem `json:"errors"`
	Notes    []check.Note    `json:"notes"`
	Fixed    []jsonFix       `json:"fixed"`
}

type jsonFind struct {
	rule.Finding
	Fixable bool `json:"fixable"`
}

type jsonIgn struct {
	rule.Finding
	Reason string `json:"reason"`
}

type jsonFix struct {
	Path    string   `json:"path"`
	Rules   []string `json:"rules"`
	Written bool     `json:"written"`
}

func writeJSON(w io.Writer, r *check.Report, _ Options) error {
	return encode(w, document{
		Schema: "procfit.check/v1", Files: r.Files,
		Values:   append([]check.Value{}, r.Values...),
		Findings: each(r.Findings, func(f check.Finding) jsonFind { return jsonFind{f.Finding, f.Change != nil} }),
		Ignored:  each(r.Ignored, func(f check.Ignored) jsonIgn { return jsonIgn{f.Finding.Finding, f.Reason} }),
		Errors:   append([]check.Problem{}, r.Problems...),
		Notes:    append([]check.Note{}, r.Notes...),
		Fixed:    each(r.Fixed, func(f check.Fixed) jsonFix { return jsonFix{f.Path, ids(f.Findings), f.Written} }),
	})
}

// each is a list that is never null.
func each[A, B any](all []A, of func(A) B) []B {
	out := make([]B, 0, len(all))
	for _, a := range all {
		out = append(out, of(a))
	}
	return out
}

func encode(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(document)
}
