package manifest

import (
	"bytes"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/pattern"
)

// comment is an ignore in a comment: # at the start of a line or after white space.
var comment = pattern.Of(`(?:^|[ \t])#[# \t]*` + regexp.QuoteMeta(check.IgnoreMarker))

// ignores takes one in a line of its own for the next line that is none, and any other for its own
// line: for the variable or the container that begins there.
func ignores(path string, b []byte, units []*unit, to check.Sink) {
	var waiting []check.Ignore
	line := 0
	for l := range bytes.Lines(b) {
		line++
		trimmed := bytes.TrimSpace(l)
		alone := len(trimmed) > 0 && trimmed[0] == '#'
		if at := comment().FindIndex(l); at != nil {
			place := rule.Place{Path: path, Line: line, Column: utf8.RuneCount(l[:at[0]]) + 1}
			i, _ := check.ParseIgnore(place, string(bytes.TrimRight(l[at[0]:], "\r\n")))
			if alone {
				waiting = append(waiting, i)
			} else {
				to.Ignore(covered(i, line, units))
			}
		}
		if alone || len(trimmed) == 0 {
			continue
		}
		for _, i := range waiting {
			to.Ignore(covered(i, line, units))
		}
		waiting = nil
	}
	for _, i := range waiting {
		to.Ignore(i)
	}
}

func (c *Checker) passIgnores(to check.Sink) {
	for _, list := range c.ignores {
		for _, i := range list {
			to.Ignore(i)
		}
	}
}

// places are where the findings about a unit are.
func (u *unit) places() (all []rule.Place) {
	named := []variable{{line: u.at.Line}, u.argvAt, u.env, u.godebug}
	for _, m := range u.mistaken {
		named = append(named, m.variable)
	}
	for _, v := range named {
		all = append(all, u.place(v))
	}
	return all
}

// unsure marks the ignores of rules that were not judged at some places.
func (c *Checker) unsure(places []rule.Place, unjudged func(rule string) bool) {
	for _, at := range places {
		for n := range c.ignores[at.Path] {
			i := &c.ignores[at.Path][n]
			i.Unsure = i.Unsure || slices.ContainsFunc(i.Rules, func(id string) bool {
				return unjudged(id) && i.Answers(check.Finding{Finding: rule.Finding{Rule: id, Place: at}})
			})
		}
	}
}

func covered(i check.Ignore, line int, units []*unit) check.Ignore {
	i.From, i.To = line, line
	for _, u := range units {
		if u.at.Line == line || u.head == line {
			i.Object, i.Container = u.at.Object, u.at.Container
			return i
		}
		for _, v := range []variable{u.env, u.godebug} {
			if v.line > 0 && v.line <= line && line <= v.last {
				i.From, i.To = v.line, v.last
			}
		}
	}
	return i
}
