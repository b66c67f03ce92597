package manifest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Lines that set GOMAXPROCS and nothing else: in a compose file (a mapping or a list), a unit of systemd,
// a quadlet or a Dockerfile. The second group is the value.
var aloneInLine = pattern.Of(`^(\s+["']?GOMAXPROCS["']?:\s+["']?|\s*-\s+["']?GOMAXPROCS=|\s*Environment\s*=\s*["']?GOMAXPROCS=|(?i:ENV)\s+GOMAXPROCS[= ]["']?)([^"'\s#&*\\]+)(["']?\s*(?:\s#.*)?)$`)

// Parts of a compose file that several services may share: a change of one changes the others.
var sharedParts = pattern.Of(`(?m)[:-]\s+&\w|<<:|extends:`)

// inLine gives a finding about a line that sets GOMAXPROCS alone its change: a number that fits, or no such
// line. What comes of it is checked again before it is written.
func (c *Checker) inLine(u *unit, f check.Finding) check.Finding {
	file := c.given[u.at.Path]
	sources := []string{"environment", "Environment", "ENV"}
	if !c.o.Changes || file == nil || f.Path != u.at.Path || f.Line != u.env.line || u.env.last != u.env.line || u.env.state != facts.Known ||
		!slices.Contains(sources, u.env.source) || !slices.Contains([]string{"PF001", "PF003", "PF004"}, f.Rule) {
		return f
	}
	s := rule.NewSubject(u.observed(c.o.NodeCPUs))
	bounded := limited(s) || u.cpus > 0
	_, counts := s.EnvProcs()
	remove := !u.refers && u.program.Known() && s.Automaxprocs == "" && s.Unset() == s.Fit.Procs && (bounded || !counts)
	if !remove && (!bounded || f.Rule == "PF004" || s.Measured()) {
		return f
	}
	b, err := file.Read(mostBytes)
	if err != nil || u.env.source == "environment" && sharedParts().Match(b) {
		return f
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	if f.Line > len(lines) {
		return f
	}
	line := lines[f.Line-1]
	at := len(bytes.Join(lines[:f.Line-1], nil))
	m := aloneInLine().FindSubmatchIndex(bytes.TrimRight(line, "\r\n"))
	if m == nil || string(line[m[4]:m[5]]) != u.env.value {
		return f
	}
	change := check.Splice{From: at + m[4], To: at + m[5], New: fmt.Sprint(s.Fit.Procs)}
	if remove {
		item := func(line []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(line), []byte("-")) }
		beside := func(i int) bool { // a line of the same list or mapping
			return i >= 0 && i < len(lines) && indent(lines[i]) == indent(line) && item(lines[i]) == item(line) && !bytes.HasPrefix(bytes.TrimSpace(lines[i]), []byte("#"))
		}
		if u.env.source == "environment" && !beside(f.Line-2) && !beside(f.Line) {
			return f
		}
		change = check.Splice{From: at, To: at + len(line)}
	}
	if u.refers {
		f.Fix = fmt.Sprintf("write GOMAXPROCS=%d", s.Fit.Procs)
	}
	f.Change = &check.Change{Path: u.at.Path, Splices: []check.Splice{change}}
	return f
}

func indent(line []byte) int {
	text := strings.TrimRight(string(line), " \r\n")
	if text == "" {
		return -1
	}
	return len(text) - len(strings.TrimLeft(text, " "))
}
