package specfile

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/secret"
)

// SchemaURL is where editors find the schema of a file.
const SchemaURL = "https://raw.githubusercontent.com/procfit/procfit/main/docs/reference/formats/procfit.schema.json"

// Written is a procfit.yaml, and the variables of the environment that it names.
type Written struct {
	Text      []byte
	Variables []string
}

// Given is a field of the file to write, with its texts.
type Given struct {
	field.Field
	Texts []string
}

// Write writes the fields that are given, by their sections. In place of a credential it
// names a variable. A text that is not UTF-8 is an error, since YAML cannot hold it.
func Write(given []Given) (*Written, error) {
	w := writer{used: map[string]bool{}}
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, g := range field.Groups() {
		section := &yaml.Node{Kind: yaml.MappingNode}
		for _, one := range given {
			if one.Group != g || g.Section() == "" || len(one.Texts) == 0 {
				continue
			}
			if i := slices.IndexFunc(one.Texts, func(s string) bool { return !utf8.ValidString(s) }); i >= 0 {
				return nil, fmt.Errorf("%s is not UTF-8: YAML cannot hold it", Key(one.Field))
			}
			section.Content = append(section.Content, plain(one.Key()), w.value(one.Field, w.discreet(one)))
		}
		if len(section.Content) > 0 {
			root.Content = append(root.Content, plain(g.Section()), section)
		}
	}
	b := bytes.NewBufferString("# yaml-language-server: $schema=" + SchemaURL + "\n")
	if len(root.Content) == 0 {
		b.WriteString("{} # every key has its default\n")
		return &Written{b.Bytes(), nil}, nil
	}
	encoder := yaml.NewEncoder(b)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return nil, err
	}
	return &Written{b.Bytes(), w.variables}, encoder.Close()
}

type writer struct {
	variables []string
	used      map[string]bool // names that stand for a credential
}

// discreet are the texts of a field as a file has them: a credential is the name of a
// variable.
func (w *writer) discreet(one Given) (texts []string) {
	args := []string{"sweep", "--"}
	args = append(args, one.Texts...)
	shown := secret.Own(args)[2:]
	for i, text := range one.Texts {
		before := ""
		if one.Name != CommandField {
			shown[i] = secret.Own([]string{"sweep", "--" + one.Name, text})[2]
			before = one.Name
		} else if i > 0 {
			before = one.Texts[i-1]
		}
		texts = append(texts, w.named(before, strings.ReplaceAll(shown[i], "${", "$${")))
	}
	return texts
}

// variable is a variable in a Spec.
var variable = regexp.MustCompile(`\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)

// word is what a credential may be called by.
var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_-]*`)

// named has ${NAME} in place of each variable and of each credential. The name of a
// credential is the last word before it.
func (w *writer) named(before, text string) string {
	text = variable.ReplaceAllStringFunc(text, func(found string) string {
		name := variable.FindStringSubmatch(found)[1]
		w.add(name)
		return "${" + name + "}"
	})
	done := ""
	for {
		head, tail, found := strings.Cut(text, secret.Redacted)
		if !found {
			return done + text
		}
		name := w.credential(before, done+head)
		w.add(name)
		done, text = done+head+"${"+name+"}", tail
	}
}

// credential is a new name for one that these words are before.
func (w *writer) credential(before, head string) string {
	name := "SECRET"
	for _, from := range []string{before, head} {
		if words := word.FindAllString(from, -1); words != nil {
			name = strings.ToUpper(strings.ReplaceAll(words[len(words)-1], "-", "_"))
		}
	}
	first := name
	for n := 2; w.used[name]; n++ {
		name = fmt.Sprintf("%s_%d", first, n)
	}
	w.used[name] = true
	return name
}

func (w *writer) add(name string) {
	if !slices.Contains(w.variables, name) {
		w.variables = append(w.variables, name)
	}
}

// value is the texts of a field as YAML.
func (w *writer) value(f field.Field, texts []string) *yaml.Node {
	_, several := f.Value.(field.List)
	if Plural(f) {
		if words := strings.Split(strings.Join(texts, ","), ","); len(words) > 1 && !slices.ContainsFunc(words, func(s string) bool { return s == "" }) {
			return flow(yaml.SequenceNode, words)
		}
	}
	if !several {
		return plain(texts[0])
	}
	if words, ok := pairsOf(f, texts); ok {
		return flow(yaml.MappingNode, words)
	}
	if len(texts) == 1 && f.Name != CommandField {
		return plain(texts[0])
	}
	return flow(yaml.SequenceNode, texts)
}

// pairsOf are names and values in turn, if every text is a pair that a mapping can hold.
func pairsOf(f field.Field, texts []string) (words []string, ok bool) {
	s := Separator(f)
	if s == "" {
		return nil, false
	}
	var names []string
	closed, isClosed := f.Value.(field.Closed)
	if isClosed { // of parts, several of which may be in one text
		texts = strings.Split(strings.Join(texts, ","), ",")
	}
	for _, text := range texts {
		name, value, found := strings.Cut(text, s)
		if isClosed && slices.Contains(closed.Words(), text) {
			name, value, found = text, "true", true
		}
		if !found || slices.Contains(names, name) || name == "" || strings.Contains(name, "${") {
			return nil, false
		}
		names, words = append(names, name), append(words, name, value)
	}
	return words, true
}

// longestLine is how many characters a list on one line has at most.
const longestLine = 100

func flow(kind yaml.Kind, texts []string) *yaml.Node {
	n := &yaml.Node{Kind: kind}
	length := 0
	for _, text := range texts {
		n.Content = append(n.Content, plain(text))
		length += len(text) + 2
	}
	if length <= longestLine && kind == yaml.SequenceNode {
		n.Style = yaml.FlowStyle
	}
	return n
}

// number is a text that YAML need not quote.
var number = regexp.MustCompile(`^(0|[1-9][0-9]{0,19})(\.[0-9]{1,9})?$`)

// plain is a text as a scalar, quoted where it has to be.
func plain(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	switch {
	case text == "true", text == "false":
		n.Tag = "!!bool"
	case number.MatchString(text) && strings.Contains(text, "."):
		n.Tag = "!!float"
	case number.MatchString(text):
		n.Tag = "!!int"
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.TrimSpace(text) != text || text == "<<":
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
