package output

import (
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

// object is one of SARIF 2.1.0 (docs.oasis-open.org/sarif/sarif/v2.1.0), whose schema the tests
// hold what is written against.
type object map[string]any

func writeSARIF(w io.Writer, r *check.Report, o Options) error {
	driver := object{"name": "procfit"}
	if o.Version != "" {
		driver["version"] = o.Version
	}
	index := map[string]int{}
	var rules []object
	for _, k := range rule.All() {
		index[k.ID] = len(rules)
		rules = append(rules, object{
			"id": k.ID, "shortDescription": sarifText(k.Title), "fullDescription": sarifText(oneLine(k.Why)), "help": sarifText(oneLine(k.Fix)),
			"defaultConfiguration": object{"level": level(k.Severity)},
		})
	}
	driver["rules"] = rules
	invocation := object{"executionSuccessful": len(r.Problems) == 0}
	var notifications []object
	for _, p := range r.Problems {
		notifications = append(notifications, object{
			"level": "error", "message": sarifText(phrase.Clean(p.Message)),
			"locations": []object{location(rule.Place{Path: p.Path, Line: p.Line, Column: p.Column})},
		})
	}
	if len(notifications) > 0 {
		invocation["toolExecutionNotifications"] = notifications
	}
	results := phrase.Each(r.Findings, func(f check.Finding) object { return result(f, index) })
	for _, f := range r.Ignored {
		x := result(f.Finding, index)
		x["suppressions"] = []object{{"kind": phrase.If(f.Outside, "external", "inSource"), "justification": phrase.Clean(f.Reason)}}
		results = append(results, x)
	}
	return encode(w, object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{"tool": object{"driver": driver}, "invocations": []object{invocation}, "columnKind": "unicodeCodePoints", "results": results}},
	})
}

func sarifText(text string) object { return object{"text": text} }

func result(f check.Finding, index map[string]int) object {
	x := object{
		"ruleId": f.Rule, "ruleIndex": index[f.Rule], "level": level(f.Severity),
		"message":   sarifText(message(f) + ". To do: " + phrase.Clean(f.Fix)),
		"locations": []object{location(f.Place)},
	}
	if f.Change == nil {
		return x
	}
	var replacements []object
	for _, s := range f.Change.Splices {
		replacements = append(replacements, object{
			"deletedRegion": object{"byteOffset": s.From, "byteLength": s.To - s.From}, "insertedContent": sarifText(s.New),
		})
	}
	change := object{"artifactLocation": artifact(f.Change.Path), "replacements": replacements}
	x["fixes"] = []object{{"description": sarifText(phrase.Clean(f.Fix)), "artifactChanges": []object{change}}}
	return x
}

func location(p rule.Place) object {
	physical := object{"artifactLocation": artifact(p.Path)}
	if p.Line > 0 {
		region := object{"startLine": p.Line}
		if p.Column > 0 {
			region["startColumn"] = p.Column
		}
		physical["region"] = region
	}
	l := object{"physicalLocation": physical}
	if name := who(p); name != "" {
		l["logicalLocations"] = []object{{"fullyQualifiedName": name}}
	}
	return l
}

// artifact is a path as a URI, relative if the path is, so that a viewer finds its own copy.
func artifact(p string) object {
	p = phrase.If(p == check.Stdin, "stdin", p)
	u := url.URL{Path: strings.TrimPrefix(p, "./")}
	if path.IsAbs(p) {
		u.Scheme = "file"
	} else if strings.Contains(strings.SplitN(u.Path, "/", 2)[0], ":") {
		u.Path = "./" + u.Path // else its first part would be a scheme
	}
	return object{"uri": u.String()}
}

func level(s rule.Severity) string {
	return phrase.If(s == rule.Info, "note", string(s))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
