package manifest

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

// script is a file of shell that names GOMAXPROCS, or that cannot be read.
type script struct {
	path  string
	text  []byte
	named bool  // by the user
	err   error // why it cannot be read
}

// isScript tells one by its name or its first line.
func isScript(f *check.File) bool {
	switch path.Ext(f.Base()) {
	case ".sh", ".bash":
		return true
	case "":
		if len(f.Head()) == 0 {
			return f.Size > 0 && f.Mode&0o111 == 0 // it cannot be opened; one that can be started may be a program
		}
		line, _, _ := bytes.Cut(f.Head(), []byte("\n"))
		fields := strings.Fields(strings.TrimPrefix(string(line), "#!"))
		return bytes.HasPrefix(line, []byte("#!")) && slices.ContainsFunc(fields[:min(len(fields), 2)], func(w string) bool { return slices.Contains(shells, path.Base(w)) })
	}
	return false
}

// script keeps one until it is known what starts it.
func (c *Checker) script(f *check.File) error {
	b, err := f.Read(mostScript)
	if err != nil && !f.Named || bytes.Contains(b, []byte(variableName)) {
		c.mu.Lock()
		c.scripts = append(c.scripts, script{f.Path, b, f.Named, err})
		c.mu.Unlock()
	}
	if f.Named {
		return err
	}
	return check.ErrSkipped
}

// started are the commands that manifests and images start, by the last part of their
// names, and whether the environment of one has GOMAXPROCS: an assignment then changes it
// for the program, too.
type started map[string]bool

func (s started) add(commands []string, exported bool) {
	for _, word := range commands {
		if name := path.Base(word); name != "." && !strings.HasPrefix(word, "-") {
			s[name] = s[name] || exported
		}
	}
}

// unit judges the script in a unit's command, and takes what the command starts.
func (s started) unit(u *unit, to check.Sink) {
	s.add(u.argv, u.exported)
	for i, word := range u.argv {
		if i+2 >= len(u.argv) || !slices.Contains(shells, path.Base(word)) || !shellOption(u.argv[i+1]) {
			continue
		}
		// $$ is a dollar for Kubernetes and for compose.
		faults, calls, _ := readShell([]byte(strings.ReplaceAll(u.argv[i+2], "$$", "$")))
		s.add(calls, u.exported)
		for _, f := range faults {
			at := u.at
			at.Line, at.Column = u.argvLine, u.argvColumn
			f.tell(at, u.exported, to)
		}
		return
	}
}

// judgeScripts judges the scripts that are started, and those that the user has named.
func (c *Checker) judgeScripts(to check.Sink) {
	all := started{}
	for _, u := range c.units {
		all.unit(u, to)
	}
	for _, k := range c.store.containers {
		all.unit(&k.unit, to)
	}
	for _, s := range c.scripts {
		exported, starts := all[path.Base(s.path)]
		if !starts && !s.named {
			continue
		}
		var faults []fault
		if s.err == nil {
			faults, _, s.err = readShell(s.text)
		}
		if s.err != nil {
			to.Note(check.Note{Path: s.path, Message: "this script is skipped: " + s.err.Error()})
			continue
		}
		ignores(s.path, s.text, nil, to)
		for _, f := range faults {
			f.tell(rule.Place{Path: s.path, Line: f.line, Column: f.column}, exported, to)
		}
	}
}

// tell is PF039.
func (f fault) tell(at rule.Place, exported bool, to check.Sink) {
	start := "start the program by procfit-run"
	if f.program != "" {
		start = "write exec procfit-run -- " + phrase.Clean(f.program)
	}
	fix := "remove it: a program of Go 1.25 or newer follows its limit by itself; for an older one, " + start
	message, severity := "", rule.Warning
	switch {
	case f.kind == divided:
		message = "GOMAXPROCS is computed from the CPU limit by a division that rounds down: of 2.5 CPUs it makes 2"
	case f.kind == roundedUp:
		message, severity = "GOMAXPROCS is computed from the CPU limit at the start, and does not follow a limit that changes", rule.Info
	case exported:
		return
	default:
		message, fix = "GOMAXPROCS is assigned and not exported: the program does not get it", "write export GOMAXPROCS, or "+fix
	}
	found := check.NewFinding("PF039", at, message, fix)
	found.Severity = severity
	to.Finding(found)
}

// starting remembers what a unit starts, and where that is written.
func (u *unit) starting(argv []string, at *yaml.Node, lines int) {
	u.argv = argv
	if at != nil {
		u.argvLine, u.argvColumn = lines+at.Line, at.Column
	}
}
