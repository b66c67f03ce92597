package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/maxprocs/facts"
)

type text struct {
	path  string
	bytes []byte
	docs  []document
	reads *folder.Tree // what may be read besides it

	composeFiles map[string][]layer // that it names, each read once; nil: one cannot be read

	template bool            // a document of it is one of a template engine
	problems []check.Problem // of what could not be parsed
	again    []check.Problem // keys that appear twice, which matter in a manifest
}

// document is one. Its nodes count lines from its own first.
type document struct {
	root  *yaml.Node // nil: it holds nothing, or could not be parsed
	from  int        // its first byte
	to    int
	lines int // that are before it
	shift int // characters that are before it in its first line
}

// An API server takes objects of 3 MiB at most, and a parsed tree takes many times its text: some
// 200 bytes for a node, which may be one character.
const (
	mostBytes    = 64 << 20
	mostDocument = 16 << 20
	mostNamed    = 4 << 20   // of all files that a compose file names, or of all patches of a kustomization
	mostParts    = 4_000_000 // of all documents of a file
)

// mostLines is of Dockerfiles and units of systemd, in bytes: joining lines may take time with the
// square of their number.
const mostLines = 1 << 20

func (k kind) most() int64 {
	if k == dockerfile || k == systemdUnit {
		return mostLines
	}
	return mostBytes
}

// parse has the documents that can be parsed, whatever is wrong with others.
func parse(path string, b []byte) text {
	t := text{path: path, bytes: b}
	problem := func(line int, message string) {
		t.problems = append(t.problems, check.Problem{Path: path, Line: line, Message: message})
	}
	if !utf8.Valid(b) {
		problem(invalidLine(b), "is not UTF-8; save it as UTF-8")
		return t
	}
	parts := 0
	for _, d := range streams(b, split(b)) {
		if parts += partsOf(b[d.from:d.to]); parts > mostParts {
			problem(d.lines+1, fmt.Sprintf("the file has more than %d keys and values, and is not read from here on; split it", mostParts))
			break
		}
		root, p := decode(b[d.from:d.to])
		if root != nil && d.shift > 0 {
			shift(root, d.shift)
		}
		if p != nil {
			if templated().Match(b[d.from:d.to]) {
				t.template = true
				p.Message = "this is a template, and not YAML before it is rendered: render it, and pipe the result to procfit check -"
			}
			problem(d.lines+p.Line, p.Message)
		}
		if root != nil {
			twice(root, func(key *yaml.Node) {
				t.again = append(t.again, check.Problem{Path: path, Line: d.line(key), Column: key.Column, Message: fmt.Sprintf("key %.60q appears twice; only the last one is used", key.Value)})
			})
			d.root = root
			t.docs = append(t.docs, d)
		}
	}
	return t
}

// partsOf is at least half of the nodes of a document: what each pair, item, list and mapping has.
func partsOf(b []byte) (n int) {
	for i, c := range b {
		switch c {
		case ',', ':', '[', '{':
			n++
		case '-', '?':
			if i+1 == len(b) || b[i+1] <= ' ' || b[i+1] >= utf8.RuneSelf { // else it is part of a word
				n++
			}
		}
	}
	return n
}

// twice reports keys that appear twice in a mapping, as kubectl does.
func twice(n *yaml.Node, tell func(key *yaml.Node)) {
	if n.Kind == yaml.MappingNode {
		seen := map[string]bool{}
		for i := 0; i < len(n.Content); i += 2 {
			if k := n.Content[i]; k.Kind == yaml.ScalarNode && k.Tag != "!!merge" {
				if seen[k.Value] {
					tell(k)
				}
				seen[k.Value] = true
			}
		}
	}
	for _, c := range n.Content {
		twice(c, tell)
	}
}

func invalidLine(b []byte) int {
	line := 0
	for l := range bytes.Lines(b) {
		line++
		if !utf8.Valid(l) {
			break
		}
	}
	return line
}

// split finds the documents: a line of --- begins one and a line of ... ends one, in whatever
// scalar it is (YAML 1.2, c-forbidden).
func split(b []byte) (all []document) {
	from, lines, at, line := 0, 0, 0, 0
	cut := func(to, atLine int) {
		if holds(b[from:to]) {
			all = append(all, document{from: from, to: to, lines: lines})
		}
		from, lines = to, atLine
	}
	for l := range bytes.Lines(b) {
		switch {
		case at > from && marks(l, "---"):
			cut(at, line)
		case marks(l, "..."):
			cut(at+len(l), line+1)
		}
		at, line = at+len(l), line+1
	}
	cut(len(b), line)
	return all
}

