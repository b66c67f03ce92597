package manifest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/program/wrapper"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/maxprocs/facts"
)

const sourceCommand = "command"

const (
	maySet  = "the command may set it"
	fillsIn = "the command fills it in"
)

// starts takes what a unit's command says of the environment of its program: assignments of env and
// of a simple sh -c, and export. They go before all others, and what is not understood may set
// them.
func (u *unit) starts(argv []string, at variable) {
	if len(argv) == 0 {
		return
	}
	c := command{set: map[string]string{}}
	c.argv(argv)
	u.argv, u.argvAt, u.command, u.script = argv, at, cmp.Or(c.program, argv[0]), c.script
	names := strings.Contains(strings.Join(argv, " "), variableName)
	u.refers = u.refers || names
	if by := c.effect.Adds; by != "" {
		u.doubt(replaces, "%s sets another", by)
	}
	if by := c.effect.Binds; by != "" {
		u.doubt(counts, "%s binds it to another number of CPUs", by)
	}
	if n := c.effect.CPUs; n > 0 && (u.cpus == 0 || n < u.cpus) {
		u.cpus = n
	}
	if c.effect.Clears || slices.Contains(c.effect.Unset, variableName) {
		u.unset = true
	}
	if _, set := c.set[variableName]; !set && names && !c.plain {
		c.set[variableName], c.plain = "$", false
	}
	u.started = map[string]variable{}
	for name, value := range c.set {
		v := at
		v.state, v.value, v.source = facts.Known, value, sourceCommand
		switch {
		case !c.plain:
			v = v.unknown(maySet)
		case strings.ContainsAny(value, "$`"):
			v = v.unknown(fillsIn)
		}
		u.started[name] = v
	}
}

func (u *unit) inCommand() {
	if u.unset {
		u.env, u.godebug = variable{}, variable{}
	}
	u.exported = u.env.isSet()
	r, inShell := u.inShell()
	for name, v := range u.started {
		if name == variableName && (v.why == maySet || v.why == fillsIn) && inShell {
			if r.alone(u.exported) || !r.sets && !slices.ContainsFunc(u.argv, mentions) {
				continue
			}
			v.machine = r.machine(u.exported)
		}
		u.set(name, v)
	}
}

type command struct {
	set     map[string]string
	program string
	script  bool // which is a file that a shell runs
	plain   bool // all of it is understood
	effect  wrapper.Effect
}

func (c *command) argv(words []string) {
	for more := true; more; {
		words, more = wrapper.Next(words, &c.effect)
	}
	maps.Copy(c.set, c.effect.Set)
	text, file, exports := wrapper.Script(words)
	switch {
	case len(words) == 0:
		c.plain = true
	case text != "" && exports: // every assignment
	case text != "":
		before := maps.Clone(c.set)
		c.statements(text)
		maps.Copy(before, c.set)
		c.set = before
	default:
		c.program, c.script, c.plain = cmp.Or(file, words[0]), isScriptName(words[0]) || file != "", !slices.ContainsFunc(words[1:], mentions)
	}
}

// mentions reports whether a word names the variable other than to use its value: what gets the word may set it.
func mentions(word string) bool {
	return strings.Contains(used().ReplaceAllString(word, ""), variableName)
}

var used = pattern.Of(`\$[({]?` + variableName)

func (c *command) assign(word string) bool {
	name, value, ok := strings.Cut(word, "=")
	if !ok || name == "" || strings.Trim(strings.ToUpper(name), "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") != "" {
		return false
	}
	c.set[name] = value
	return true
}

// statements takes them one after the other, the last of which starts the program.
func (c *command) statements(text string) {
	if strings.ContainsAny(text, "|(){}<>*?[]#") || strings.Contains(strings.ReplaceAll(text, "&&", ""), "&") {
		return
	}
	statements := strings.FieldsFunc(strings.ReplaceAll(text, "&&", "\n"), func(r rune) bool { return r == '\n' || r == ';' })
	exported := map[string]string{}
	for i, s := range statements {
		all := words(s)
		own := command{set: map[string]string{}, effect: c.effect}
		own.effect.Set = nil // they are in c.set
		switch {
		case len(all) == 0:
			continue
		case all[0] == "export":
			for _, w := range all[1:] {
				if !own.assign(w) {
					return // of what was set before, say
				}
			}
		case all[0] == "set" || all[0] == "cd" || all[0] == "ulimit" || all[0] == "echo" || all[0] == "sleep":
			continue
		case slices.Contains([]string{"if", "for", "while", "case", "until", "unset", "read", ".", "source", "eval"}, all[0]):
			return
		default:
			for len(all) > 0 && own.assign(all[0]) {
				all = all[1:]
			}
			if len(all) == 0 || i < len(statements)-1 && len(own.set) > 0 {
				return // of the shell alone, or of another program
			}
			if i < len(statements)-1 {
				continue
			}
			own.argv(all)
			if !own.plain {
				return
			}
			c.program, c.script, c.effect = own.program, own.script, own.effect
		}
		maps.Copy(exported, own.set)
	}
	c.set, c.plain = exported, true
}

// commandOf are the words of a command, and where they begin; the entry point is the first of the keys.
func (d document) commandOf(r *reader, n *yaml.Node, keys ...string) (argv []string, at variable) {
	for _, key := range keys {
		e := r.entry(n, key, 0)
		if e.value == nil {
			continue
		}
		if at.line == 0 {
			at = d.variable(e.key, sourceCommand, "")
		}
		if list := r.items(n, key); len(list) > 0 {
			argv = append(argv, texts(list)...)
		} else {
			argv = append(argv, words(r.str(n, key))...)
		}
	}
	return argv, at
}

func misspelt(name string) bool {
	return name != "GOMAXPROCS" && (strings.EqualFold(name, "GOMAXPROCS") || strings.EqualFold(name, "GOMAXPROC"))
}
