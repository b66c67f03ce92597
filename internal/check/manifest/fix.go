package manifest

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

// addChanges reads a file again: trees of all files at once would not fit.
func addChanges(f *check.File, list []*container) {
	b, err := f.Read(mostBytes)
	if err != nil {
		return // it could be read before; what has become of it shows when it is fixed
	}
	t := parse(f.Path, b)
	for _, k := range list {
		e := editorOf(k, t)
		if e == nil {
			continue
		}
		x := k.remedy.edit(e)
		if !e.proven(x) {
			continue
		}
		for i := range k.found {
			if f := &k.found[i]; k.fixes(*f) {
				f.Change = &check.Change{Path: k.at.Path, Splices: x.splices}
			}
		}
	}
}

type remedy struct {
	edit  func(*editor) *edit
	words string
	fixes []string
}

// Rules whose findings a change may fix.
var (
	ofVariable = []string{"PF001", "PF003", "PF004", "PF021", "PF015", "PF016"}
	ofDivisor  = []string{"PF001", "PF003", "PF021", "PF016"}
	ofRuntime  = []string{"PF001", "PF005", "PF006", "PF060"} // where the variable is not set
)

func (c *Checker) advise(k *container) {
	if len(k.found) == 0 {
		return
	}
	for _, f := range k.found {
		if slices.ContainsFunc(c.ignores[f.Path], func(i check.Ignore) bool { return i.Answers(f) }) {
			k.answered = append(k.answered, f.Rule)
		}
	}
	k.remedy = c.remedy(k)
	divisorFirst := k.has("PF015") && (k.remedy == nil || !slices.Contains(k.remedy.fixes, "PF004"))
	for i := range k.found {
		f := &k.found[i]
		if k.fixes(*f) {
			f.Fix = k.remedy.words
			if !c.changeable(k.object) {
				f.Fix += "; " + k.object.rendered + " renders this file, so change its source"
			}
		}
		if f.Rule == "PF004" && divisorFirst {
			f.Fix = "write the divisor (PF015); to follow a resize in place too, " + f.Fix
		}
	}
}

// changeable: nothing renders the file, or it is the standard input that is to be fixed.
func (c *Checker) changeable(o *object) bool {
	return o.rendered == "" || c.o.Stdin && o.path == check.Stdin
}

func (k *container) fixes(f check.Finding) bool {
	return k.remedy != nil && slices.Contains(k.remedy.fixes, f.Rule) && k.open(f)
}

// open: nobody has answered the finding, and it is not about the amounts of the container.
func (k *container) open(f check.Finding) bool {
	return !slices.Contains(k.answered, f.Rule) && !(f.Rule == "PF016" && k.written.Quantity)
}