// streams takes apart values of JSON one after the other, as jq -c and kubectl write them.
func streams(b []byte, all []document) (taken []document) {
	for _, d := range all {
		text := bytes.TrimPrefix(b[d.from:d.to], []byte("\ufeff"))
		if start := bytes.TrimLeft(text, " \t\r\n"); len(start) == 0 || start[0] != '{' && start[0] != '[' {
			taken = append(taken, d)
			continue
		}
		values := json.NewDecoder(bytes.NewReader(text))
		at := d.to - len(text)
		for {
			var value json.RawMessage
			if values.Decode(&value) != nil {
				break // what is left is for the parser of YAML, which knows more
			}
			end := at + int(values.InputOffset())
			rest := bytes.TrimLeft(b[end:d.to], " \t\r\n")
			if len(rest) == 0 || rest[0] != '{' && rest[0] != '[' {
				break
			}
			next := d.to - len(rest)
			between := b[d.from:next]
			first := document{from: d.from, to: end, lines: d.lines, shift: d.shift}
			line := between[bytes.LastIndexByte(between, '\n')+1:]
			d.lines += bytes.Count(between, []byte("\n"))
			if len(line) == len(between) { // all in one line
				d.shift += utf8.RuneCount(line)
			} else {
				d.shift = utf8.RuneCount(line)
			}
			d.from = next
			taken = append(taken, first)
		}
		taken = append(taken, d)
	}
	return taken
}

func shift(n *yaml.Node, by int) {
	if n.Line == 1 {
		n.Column += by
	}
	for _, c := range n.Content {
		shift(c, by)
	}
}

func marks(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

func holds(b []byte) bool {
	for line := range bytes.Lines(bytes.TrimPrefix(b, []byte("\ufeff"))) {
		l := bytes.TrimSpace(line)
		if len(l) > 0 && l[0] != '#' && line[0] != '%' && !bytes.Equal(l, []byte("---")) && !bytes.Equal(l, []byte("...")) {
			return true
		}
	}
	return false
}

var (
	templated  = pattern.Of(`(?m)^[^#\n]*\{\{`) // and not only in a comment
	yamlError  = pattern.Of(`(?s)^yaml: (?:line ([0-9]+): )?(.*)$`)
	jsonEscape = pattern.Of(`\\(?:u[dD][89a-fA-F][0-9a-fA-F]{2}|.)`)
)

// decode leaves aliases as they are, so that none expands. What follows the document is a fault.
func decode(b []byte) (*yaml.Node, *check.Problem) {
	if len(b) > mostDocument {
		return nil, &check.Problem{Line: 1, Message: fmt.Sprintf("a document of %d bytes; at most %d are read", len(b), mostDocument)}
	}
	if trimmed := bytes.TrimLeft(b, "\ufeff \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		// JSON escapes what is beyond 16 bits in pairs, and slashes, which this YAML does not know.
		// What replaces them is as long, so that every position stays.
		b = jsonEscape().ReplaceAllFunc(b, func(m []byte) []byte {
			switch {
			case m[1] == 'u':
				return []byte(`\u0020`)
			case m[1] == '/':
				return []byte(`//`)
			}
			return m
		})
	}
	var n, more yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(b))
	if err := documents.Decode(&n); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		m := yamlError().FindStringSubmatch(err.Error())
		if m == nil {
			return nil, &check.Problem{Line: 1, Message: err.Error()}
		}
		line, _ := strconv.Atoi(m[1]) // of none it is 0, the document's first
		return nil, &check.Problem{Line: max(line, 1), Message: "invalid YAML: " + strings.Replace(m[2], "did not find expected", "expected", 1)}
	}
	if n.Kind != yaml.DocumentNode || len(n.Content) == 0 {
		return nil, nil
	}
	if err := documents.Decode(&more); !errors.Is(err, io.EOF) {
		left := &check.Problem{Line: lastLine(&n, 0), Message: "what follows the document that ends here is not read: separate documents with a line ---"}
		if m := yamlError().FindStringSubmatch(fmt.Sprint(err)); m != nil && m[1] != "" {
			left.Line, _ = strconv.Atoi(m[1])
			if strings.Contains(m[2], "document start") { // the parser counts from 0 here
				left.Line++
			}
			left.Message = "this is not read, because it follows the end of a document: separate documents with a line ---"
		}
		return n.Content[0], left
	}
	return n.Content[0], nil
}

func (d document) line(n *yaml.Node) int { return d.lines + n.Line }

func (d document) variable(at *yaml.Node, source, value string) variable {
	return variable{state: facts.Known, value: value, source: source, line: d.line(at), column: at.Column, last: d.lines + lastLine(at, 0)}
}

// offset is in bytes; -1: not known. YAML counts characters, and no byte order mark.
func (t text) offset(d document, n *yaml.Node) int {
	at := d.from
	for range n.Line - 1 {
		end := bytes.IndexByte(t.bytes[at:d.to], '\n')
		if end < 0 {
			return -1
		}
		at += end + 1
	}
	if at == 0 {
		at += len(t.bytes) - len(bytes.TrimPrefix(t.bytes, []byte("\ufeff")))
	}
	column := n.Column - 1
	if n.Line == 1 {
		column -= d.shift
	}
	for range column {
		_, size := utf8.DecodeRune(t.bytes[at:d.to])
		if size == 0 {
			return -1
		}
		at += size
	}
	return at
}

func quoted(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }
