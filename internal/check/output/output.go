// Package output renders a check.Report: as text, as procfit.check/v1, as SARIF 2.1.0,
// as annotations of GitHub Actions, and as JUnit XML. It places words and computes
// nothing. Text from files is made fit to print in every format.
package output

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Options are what a rendering depends on, in addition to the Report.
type Options struct {
	Color   bool   // text for a terminal only
	Quiet   bool   // text only: no summary
	Fix     bool   // text only: safe fixes were asked for, so the summary counts what has none
	Values  bool   // text only: every program, not only those that are known to be Go
	Version string // of procfit
	Width   int    // text only: columns of the terminal; 0: there is none

	// Source is what a file holds, for the lines that are shown on a terminal; nil: none are.
	Source func(path string) []byte
}

// Formats are the names that Write knows.
func Formats() []string { return phrase.Each(formats, func(f format) string { return f.name }) }

type format struct {
	name  string
	write func(io.Writer, *check.Report, Options) error
}

var formats = []format{{"text", writeText}, {"json", writeJSON}, {"sarif", writeSARIF}, {"github", writeGitHub}, {"junit", writeJUnit}}

// Write renders the Report in a format of Formats.
func Write(w io.Writer, name string, r *check.Report, o Options) error {
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
	if i < 0 {
		return fmt.Errorf("format %q: known are %s", name, strings.Join(Formats(), ", "))
	}
	b := bufio.NewWriter(w)
	if err := formats[i].write(b, r, o); err != nil {
		return err
	}
	return b.Flush()
}

func shown(path string) string {
	return phrase.If(path == check.Stdin, "stdin", phrase.Clean(path))
}

// at is a place in the form that editors and terminals follow.
func at(path string, line, column int) string {
	s := shown(path)
	if line > 0 {
		s += fmt.Sprintf(":%d", line)
		if column > 0 {
			s += fmt.Sprintf(":%d", column)
		}
	}
	return s
}

// who is the program of a place: "Deployment/api, container api".
func who(p rule.Place) string {
	return phrase.Join(", container ", phrase.Clean(p.Object), phrase.Clean(p.Container))
}

func message(f check.Finding) string { return phrase.Join(": ", who(f.Place), phrase.Clean(f.Message)) }

func writeGitHub(w io.Writer, r *check.Report, _ Options) error {
	for _, f := range r.Findings {
		annotate(w, phrase.If(f.Severity == rule.Info, "notice", string(f.Severity)), f.Place, f.Rule, message(f)+"\n→ "+phrase.Clean(f.Fix))
	}
	for _, p := range r.Problems {
		annotate(w, "error", rule.Place{Path: p.Path, Line: p.Line, Column: p.Column}, failed(p), phrase.Clean(p.Message))
	}
	return nil
}

func failed(p check.Problem) string {
	return "cannot be " + phrase.If(p.Unwritten, "fixed", "checked")
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

// data and property are escaped as actions/toolkit, command.ts, has it.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}
