package manifest

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

// setting is a line of a unit file, with those that continue it.
type setting struct {
	section, key, value string
	line, last          int
}

// settings takes a unit file apart (systemd.syntax(7)). A library for it keeps no
// lines, which every finding needs.
func settings(b string) []setting {
	var all []setting
	section, line := "", 0
	open := false    // the line before ended in a backslash
	var value []byte // of the last setting, while it is open
	for text := range strings.Lines(b) {
		line++
		text = strings.TrimRight(text, "\r\n")
		trimmed := strings.TrimSpace(text)
		if trimmed == "" && !open || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, ";") {
			continue
		}
		body, more := strings.CutSuffix(text, `\`)
		if open {
			value = append(append(value, ' '), strings.TrimSpace(body)...)
			if all[len(all)-1].last, open = line, more; !more {
				all[len(all)-1].value = string(value)
			}
			continue
		}
		if strings.HasPrefix(trimmed, "[") && strings.HasSuffix(trimmed, "]") {
			section = trimmed[1 : len(trimmed)-1]
			continue
		}
		if key, rest, ok := strings.Cut(body, "="); ok {
			all = append(all, setting{section, strings.TrimSpace(key), strings.TrimSpace(rest), line, line})
			value, open = append(value[:0], strings.TrimSpace(rest)...), more
		}
	}
	if open { // the last line of the file
		all[len(all)-1].value = string(value)
	}
	return all
}

// systemd reads a service.
func (c *Checker) systemd(file string, b []byte) []*unit {
	u := &unit{env: absent(), godebug: absent()}
	u.at = rule.Place{Path: file, Line: 1, Column: 1, Object: path.Base(file)}
	u.limits = []facts.Limit{limitOf(0, "the service")}
	from := map[string]variable{} // files go before what is in the unit
	service := false
	for _, s := range settings(string(b)) {
		if s.section != "Service" {
			continue
		}
		if !service {
			service, u.at.Line = true, s.line
		}
		switch s.key {
		case "CPUQuota":
			u.limits = []facts.Limit{limitOf(0, "the service")}
			if percent, ok := strings.CutSuffix(s.value, "%"); ok {
				if v, err := strconv.ParseFloat(percent, 64); err == nil {
					u.limits = []facts.Limit{limitOf(v/100, "the service")}
				}
			}
		case "ExecStart":
			if argv := words(s.value); len(argv) > 0 && u.command == "" {
				argv[0] = strings.TrimLeft(argv[0], "@-:+!|") // systemd.service(5)
				u.starts(argv, &yaml.Node{Line: s.line, Column: 1}, 0)
			}
		case "AllowedCPUs", "CPUAffinity":
			if list, err := cpuset.Parse(strings.ReplaceAll(strings.Join(strings.Fields(s.value), ","), ",,", ",")); err == nil {
				u.cpus = len(list)
			}
		case "Environment":
			if s.value == "" { // which takes back all before it
				u.env, u.godebug = absent(), absent()
			}
			for _, assignment := range words(s.value) {
				if name, value, ok := strings.Cut(assignment, "="); ok {
					u.set(name, systemdVariable(value, s))
				}
			}
		case "PassEnvironment":
			if slices.Contains(strings.Fields(s.value), variableName) {
				u.doubt(sets, "systemd passes on its own GOMAXPROCS")
			}
		case "Slice":
			if s.value != "" && s.value != "system.slice" {
				u.doubt(counts, "%s has another CPU limit", s.value)
			}
		case "EnvironmentFile":
			c.environmentFile(u, file, s, from)
		}
	}
	for name, v := range from {
		u.set(name, v)
	}
	if !service {
		return nil
	}
	c.dropIns(u, file)
	return []*unit{u}
}

// environmentFile takes the variables of a file.
func (c *Checker) environmentFile(u *unit, file string, s setting, from map[string]variable) {
	name := strings.TrimPrefix(s.value, "-")
	variables, read := envFile(filepath.Join(filepath.Dir(filepath.FromSlash(file)), path.Base(name)), file, c.o.Tree)
	if !read {
		u.doubt(replaces, "the file %s, which is not read, sets another", name)
	}
	for key, value := range variables {
		from[key] = variable{state: facts.Known, value: unquote(value), source: name, line: s.line, column: 1, last: s.last}
	}
}

// dropIns notes files next to the unit that change it.
func (c *Checker) dropIns(u *unit, file string) {
	dir := file + ".d"
	if _, err := c.o.Tree.Resolve(filepath.FromSlash(dir)); err == nil && file != check.Stdin {
		u.doubt(replaces, "%s, which is not read, sets another", path.Base(dir))
		u.doubt(counts, "%s, which is not read, has another CPU limit", path.Base(dir))
	}
}

// systemdVariable is one of Environment, in which systemd replaces its specifiers: %i, but not %%.
func systemdVariable(value string, s setting) variable {
	v := variable{state: facts.Known, value: strings.ReplaceAll(value, "%%", "%"), source: "Environment", line: s.line, column: 1, last: s.last}
	if strings.Contains(strings.ReplaceAll(value, "%%", ""), "%") || strings.Contains(value, "{{") {
		v.state, v.value, v.why = facts.Unreadable, "", fmt.Sprintf("%.60q is filled in before the service starts", value)
	}
	return v
}

// words splits assignments as systemd does: by white space outside quotes.
func words(s string) []string {
	var all []string
	var word strings.Builder
	quote, in := byte(0), false
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case ch == '\\' && i+1 < len(s):
			i++
			word.WriteByte(s[i])
			in = true
		case quote != 0 && ch == quote:
			quote = 0
		case quote == 0 && (ch == '"' || ch == '\''):
			quote, in = ch, true
		case quote == 0 && (ch == ' ' || ch == '\t'):
			if in {
				all = append(all, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteByte(ch)
			in = true
		}
	}
	if in {
		all = append(all, word.String())
	}
	return all
}

var _ check.Checker = (*Checker)(nil)
