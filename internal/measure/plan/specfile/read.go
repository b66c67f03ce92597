// Package specfile reads and writes procfit.yaml, a Spec as a file. It has no keys of its
// own: a section is a group of fields, a key is a field's name in camel case, and a value
// goes through the field, so that a file is refused by the words that refuse a flag.
//
//	target:
//	  command: [./server, -addr, ":{port}"]
//	  url: http://127.0.0.1:{port}/
//	  env: {API_TOKEN: "${API_TOKEN}"}
//	compare:
//	  procs: [default, 1, 2, 4]
//	load:
//	  connections: 64
//
// ${NAME} is a variable of procfit's environment. A Spec has it as {env:NAME}, and its
// value only where a trial runs, so that no record holds it. $${ is ${ itself.
package specfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

const (
	// Name is the file that a command reads where it is in the working directory.
	Name = "procfit.yaml"
	// MostBytes bounds a file, and mostAliases the YAML aliases that are followed in it.
	MostBytes   = 1 << 20
	mostAliases = 100
	mostItems   = 10_000
)

// The names of what is not a flag: the target's command, the object in a cluster, and an expected value in
// the section check.
const (
	CommandField  = "command"
	ObjectField   = "object"
	ExpectedField = "expected"
)

// Rows are the fields whose group is a section of a file, and the target's command.
func Rows(fields []field.Field) []field.Field {
	command := field.Field{Name: CommandField, Group: field.Run, Holds: "WORDS", Help: "the program to measure, as a list of words; {port} is a free port", Value: field.Texts(new([]string))}
	rows := []field.Field{command}
	for _, f := range fields {
		if f.Group.Section() != "" {
			rows = append(rows, f)
		}
	}
	return rows
}

// File is what a procfit.yaml sets.
type File struct {
	path  string
	items []item
}

// item is one key with its value, as texts that its field reads.
type item struct {
	row   field.Field
	texts []string
	at    *yaml.Node
}

// Error is what is wrong in a file, and where.
type Error struct {
	Path         string
	Line, Column int
	Reason       string
}

func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return e.Path + ": " + e.Reason
	case e.Column == 0: // of what is not YAML
		return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Reason)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.Path, e.Line, e.Column, e.Reason)
}

// kubernetesKey matches what every manifest of Kubernetes has, and no procfit.yaml.
var kubernetesKey = pattern.Of(`(?m)^apiVersion:|\A\s*\{\s*"(apiVersion|kind)"`)

// composeKey matches what a compose file has, and a fleet, and no procfit.yaml.
var composeKey = pattern.Of(`(?m)^services:`)

// Read reads a file that may have these rows.
func Read(path string, b []byte, rows []field.Field) (*File, error) {
	r := reader{path: path, rows: rows, name: Name, of: "measurement"}
	if composeKey().Match(b) {
		return nil, &Error{Path: path, Reason: fmt.Sprintf("a file with services is not a settings file (%s), which --file names; to check a compose file: procfit check %s; to measure a fleet: procfit fleet %[2]s", Name, phrase.ShellWord(path))}
	}
	if kubernetesKey().Match(b) {
		return nil, &Error{Path: path, Reason: fmt.Sprintf("a manifest is not a settings file (%s), which --file names; to check the manifest: procfit check %s", Name, phrase.ShellWord(path))}
	}
	root, err := r.document(b)
	if err != nil || root == nil {
		return &File{path: path}, err
	}
	sections, err := r.pairs(root, "the file")
	if err != nil {
		return nil, err
	}
	return r.file(sections)
}

// file is what sections set. Where they are, keys may be that are not sections: also has
// these, for the hint.
func (r *reader) file(sections []pair, also ...string) (*File, error) {
	f := &File{path: r.path}
	for _, s := range sections {
		if !slices.Contains(r.sections(), s.key) {
			return nil, r.wrong(s.at, "unknown section %q%s", s.key, r.hint(s.key, append(also, r.sections()...)))
		}
		if isNull(s.value) {
			continue // a section whose keys are all comments
		}
		list, err := r.pairs(s.value, s.key)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			one, err := r.item(s.key, p)
			if err != nil {
				return nil, err
			}
			f.items = append(f.items, one)
		}
	}
	return f, nil
}

// Apply hands each text of the file to set, but for fields that skip reports.
func (f *File) Apply(skip func(row field.Field) bool, set func(name, text string) error) error {
	for _, i := range f.items {
		if skip(i.row) {
			continue
		}
		for _, text := range i.texts {
			if err := set(i.row.Name, text); err != nil {
				return &Error{f.path, i.at.Line, i.at.Column, Key(i.row) + " " + err.Error()}
			}
		}
	}
	return nil
}

// Has reports whether the file sets a field.
func (f *File) Has(name string) bool {
	return slices.ContainsFunc(f.items, func(i item) bool { return i.row.Name == name })
}

// Key is the key of a field, with its section.
func Key(f field.Field) string { return f.Group.Section() + "." + f.Key() }

type reader struct {
	path    string
	rows    []field.Field
	name    string // what such a file is usually called
	of      string // what one describes
	aliases int
	nodes   int
}

func (r *reader) wrong(at *yaml.Node, format string, args ...any) error {
	return &Error{r.path, at.Line, at.Column, fmt.Sprintf(format, args...)}
}

// yamlLine is how the library says where a text is no YAML.
var yamlLine = pattern.Of(`^yaml: (?:line (\d+): )?`)

// ofParser are the reasons whose line the library counts from 0.
var ofParser = pattern.Of(`^did not find expected ('|key|node content|<)`)

