package specfile

import (
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/spec"
)

// texts are what a field is set with, one after the other.
func (r *reader) texts(row field.Field, n *yaml.Node) ([]string, error) {
	n, err := r.followed(n)
	if err != nil {
		return nil, err
	}
	_, several := row.Value.(field.List)
	switch {
	case isNull(n):
		return nil, r.wrong(n, "%s has no value: give one, or remove the key", Key(row))
	case n.Kind == yaml.ScalarNode && row.Name == CommandField:
		words, err := load.Split(n.Value)
		if err != nil {
			return nil, r.wrong(n, "%s %q: %v; or write a list of words", Key(row), secret.Text(n.Value), err)
		}
		return words, nil
	case n.Kind == yaml.ScalarNode:
		return []string{n.Value}, nil
	case n.Kind == yaml.MappingNode && IsJSON(row):
		return r.json(row, n)
	case n.Kind == yaml.MappingNode && several && Separator(row) != "":
		return r.mapping(row, n)
	case n.Kind == yaml.MappingNode:
		return nil, r.wrong(n, "%s: expected a value, not keys", Key(row))
	}
	words, err := r.scalars(row, n)
	switch {
	case err != nil || several:
		return words, err
	case IsCommand(row):
		return []string{phrase.Shell(words)}, nil
	case Plural(row):
		return []string{strings.Join(words, ",")}, nil
	}
	return nil, r.wrong(n, "%s: expected one value, not a list", Key(row))
}

// IsCommand says whether a field is a command, which a file may have as a list of words.
func IsCommand(row field.Field) bool { return row.Holds == "COMMAND" }

// Plural says whether a field's text is a list with commas.
func Plural(row field.Field) bool {
	return strings.HasSuffix(row.Holds, "S") && row.Name != CommandField || strings.HasSuffix(row.Holds, ",…")
}

// HasLists says whether the value of each pair of a field is a list with commas.
func HasLists(row field.Field) bool { return strings.HasSuffix(row.Holds, "=LIST") }

// Separator is what is between name and value in a field whose text is a pair; empty: it
// is not one.
func Separator(row field.Field) string {
	form := strings.Trim(row.Holds, "'")
	for _, s := range []string{": ", "="} {
		if name, _, ok := strings.Cut(form, s); ok && strings.EqualFold(name, "name") || ok && strings.EqualFold(name, "rule") {
			return s
		}
	}
	return ""
}

func (r *reader) scalars(row field.Field, n *yaml.Node) (list []string, err error) {
	for _, c := range n.Content {
		if c, err = r.followed(c); err != nil {
			return nil, err
		}
		if c.Kind != yaml.ScalarNode || isNull(c) {
			return nil, r.wrong(c, "%s: expected a list of plain values", Key(row))
		}
		list = append(list, c.Value)
	}
	if len(list) == 0 {
		return nil, r.wrong(n, "%s is empty: give a value, or remove the key", Key(row))
	}
	return list, nil
}

func (r *reader) mapping(row field.Field, n *yaml.Node) (list []string, err error) {
	pairs, err := r.pairs(n, Key(row))
	for _, p := range pairs {
		v, err := r.followed(p.value)
		if err != nil {
			return nil, err
		}
		if v.Kind == yaml.SequenceNode && HasLists(row) {
			words, err := r.scalars(row, v)
			if err != nil {
				return nil, err
			}
			list = append(list, p.key+Separator(row)+strings.Join(words, ","))
			continue
		}
		if v.Kind != yaml.ScalarNode || isNull(v) {
			return nil, r.wrong(v, "%s.%s: expected a plain value", Key(row), p.key)
		}
		text := p.key + Separator(row) + v.Value
		if of, ok := row.Value.(field.Closed); ok && slices.Contains(of.Words(), p.key) { // insecure, which has no value
			if v.Value != "true" {
				return nil, r.wrong(v, "%s.%s: expected true; remove it to turn it off", Key(row), p.key)
			}
			text = p.key
		}
		list = append(list, text)
	}
	if err == nil && len(list) == 0 {
		err = r.wrong(n, "%s is empty: give a value, or remove the key", Key(row))
	}
	return list, err
}

// json is a value in YAML as JSON.
func (r *reader) json(row field.Field, n *yaml.Node) ([]string, error) {
	if err := r.plain(n, 0); err != nil {
		return nil, err
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, r.wrong(n, "%s: not JSON", Key(row))
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, r.wrong(n, "%s: not JSON", Key(row))
	}
	return []string{string(b)}, nil
}

// plain refuses aliases, which a decoder would follow without bounds of ours.
func (r *reader) plain(n *yaml.Node, depth int) error {
	if n.Kind == yaml.AliasNode || depth > 100 {
		return r.wrong(n, "expected plain JSON")
	}
	for _, c := range n.Content {
		if err := r.plain(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// reference is ${NAME} and $${, in that order.
var reference = pattern.Of(`\$?\$\{([^{}]*\})?`)

// variableName is that of an environment variable.
var variableName = pattern.Of(`^[A-Za-z_][A-Za-z0-9_]*$`)

// references writes ${NAME} as a Spec has it, and $${ as ${; wrong says what is not
// understood.
func references(text string) (in, wrong string) {
	in = reference().ReplaceAllStringFunc(text, func(found string) string {
		if rest, ok := strings.CutPrefix(found, "$$"); ok {
			return "$" + rest
		}
		name := strings.TrimSuffix(strings.TrimPrefix(found, "${"), "}")
		if !strings.HasSuffix(found, "}") || !variableName().MatchString(name) {
			wrong = "has ${ without a variable's name: write ${NAME} for a variable of the environment, and $${ for ${ itself"
		}
		return spec.Variable(name)
	})
	return in, wrong
}
