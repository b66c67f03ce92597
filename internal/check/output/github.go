package output

import (
	"fmt"
	"io"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

// writeGitHub prints workflow commands: each shows beside its line in a pull request.
func writeGitHub(w io.Writer, r *check.Report, _ Options) error {
	for _, f := range r.Findings {
		kind := string(f.Severity)
		if f.Severity == rule.Info {
			kind = "notice"
		}
		annotate(w, kind, f.Place, f.Rule, message(f)+"\n→ "+phrase.Clean(f.Fix))
	}
	for _, p := range r.Problems {
		annotate(w, "error", rule.Place{Path: p.Path, Line: p.Line, Column: p.Column}, "cannot be checked", phrase.Clean(p.Message))
	}
	return nil
}

func annotate(w io.Writer, kind string, p rule.Place, title, text string) {
	properties := []string{"file=" + property(shown(p.Path))}
	if p.Line > 0 {
		properties = append(properties, fmt.Sprintf("line=%d", p.Line))
	}
	if p.Column > 0 {
		properties = append(properties, fmt.Sprintf("col=%d", p.Column))
	}
	properties = append(properties, "title="+property("procfit "+title))
	fmt.Fprintf(w, "::%s %s::%s\n", kind, strings.Join(properties, ","), data(text))
}

// data and property are escaped as the runner reads them (actions/toolkit,
// command.ts).
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}
