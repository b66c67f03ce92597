package specfile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
)

// SchemaURL is where editors find the schema of a file.
const SchemaURL = "https://raw.githubusercontent.com/procfit/procfit/main/docs/reference/formats/procfit.schema.json"

// Write writes a Spec, by the sections of the rows. A text that is not UTF-8 is an error,
// since YAML cannot hold it.
func Write(s spec.Spec, rows []field.Field) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, g := range field.Groups() {
		section := &yaml.Node{Kind: yaml.MappingNode}
		for _, row := range rows {
			texts := textsOf(s, row)
			if row.Group != g || len(texts) == 0 {
				continue
			}
			if slices.ContainsFunc(texts, func(text string) bool { return !utf8.ValidString(text) }) {
				return nil, fmt.Errorf("%s is not UTF-8: YAML cannot hold it", Key(row))
			}
			section.Content = append(section.Content, plain(row.Key()), value(row, texts))
		}
		if len(section.Content) > 0 {
			root.Content = append(root.Content, plain(g.Section()), section)
		}
	}
	b := bytes.NewBufferString("# yaml-language-server: $schema=" + SchemaURL + "\n")
	if len(root.Content) == 0 {
		b.WriteString("{} # every key has its default\n")
		return b.Bytes(), nil
	}
	encoder := yaml.NewEncoder(b)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return nil, err
	}
	err := encoder.Close()
	return b.Bytes(), err
}

// textsOf are those of a row as a file has them: ${NAME} is a variable, and $${ is ${ itself.
func textsOf(s spec.Spec, row field.Field) []string {
	texts := s.Get(row.Name)
	switch {
	case row.Group == field.Check: // whose names others have too
		return nil
	case row.Name == CommandField:
		texts = s.Program
	case row.Name == ObjectField && inCluster(s):
		texts = s.Operands
	}
	return phrase.Each(texts, func(text string) string {
		return spec.Replace(strings.ReplaceAll(text, "${", "$${"), func(name string) string { return "${" + name + "}" })
	})
}

// inCluster says whether a Spec is measured in a cluster. Then its words are an object.
func inCluster(s spec.Spec) bool { return strings.HasPrefix(s.Command, "kube ") }

// Rest is what a file with these rows lacks of a Spec.
func Rest(s spec.Spec, rows []field.Field) spec.Spec {
	if s.Program = nil; inCluster(s) {
		s.Operands = nil
	}
	return s.Only(func(name string) bool {
		return !slices.ContainsFunc(rows, func(row field.Field) bool { return row.Name == name && row.Group != field.Check })
	})
}

func value(f field.Field, texts []string) *yaml.Node {
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

const longestLine = 100

func flow(kind yaml.Kind, texts []string) *yaml.Node {
	n := &yaml.Node{Kind: kind, Content: phrase.Each(texts, plain)}
	if kind == yaml.SequenceNode && len(strings.Join(texts, ", "))+2 <= longestLine {
		n.Style = yaml.FlowStyle
	}
	return n
}

// number is a text that YAML need not quote.
var number = pattern.Of(`^(0|[1-9][0-9]{0,19})(\.[0-9]{1,9})?$`)

func plain(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	switch {
	case text == "true", text == "false":
		n.Tag = "!!bool"
	case number().MatchString(text) && strings.Contains(text, "."):
		n.Tag = "!!float"
	case number().MatchString(text):
		n.Tag = "!!int"
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.TrimSpace(text) != text || text == "<<":
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
