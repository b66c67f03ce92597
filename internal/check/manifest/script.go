package manifest

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/program/wrapper"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/maxprocs/facts"
)

type script struct {
	path  string
	text  []byte // nil: it does not name the variable
	named bool   // by the user
	err   error  // why it cannot be read
}

func (s *script) maySet() bool { return s.text != nil || s.err != nil }

func isScript(f *check.File) bool {
	if isScriptName(f.Base()) {
		return true
	}
	if path.Ext(f.Base()) == "" {
		if len(f.Head()) == 0 {
			return f.Size > 0 && f.Mode&0o111 == 0 // it cannot be opened; one that can be started may be a program
		}
		line, _, _ := bytes.Cut(f.Head(), []byte("\n"))
		fields := strings.Fields(strings.TrimPrefix(string(line), "#!"))
		return bytes.HasPrefix(line, []byte("#!")) && slices.ContainsFunc(fields[:min(len(fields), 2)], wrapper.IsShell)
	}
	return false
}

func isScriptName(name string) bool { return path.Ext(name) == ".sh" || path.Ext(name) == ".bash" }

func (c *Checker) script(f *check.File) error {
	b, err := f.Read(mostScript)
	one := script{path: f.Path, named: f.Named}
	if err != nil && !f.Named {
		one.err = err
	} else if bytes.Contains(b, []byte(variableName)) {
		one.text = b
	}
	c.mu.Lock()
	c.scripts = append(c.scripts, one)
	c.mu.Unlock()
	if f.Named {
		return err
	}
	return check.ErrSkipped
}

type start struct {
	exported bool  // the environment has GOMAXPROCS: an assignment then changes it for the program, too
	unit     *unit // nil: nobody knows
}

// started are the commands that manifests and images start, by the last part of their names.
type started map[string]start

func (s started) add(commands []string, u *unit) {
	for _, word := range commands {
		if name := path.Base(word); name != "." && !strings.HasPrefix(word, "-") {
			at := start{exported: s[name].exported || u.exported, unit: s[name].unit}
			if at.unit == nil || len(u.limits) > 0 && u.limits[0].State == facts.Known {
				at.unit = u // under a limit it costs something
			}
			s[name] = at
		}
	}
}

// inShell is the script after the sh -c of a unit's command.
func (u *unit) inShell() (r reading, found bool) {
	for i, word := range u.argv {
		if text, _, _ := wrapper.Script(u.argv[i:]); text != "" && wrapper.IsShell(word) {
			// $$ is a dollar for Kubernetes and for compose.
			r, err := readShell([]byte(strings.ReplaceAll(text, "$$", "$")))
			return r, err == nil
		}
	}
	return reading{}, false
}

func (s started) unit(u *unit, nodeCPUs int, to check.Sink) {
	if u.unjudged != "" {
		return
	}
	s.add(u.argv, u)
	r, found := u.inShell()
	if !found {
		return
	}
	s.add(r.calls, u)
	for _, f := range r.faults {
		if f.kind != ignored || f.value != u.env.value { // else the unit is found to have it
			r.tell(f, u.place(u.argvAt), start{u.exported, u}, nodeCPUs, to)
		}
	}
}

// byName are the scripts by the last part of their paths, each list in the order of these.
func (c *Checker) byName() map[string][]*script {
	all := map[string][]*script{}
	sorting.Stable(c.scripts, func(a, b script) int { return cmp.Compare(a.path, b.path) })
	for i := range c.scripts {
		name := path.Base(c.scripts[i].path)
		all[name] = append(all[name], &c.scripts[i])
	}
	return all
}

// near are the scripts in the folder of a unit, else those in folders of it, else all.
func (u *unit) near(all []*script) []*script {
	dir := path.Dir(u.at.Path)
	return preferred(all,
		func(s *script) bool { return path.Dir(s.path) == dir },
		func(s *script) bool { return strings.HasPrefix(s.path, dir+"/") },
		func(*script) bool { return true })
}

