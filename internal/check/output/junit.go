package output

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

type (
	junitSuites struct {
		XMLName  xml.Name      `xml:"testsuites"`
		Name     string        `xml:"name,attr"`
		Tests    int           `xml:"tests,attr"`
		Failures int           `xml:"failures,attr"`
		Errors   int           `xml:"errors,attr"`
		Skipped  int           `xml:"skipped,attr"`
		Suites   []*junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string      `xml:"name,attr"`
		Class   string      `xml:"classname,attr"`
		File    string      `xml:"file,attr"`
		Line    int         `xml:"line,attr,omitempty"`
		Failure *junitFault `xml:"failure,omitempty"`
		Error   *junitFault `xml:"error,omitempty"`
		Skipped *junitSkip  `xml:"skipped,omitempty"`
		Output  string      `xml:"system-out,omitempty"`
	}
	junitSkip struct {
		Message string `xml:"message,attr"`
	}
	junitFault struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit has a suite for each file: a case for each program, which passes, or is skipped where
// no rule judges it, and one for each finding. An error or a warning fails, an info passes with its words.
func writeJUnit(w io.Writer, r *check.Report, _ Options) error {
	all := junitSuites{Name: "procfit check"}
	byPath := map[string]*junitSuite{}
	add := func(path string, c junitCase) {
		s := byPath[path]
		if s == nil {
			s = &junitSuite{Name: shown(path)}
			byPath[path] = s
			all.Suites = append(all.Suites, s)
		}
		c.Class, c.File = shown(path), shown(path)
		s.Cases = append(s.Cases, c)
		s.Tests, all.Tests = s.Tests+1, all.Tests+1
		if c.Failure != nil {
			s.Failures, all.Failures = s.Failures+1, all.Failures+1
		}
		if c.Error != nil {
			s.Errors, all.Errors = s.Errors+1, all.Errors+1
		}
		if c.Skipped != nil {
			s.Skipped, all.Skipped = s.Skipped+1, all.Skipped+1
		}
	}
	for _, v := range r.Values {
		c := junitCase{Name: who(v.Place) + ": GOMAXPROCS " + phrase.Clean(v.Text), Line: v.Line, Output: value(v)}
		if !v.Go {
			c.Skipped = &junitSkip{phrase.Clean(cmp.Or(v.Unjudged, "it is not known to run Go, and is not judged"))}
		}
		add(v.Path, c)
	}
	for _, f := range r.Findings {
		c := junitCase{Name: fmt.Sprintf("%s %s", f.Rule, at(f.Path, f.Line, f.Column)), Line: f.Line}
		text := message(f) + "\n→ " + phrase.Clean(f.Fix)
		if f.Severity == rule.Info {
			c.Output = text
		} else {
			c.Failure = &junitFault{f.Rule, message(f), text}
		}
		add(f.Path, c)
	}
	for _, p := range r.Problems {
		text := phrase.Clean(p.Message)
		add(p.Path, junitCase{Name: failed(p), Line: p.Line, Error: &junitFault{"unreadable", text, text}})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
