package manifest

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/show/pattern"
)

// editor changes one document of a text. Each edit gives the splices and what the
// document is to mean after them; nothing where the text is not of a form that it knows.
type editor struct {
	text  text
	doc   document
	steps []step     // to the container
	node  *yaml.Node // the container
}

// edit is a change of the bytes and of the meaning, and as an operation of a JSON patch
// (RFC 6902) below the container.
type edit struct {
	splices []check.Splice
	means   func(container *tree)
	patch   string // `"op":"replace","path":"…","value":…`, the path from the container
}

// proven is the edit, if the spliced document means what it is to mean.
func (e *editor) proven(x *edit) bool {
	if x == nil {
		return false
	}
	want := meaning(e.doc.root)
	if want == nil {
		return false
	}
	container := want.at(e.steps)
	if container == nil {
		return false
	}
	x.means(container)
	after, err := check.Apply(e.text.bytes, x.splices)
	if err != nil {
		return false
	}
	n, err := decode(after[e.doc.from : e.doc.to+len(after)-len(e.text.bytes)])
	return err == nil && n != nil && want.equal(meaning(n))
}

// span is the bytes of a scalar that is on one line without a tag or an anchor.
func (e *editor) span(n *yaml.Node) (from, to int, ok bool) {
	if n.Kind != yaml.ScalarNode {
		return 0, 0, false
	}
	from = e.text.offset(e.doc, n)
	if from < 0 {
		return 0, 0, false
	}
	line := e.text.bytes[from:e.doc.to]
	if end := bytes.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	length := -1
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		length = quotedLength(line, '"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		length = quotedLength(line, '\'')
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && n.Value != "" && bytes.HasPrefix(line, []byte(n.Value)):
		length = len(n.Value)
	}
	return from, from + length, length > 0
}

// quotedLength is how far a quoted scalar goes, -1 where it does not end on the line.
func quotedLength(line []byte, quote byte) int {
	if len(line) == 0 || line[0] != quote {
		return -1
	}
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '\\' && quote == '"':
			i++
		case line[i] == quote && quote == '\'' && i+1 < len(line) && line[i+1] == quote:
			i++
		case line[i] == quote:
			return i + 1
		}
	}
	return -1
}

// lineOf is the bytes of the line around an offset, without its end, and that end.
func (e *editor) lineOf(at int) (from, to int, end string) {
	b := e.text.bytes
	from = bytes.LastIndexByte(b[:at], '\n') + 1
	to = len(b)
	if n := bytes.IndexByte(b[at:], '\n'); n >= 0 {
		to, end = at+n, "\n"
		if to > from && b[to-1] == '\r' {
			to, end = to-1, "\r\n"
		}
	}
	return from, to, end
}

// newline is the line end that the text around an offset uses.
func (e *editor) newline(at int) string {
	if _, _, end := e.lineOf(at); end != "" {
		return end
	}
	if bytes.Contains(e.text.bytes, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// setScalar writes a string in the place of a scalar at steps from the container.
func (e *editor) setScalar(n *yaml.Node, steps []step, pointer, value string) *edit {
	from, to, ok := e.span(n)
	if !ok {
		return nil
	}
	return &edit{
		[]check.Splice{{From: from, To: to, New: quoted(value)}},
		func(c *tree) {
			if t := c.at(steps); t != nil {
				*t = *str(value)
			}
		},
		`"op":"replace","path":"` + pointer + `","value":` + quoted(value),
	}
}

// addKey adds a key behind another of a mapping.
func (e *editor) addKey(n *yaml.Node, steps []step, behind, pointer string, added addition) *edit {
	value, at := child(n, behind)
	if value == nil {
		return nil
	}
	_, to, ok := e.span(value)
	if !ok {
		return nil
	}
	key := n.Content[2*at]
	var splice check.Splice
	if n.Style&yaml.FlowStyle != 0 {
		splice = check.Splice{From: to, To: to, New: ", " + added.flow(key.Style&yaml.DoubleQuotedStyle != 0)}
	} else {
		from, end, _ := e.lineOf(to)
		keyAt := e.text.offset(e.doc, key)
		if keyAt < from || !onlyComment().Match(e.text.bytes[to:end]) {
			return nil
		}
		splice = check.Splice{From: end, To: end, New: added.block(e.newline(to), strings.Repeat(" ", key.Column-1))}
	}
	return &edit{
		[]check.Splice{splice},
		func(c *tree) {
			if t := c.at(steps); t != nil {
				t.put(at+1, added.key, added.tree)
			}
		},
		`"op":"add","path":"` + pointer + "/" + added.key + `","value":` + added.json,
	}
}

// onlyComment is what may follow a value on its line.
var onlyComment = pattern.Of(`^[ \t]*(?:[ \t]#.*)?$`)

// dashLine is what comes before an item of a list on its first line.
var dashLine = pattern.Of(`^( *)-[ \t]+$`)

// removeItem takes an item out of the container's env, and env with its last.
func (e *editor) removeItem(i int) *edit {
	env, at := child(e.node, "env")
	if env == nil || env.Kind != yaml.SequenceNode || i < 0 || i >= len(env.Content) || env.Style&yaml.FlowStyle != 0 {
		return nil
	}
	from, to, ok := e.itemLines(env.Content[i])
	if !ok {
		return nil
	}
	last := len(env.Content) == 1
	x := &edit{patch: `"op":"remove","path":"/env/` + strconv.Itoa(i) + `"`}
	if last {
		x.patch = `"op":"remove","path":"/env"`
		key := e.text.offset(e.doc, e.node.Content[2*at])
		if key < 0 {
			return nil
		}
		keyFrom, keyTo, end := e.lineOf(key)
		if strings.Trim(string(e.text.bytes[keyFrom:key]), " ") != "" || !onlyComment().Match(bytes.TrimPrefix(e.text.bytes[key:keyTo], []byte("env:"))) {
			return nil
		}
		// Between env and its only item are comments on it: they stay.
		x.splices = append(x.splices, check.Splice{From: keyFrom, To: keyTo + len(end)})
	}
	x.splices = append(x.splices, check.Splice{From: from, To: to})
	x.means = func(c *tree) {
		switch t := c.at([]step{at}); {
		case last:
			c.cut(at)
		case t != nil:
			t.cut(i)
		}
	}
	return x
}

// itemLines are the whole lines of an item of a list in block style.
func (e *editor) itemLines(n *yaml.Node) (from, to int, ok bool) {
	first := e.text.offset(e.doc, n)
	if first < 0 {
		return 0, 0, false
	}
	from, _, _ = e.lineOf(first)
	if !dashLine().Match(e.text.bytes[from:first]) {
		return 0, 0, false
	}
	lines := lastLine(n, 0) - n.Line + 1
	to = from
	for range lines {
		_, end, newline := e.lineOf(to)
		to = end + len(newline)
	}
	return from, to, true
}

// index is the number of the item of env that is a variable's.
func (e *editor) index(v variable) int {
	env, _ := child(e.node, "env")
	if env == nil {
		return -1
	}
	return slices.IndexFunc(env.Content, func(n *yaml.Node) bool { return e.doc.line(n) == v.line && n.Column == v.column })
}