func (c *Checker) remedy(k *container) *remedy {
	// Who says that the value is meant so does not want it gone.
	meant := slices.ContainsFunc(k.answered, func(id string) bool { return id == "PF001" || id == "PF002" || id == "PF004" })
	s := rule.NewSubject(k.observed(c.nodeCPUs(&k.unit)))
	f, written := k.fields["GOMAXPROCS"]
	removeIt := func(e *editor) *edit { return e.removeItem(e.index(f.variable)) }
	costs := slices.ContainsFunc(k.found, func(f check.Finding) bool { // more than an info, such as the runtime's own floor of two
		return slices.Contains(ofRuntime, f.Rule) && f.Severity != rule.Info && k.open(f)
	})
	switch {
	case k.unit.env.source == sourceCommand:
		return nil // what env says does not count
	case !written && (k.unit.env.isSet() || k.partial || !costs):
		return nil
	case !written && slices.ContainsFunc(k.unit.open, func(d doubt) bool { return d.may == sets }):
		return nil // env goes before a value that may be meant
	case !written && s.Measured() && s.Fit.Procs != s.Expected.Procs:
		add := func(e *editor) *edit { return e.addVariable(variableOf(fmt.Sprint(s.Expected.Procs))) }
		return &remedy{add, fmt.Sprintf("set GOMAXPROCS=%d, the expected value, or %s", s.Expected.Procs, s.Expected.MeasureAgain()), ofRuntime}
	case !written && limited(s):
		add := func(e *editor) *edit { return e.addVariable(limitReference()) }
		return &remedy{add, fmt.Sprintf(`set GOMAXPROCS from limits.cpu, in whole CPUs (divisor: "1"), which makes it %d`, s.Fit.Procs), ofRuntime}
	case !written:
		return nil
	case f.twice && k.refers:
		return nil // a variable between the two may use the first
	case f.twice:
		return &remedy{removeIt, "remove the first one: the last one wins", []string{"PF019"}}
	case k.has("PF060") && s.Measured() && !k.varies && f.reference == nil && f.config == nil && f.state == facts.Known && f.refused == "":
		r := k.write(f, fmt.Sprint(s.Expected.Procs), []string{"PF060", "PF003"})
		r.words += ", or " + s.Expected.MeasureAgain()
		return r
	case !k.has(ofVariable...):
		return nil
	case k.removable(s, f) && !meant && !k.has("PF002"): // fewer than fit may be meant
		return &remedy{removeIt, removal(s), ofVariable}
	case f.reference != nil:
		return k.fixReference(f, s)
	case f.config == nil && f.state == facts.Known && f.refused != bothValues:
		return k.fixValue(f, s)
	}
	return nil
}

// has reports whether one of the rules has found what nobody suppresses.
func (k *container) has(rules ...string) bool {
	return slices.ContainsFunc(k.found, func(f check.Finding) bool {
		return slices.Contains(rules, f.Rule) && k.open(f)
	})
}

// limited reports whether a limit is known that a resourceFieldRef gives.
func limited(s rule.Subject) bool {
	_, ok := s.Limit()
	return ok
}

// removable: the runtime is known to choose the recommended value, and nothing else needs the
// variable. A number without a limit is somebody's choice, and limits.cpu is then the CPUs of the
// node.
func (k *container) removable(s rule.Subject, f field) bool {
	_, counts := s.EnvProcs()
	if s.Facts.Env.State == facts.Unreadable && f.refused == "" {
		return false
	}
	return k.program.Known() && s.Automaxprocs == "" && !k.partial && !k.refers && len(k.beneath()) == 0 && s.Unset() == s.Fit.Procs && (!s.Measured() || s.Unset() == s.Expected.Procs) &&
		(limited(s) || !s.AnyMachine || !counts && f.refused == "")
}

func removal(s rule.Subject) string {
	then := fmt.Sprintf("%s then chooses %d and follows the limit", s.RuntimeName(), s.Unset())
	return "remove GOMAXPROCS: " + phrase.If(s.EveryCPU(s.Unset()), "the runtime ignores it", then)
}

func (k *container) fixReference(f field, s rule.Subject) *remedy {
	if r := f.reference; r.divisor == "1" || r.resource != "limits.cpu" && r.resource != "requests.cpu" {
		return nil
	}
	r := &remedy{words: `write divisor: "1" (whole CPUs)`, fixes: ofDivisor}
	if f.reference.divisor == "" || f.reference.divisor == "0" {
		r.fixes = []string{"PF015"} // the value stays the same
	}
	if limited(s) && f.reference.resource == "limits.cpu" && f.reference.container == "" {
		r.words += fmt.Sprintf(", which makes it %d", s.Fit.Procs)
	}
	r.edit = func(e *editor) *edit {
		node, steps := e.below(f.variable, "valueFrom", "resourceFieldRef")
		divisor, i := child(node, "divisor")
		if divisor == nil {
			return e.addKey(node, steps, "resource", "divisor", str("1"))
		}
		return e.setScalar(divisor, append(steps, i), "1")
	}
	return r
}

