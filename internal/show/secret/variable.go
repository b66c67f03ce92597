package secret

import (
	"regexp"
	"slices"
	"strings"
)

// plainVariables are those of Go's runtime, whose values are no credentials.
var plainVariables = []string{"GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK", "GORACE"}

// plainValue is a number, a time or a size, or a switch: too little for a credential.
var plainValue = regexp.MustCompile(`^(|true|false|yes|no|on|off|[+-]?\d{1,6}(\.\d{1,6})?[A-Za-z%]{0,3})$`)

// Variables is NAME=VALUE words without what may be a credential. A variable that is set
// for one program alone is often one: its value stays only where it cannot be.
func Variables(words []string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		out[i] = new(cutter).variable(w)
	}
	return out
}

func (c *cutter) variable(word string) string {
	name, value, ok := strings.Cut(word, "=")
	switch {
	case !ok:
		return c.cut(word)
	case slices.Contains(plainVariables, name), !credential(name) && plainValue.MatchString(value):
		return c.text(word)
	}
	return name + "=" + c.cut(value)
}

// Own is Words of procfit's own command line, whose --env sets variables of the target.
func Own(args []string) []string { return new(cutter).own(args) }

func (c *cutter) own(args []string) []string {
	out := c.words(args)
	for i, word := range args {
		switch value, joined := strings.CutPrefix(word, "--env="); {
		case word == "--":
			return out
		case joined:
			out[i] = "--env=" + c.variable(value)
		case i > 0 && args[i-1] == "--env":
			out[i] = c.variable(word)
		}
	}
	return out
}