// document is the root of the only document; nil: there is nothing in it.
func (r *reader) document(b []byte) (*yaml.Node, error) {
	if len(b) > MostBytes {
		return nil, &Error{Path: r.path, Reason: fmt.Sprintf("larger than %d bytes: not a %s", MostBytes, r.name)}
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(b)))
	var first, second yaml.Node
	switch err := decoder.Decode(&first); {
	case err != nil && len(first.Content) == 0 && err.Error() == "EOF":
		return nil, nil
	case err != nil:
		return nil, r.notYAML(b, err)
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, r.wrong(&second, "a second document: one file describes one %s", r.of)
	case !errors.Is(err, io.EOF):
		return nil, r.notYAML(b, err)
	case len(first.Content) == 0 || isNull(first.Content[0]):
		return nil, nil
	}
	return first.Content[0], nil
}

func (r *reader) notYAML(b []byte, err error) error {
	reason := yamlLine().ReplaceAllString(err.Error(), "")
	e := &Error{Path: r.path, Reason: "invalid YAML: " + strings.TrimPrefix(reason, "did not find ") + "; a value that has { } [ ] : or # needs quotes"}
	if m := yamlLine().FindStringSubmatch(err.Error()); m != nil && m[1] != "" {
		fmt.Sscan(m[1], &e.Line)
		if ofParser().MatchString(reason) {
			e.Line = min(e.Line+1, 1+strings.Count(strings.TrimRight(string(b), "\n"), "\n"))
		}
	}
	return e
}

func (r *reader) sections() (list []string) {
	for _, f := range r.rows {
		if s := f.Group.Section(); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

func (r *reader) hint(got string, known []string) string {
	if near := phrase.DidYouMean(got, known); near != "" {
		return near
	}
	return "; known are " + strings.Join(known, ", ")
}

type pair struct {
	key       string
	at, value *yaml.Node
}

// pairs are those of a mapping, each key once.
func (r *reader) pairs(n *yaml.Node, of string) (list []pair, err error) {
	if n, err = r.followed(n); err != nil {
		return nil, err
	}
	if n.Kind != yaml.MappingNode {
		return nil, r.wrong(n, "%s: expected keys with values, as in key: value", of)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		p := pair{n.Content[i].Value, n.Content[i], n.Content[i+1]}
		if p.at.Kind != yaml.ScalarNode || p.at.Tag == "!!merge" {
			return nil, r.wrong(p.at, "%s: a key must be one plain word", of)
		}
		if slices.ContainsFunc(list, func(o pair) bool { return o.key == p.key }) {
			return nil, r.wrong(p.at, "%s: %q is there twice", of, p.key)
		}
		list = append(list, p)
	}
	return list, nil
}

// followed is a node, or that which an alias stands for.
func (r *reader) followed(n *yaml.Node) (*yaml.Node, error) {
	if r.nodes++; r.nodes > mostItems {
		return nil, r.wrong(n, "more than %d values", mostItems)
	}
	if n.Kind != yaml.AliasNode {
		return n, nil
	}
	if r.aliases++; r.aliases > mostAliases || n.Alias == nil || n.Alias.Kind == yaml.AliasNode {
		return nil, r.wrong(n, "more than %d aliases", mostAliases)
	}
	return n.Alias, nil
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// item reads one key of a section.
func (r *reader) item(section string, p pair) (item, error) {
	var known []string
	for _, row := range r.rows {
		if row.Group.Section() == section {
			known = append(known, row.Key())
			if row.Key() == p.key {
				texts, err := r.texts(row, p.value)
				for i := range texts {
					var wrong string
					if texts[i], wrong = references(texts[i]); wrong != "" {
						return item{}, r.wrong(p.value, "%s %s", Key(row), wrong)
					}
				}
				return item{row, texts, p.value}, err
			}
		}
	}
	for _, row := range r.rows { // in another section, or by the flag's name
		if row.Key() == p.key || row.Name == p.key {
			return item{}, r.wrong(p.at, "%s.%s: unknown key. Did you mean %s?", section, p.key, Key(row))
		}
	}
	return item{}, r.wrong(p.at, "%s.%s: unknown key%s", section, p.key, r.hint(p.key, known))
}

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
	case n.Kind == yaml.MappingNode && (row.Name == "body" || row.Name == ExpectedField): // whose texts are JSON
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
	case row.Holds == "COMMAND":
		return []string{load.Join(words)}, nil
	case Plural(row):
		return []string{strings.Join(words, ",")}, nil
	}
	return nil, r.wrong(n, "%s: expected one value, not a list", Key(row))
}

// Plural says whether a field's text is a list with commas.
func Plural(row field.Field) bool {
	return strings.HasSuffix(row.Holds, "S") && row.Name != CommandField || strings.HasSuffix(row.Holds, ",…")
}

// Separator is between name and value in a field whose text is a pair; empty: it is not one.
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
		if v.Kind == yaml.SequenceNode && strings.HasSuffix(row.Holds, "=LIST") {
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

// plain refuses aliases, which a decoder would follow without bounds of ours, and numbers that it
// would read in YAML's way: 0123 is 83. A date stays the text that it is.
func (r *reader) plain(n *yaml.Node, depth int) error {
	switch tag := n.ShortTag(); {
	case n.Kind == yaml.AliasNode || depth > 100:
		return r.wrong(n, "expected plain JSON")
	case n.Kind == yaml.ScalarNode && tag == "!!timestamp":
		n.Tag = "!!str"
	case n.Kind == yaml.ScalarNode && (tag == "!!int" || tag == "!!float") && !json.Valid([]byte(n.Value)):
		return r.wrong(n, "%s is not a number in JSON: write it in quotes, or as JSON does", n.Value)
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

var variableName = pattern.Of(`^[A-Za-z_][A-Za-z0-9_]*$`)

// references writes ${NAME} as a Spec has it, and $${ as ${; wrong: what is not understood.
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