// fixValue writes the value, or quotes. What a base allows is wrong for an overlay with another
// limit.
func (k *container) fixValue(f field, s rule.Subject) *remedy {
	value, fixes := f.value, []string{"PF016"}
	if limited(s) && k.has("PF001", "PF003") && !k.varies {
		value, fixes = fmt.Sprint(s.Fit.Procs), []string{"PF001", "PF003", "PF005", "PF006", "PF016"}
	} else if !k.has("PF016") || f.refused == "" || k.has("PF003") {
		return nil
	}
	r := k.write(f, value, fixes)
	if !k.program.Known() && !k.refers && !k.varies && limited(s) && s.Unset() == s.Fit.Procs && k.has("PF001", "PF003") {
		r.words = k.beforeRemoval(r.words + needsNone)
	}
	return r
}

func (k *container) write(f field, value string, fixes []string) *remedy {
	set := func(e *editor) *edit {
		node, steps := e.below(f.variable, "value")
		return e.setScalar(node, steps, value)
	}
	return &remedy{set, fmt.Sprintf("write GOMAXPROCS=%s as value: %s", value, quoted(value)), fixes}
}

// Lines that set GOMAXPROCS and nothing else: in a compose file (a mapping or a list), a unit of systemd,
// a quadlet or a Dockerfile. The second group is the value.
var aloneInLine = pattern.Of(`^(\s+["']?GOMAXPROCS["']?:\s+["']?|\s*-\s+["']?GOMAXPROCS=|\s*Environment\s*=\s*["']?GOMAXPROCS=|(?i:ENV)\s+GOMAXPROCS[= ]["']?)([^"'\s#&*\\]+)(["']?\s*(?:\s#.*)?)$`)

// Parts of a compose file that several services may share: a change of one changes the others.
var sharedParts = pattern.Of(`(?m)[:-]\s+&\w|<<:|extends:`)

// settingLine is the line that sets the variable, perhaps also of a service that extends this one, or
// of an instance of this template.
func (u *unit) settingLine() rule.Place {
	return rule.Place{Path: cmp.Or(u.env.file, u.at.Path), Line: u.env.line}
}

// inLine gives a finding about a line that sets GOMAXPROCS alone its change: the recommended value,
// or no line. What comes of it is checked again before it is written.
func (c *Checker) inLine(u *unit, f check.Finding) check.Finding {
	file := c.given[u.at.Path]
	sources := []string{"environment", "Environment", "ENV"}
	if !c.o.Changes || file == nil || f.Path != u.at.Path || f.Line != u.env.line || c.users[u.settingLine()] > 1 || u.env.last != u.env.line || u.env.state != facts.Known ||
		!slices.Contains(sources, u.env.source) || !slices.Contains([]string{"PF001", "PF003", "PF004"}, f.Rule) {
		return f
	}
	s := rule.NewSubject(u.observed(c.nodeCPUs(u)))
	bounded := limited(s) || u.cpus > 0
	_, counts := s.EnvProcs()
	kept := u.refers || len(u.beneath()) > 0
	remove := !kept && u.program.Known() && s.Automaxprocs == "" && s.Unset() == s.Fit.Procs && (bounded || !counts)
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
		sibling := func(i int) bool { // a line of the same list or mapping
			return i >= 0 && i < len(lines) && indent(lines[i]) == indent(line) && item(lines[i]) == item(line) && !bytes.HasPrefix(bytes.TrimSpace(lines[i]), []byte("#"))
		}
		if u.env.source == "environment" && !sibling(f.Line-2) && !sibling(f.Line) {
			return f
		}
		change = check.Splice{From: at, To: at + len(line)}
	}
	if kept {
		f.Fix = fmt.Sprintf("write GOMAXPROCS=%d", s.Fit.Procs)
	}
	f.Change = &check.Change{Path: u.at.Path, Splices: []check.Splice{change}}
	return f
}

// indent is how far a line is indented; -1: it has nothing else.
func indent(line []byte) int {
	text := strings.TrimRight(string(line), " \r\n")
	if text == "" {
		return -1
	}
	return len(text) - len(strings.TrimLeft(text, " "))
}