func (c *Checker) inScripts(u *unit) {
	for _, word := range append(slices.Clone(u.argv), u.command) { // which may be a word of the text after sh -c
		name := path.Base(word)
		all := u.near(c.scriptsOf[name])
		if !slices.ContainsFunc(all, (*script).maySet) {
			continue
		}
		if len(all) > 1 {
			u.doubt(replaces, "one of %d scripts %s sets another", len(all), name)
			return
		}
		v := u.argvAt.unknown("the script sets it")
		v.source = name
		if s := all[0]; s.err == nil {
			r, err := readShell(s.text)
			if err == nil && (!r.sets || r.alone(u.exported)) {
				return
			}
			v.machine = err == nil && r.machine(u.exported)
		}
		u.set(variableName, v)
		return
	}
	if u.script && c.scriptsOf[path.Base(u.command)] == nil {
		u.doubt(replaces, "the script %s, which is not read, sets another", path.Base(u.command))
	}
}

func (c *Checker) judgeScripts(to check.Sink) {
	all := started{}
	for _, u := range c.all() {
		all.unit(u, c.nodeCPUs(u), to)
	}
	for _, s := range c.scripts {
		if !s.maySet() {
			continue
		}
		from, starts := all[path.Base(s.path)]
		var r reading
		if s.err == nil {
			r, s.err = readShell(s.text)
		}
		if !starts && !s.named { // what the runtime ignores is wrong whatever starts it
			s.err, r.faults = nil, slices.DeleteFunc(r.faults, func(f fault) bool { return f.kind != ignored })
		}
		if s.err != nil {
			to.Note(check.Note{Path: s.path, Message: "this script is skipped: " + s.err.Error()})
			continue
		}
		if starts || s.named || len(r.faults) > 0 {
			ignores(s.path, s.text, nil, to)
		}
		for _, f := range r.faults {
			r.tell(f, rule.Place{Path: s.path, Line: f.line, Column: f.column}, from, c.o.NodeCPUs, to)
		}
	}
}

// tell is PF039, of the CPUs of the machine PF047, or of what the runtime ignores PF003.
func (r reading) tell(f fault, at rule.Place, from start, nodeCPUs int, to check.Sink) {
	start := phrase.If(r.program != "", "write exec procfit-run -- "+phrase.Clean(r.program), "start the program by procfit-run")
	fix := "remove it: a program of Go 1.25 or newer follows its limit by itself; for an older one, " + start
	id, message, severity := "PF039", "", rule.Warning
	switch {
	case f.kind == divided:
		message = "GOMAXPROCS is computed from the CPU limit by a division that rounds down: of 2.5 CPUs it makes 2"
	case f.kind == roundedUp:
		message, severity = "GOMAXPROCS is computed from the CPU limit at the start, and does not follow a limit that changes", rule.Info
	case f.kind == ignored:
		id, fix = "PF003", "write a positive whole number, or remove it"
		message = fmt.Sprintf("GOMAXPROCS=%.40q is not a positive whole number, so the Go runtime ignores it", f.value)
	case f.kind == ofMachine && !r.applies(from.exported):
		return
	case f.kind == ofMachine:
		id = "PF047"
		message, severity = from.unit.underMachine(f.partly, nodeCPUs)
	case from.exported:
		return
	default:
		message, fix = "GOMAXPROCS is assigned and not exported: the program does not get it", "write export GOMAXPROCS, or "+fix
	}
	found := check.NewFinding(id, at, message, fix)
	found.Severity = severity
	to.Finding(found)
}

// underMachine is what a GOMAXPROCS that is the CPUs of the machine, or a part of them, comes to under the
// limit of a unit; nil stands for one that is not known.
func (u *unit) underMachine(part bool, nodeCPUs int) (message string, severity rule.Severity) {
	message = "GOMAXPROCS is " + phrase.If(part, "calculated", "taken") + " from the CPUs of the machine" +
		phrase.If(nodeCPUs > 0, fmt.Sprintf(" (%d)", nodeCPUs), "")
	if u == nil || len(u.limits) == 0 {
		return message + ", whatever the CPU limit", rule.Warning
	}
	s := rule.NewSubject(u.observed(nodeCPUs))
	l, limited := s.Limit()
	if !limited && part {
		return message + ", and does not follow a limit", rule.Info
	}
	if !limited {
		return message + ", which a program uses also without it", rule.Info
	}
	return fmt.Sprintf("%s, but the limit of %s allows %s: it should be %d", message, l.Dir, number.CPUs(l.CPUs), s.Fit.Procs), rule.Warning
}
