package output

import (
	"encoding/json"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

// The parts of SARIF 2.1.0 that procfit writes
// (docs.oasis-open.org/sarif/sarif/v2.1.0).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string      `json:"id"`
		Short   sarifText   `json:"shortDescription"`
		Full    sarifText   `json:"fullDescription"`
		Help    sarifText   `json:"help"`
		Default sarifConfig `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
		Fixes        []sarifFix         `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int  `json:"startLine,omitempty"`
		StartColumn int  `json:"startColumn,omitempty"`
		ByteOffset  *int `json:"byteOffset,omitempty"`
		ByteLength  *int `json:"byteLength,omitempty"`
	}
	sarifLogical struct {
		FullName string `json:"fullyQualifiedName"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
)

func writeSARIF(w io.Writer, r *check.Report, o Options) error {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "procfit", Version: o.Version, Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{{Successful: len(r.Problems) == 0}},
		ColumnKind:  "unicodeCodePoints",
		Results:     []sarifResult{},
	}
	index := map[string]int{}
	for _, k := range rule.All() {
		index[k.ID] = len(run.Tool.Driver.Rules)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: k.ID, Short: sarifText{k.Title}, Full: sarifText{oneLine(k.Why)}, Help: sarifText{oneLine(k.Fix)},
			Default: sarifConfig{level(k.Severity)},
		})
	}
	for _, p := range r.Problems {
		run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotification{
			Level: "error", Message: sarifText{phrase.Clean(p.Message)},
			Locations: []sarifLocation{location(rule.Place{Path: p.Path, Line: p.Line, Column: p.Column})},
		})
	}
	for _, f := range r.Findings {
		run.Results = append(run.Results, result(f, index))
	}
	for _, f := range r.Ignored {
		x := result(f.Finding, index)
		kind := "inSource"
		if f.Outside {
			kind = "external"
		}
		x.Suppressions = []sarifSuppression{{kind, phrase.Clean(f.Reason)}}
		run.Results = append(run.Results, x)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func result(f check.Finding, index map[string]int) sarifResult {
	x := sarifResult{
		RuleID: f.Rule, RuleIndex: index[f.Rule], Level: level(f.Severity),
		Message:   sarifText{message(f) + ". To do: " + phrase.Clean(f.Fix)},
		Locations: []sarifLocation{location(f.Place)},
	}
	if f.Change == nil {
		return x
	}
	change := sarifChange{Artifact: artifact(f.Change.Path)}
	for _, s := range f.Change.Splices {
		length := s.To - s.From
		change.Replacements = append(change.Replacements, sarifReplacement{
			sarifRegion{ByteOffset: &s.From, ByteLength: &length}, sarifText{s.New},
		})
	}
	x.Fixes = []sarifFix{{sarifText{phrase.Clean(f.Fix)}, []sarifChange{change}}}
	return x
}

func location(p rule.Place) sarifLocation {
	l := sarifLocation{Physical: sarifPhysical{Artifact: artifact(p.Path)}}
	if p.Line > 0 {
		l.Physical.Region = &sarifRegion{StartLine: p.Line, StartColumn: p.Column}
	}
	if name := who(p); name != "" {
		l.Logical = []sarifLogical{{name}}
	}
	return l
}

// artifact is a path as a URI: relative where the path is, so that a viewer finds it
// in its own copy.
func artifact(p string) sarifArtifact {
	if p == check.Stdin {
		p = "stdin"
	}
	u := url.URL{Path: strings.TrimPrefix(p, "./")}
	if path.IsAbs(p) {
		u.Scheme = "file"
	} else if strings.Contains(strings.SplitN(u.Path, "/", 2)[0], ":") {
		u.Path = "./" + u.Path // else its first part would be a scheme
	}
	return sarifArtifact{u.String()}
}

func level(s rule.Severity) string {
	if s == rule.Info {
		return "note"
	}
	return string(s)
}

// oneLine undoes the line breaks of a rule's page.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
