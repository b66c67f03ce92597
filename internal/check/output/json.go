package output

import (
	"encoding/json"
	"io"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
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

// No list is null.
func writeJSON(w io.Writer, r *check.Report, _ Options) error {
	return encode(w, document{
		Schema: "procfit.check/v1", Files: r.Files,
		Values:   append([]check.Value{}, r.Values...),
		Findings: phrase.Each(r.Findings, func(f check.Finding) jsonFind { return jsonFind{f.Finding, f.Change != nil} }),
		Ignored:  phrase.Each(r.Ignored, func(f check.Ignored) jsonIgn { return jsonIgn{f.Finding.Finding, f.Reason} }),
		Errors:   append([]check.Problem{}, r.Problems...),
		Notes:    append([]check.Note{}, r.Notes...),
		Fixed:    phrase.Each(r.Fixed, func(f check.Fixed) jsonFix { return jsonFix{f.Path, ids(f.Findings), f.Written} }),
	})
}

func encode(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(document)
}
