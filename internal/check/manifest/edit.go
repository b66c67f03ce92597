package manifest

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
)

// editor changes one document. Each edit gives the splices and what the document then means;
// nothing if the text is not of a form that it knows.
type editor struct {
	text  text
	doc   document
	steps []step     // to the container
	node  *yaml.Node // the container
}

// editorOf finds a container again in the text of its file; nil: it is not there, or it is an alias.
func editorOf(k *container, t text) *editor {
	if k.object.doc >= len(t.docs) {
		return nil
	}
	d := t.docs[k.object.doc]
	node, steps := find(d.root, k.at.Line-d.lines, k.at.Column, nil)
	if node == nil {
		return nil
	}
	return &editor{text: t, doc: d, steps: steps, node: node}
}

type edit struct {
	splices []check.Splice
	at      []step     // from the container to what is added, replaced or removed
	adds    bool       // what is there moves behind it
	key     string     // of what is added to a mapping
	value   *yaml.Node // nil: it is removed
}

func (x *edit) carryOut(container *yaml.Node) {
	last := len(x.at) - 1
	in, i, width := nodeAt(container, x.at[:last]...), x.at[last], 1
	if in.Kind == yaml.MappingNode {
		i, width = 2*i, 2
	}
	switch {
	case x.value == nil:
		in.Content = slices.Delete(in.Content, i, i+width)
	case !x.adds:
		in.Content[i+width-1] = x.value
	case width == 2:
		in.Content = slices.Insert(in.Content, i, str(x.key), x.value)
	default:
		in.Content = slices.Insert(in.Content, i, x.value)
	}
}

// proven reports whether there is an edit, and the spliced document means what it is to mean.
func (e *editor) proven(x *edit) bool {
	want := meaning(e.doc.root)
	if x == nil || want == nil {
		return false
	}
	x.carryOut(nodeAt(want, e.steps...))
	after, err := check.Apply(e.text.bytes, x.splices)
	if err != nil {
		return false
	}
	n, fault := decode(after[e.doc.from : e.doc.to+len(after)-len(e.text.bytes)])
	if fault != nil || n == nil {
		return false
	}
	is := meaning(n)
	return is != nil && same(want, is)
}

// span is the bytes of a scalar that is on one line without a tag or an anchor.
func (e *editor) span(n *yaml.Node) (from, to int, ok bool) {
	if n == nil || n.Kind != yaml.ScalarNode {
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

func (e *editor) newline(at int) string {
	if _, _, end := e.lineOf(at); end != "" {
		return end
	}
	return phrase.If(bytes.Contains(e.text.bytes, []byte("\r\n")), "\r\n", "\n")
}

// literal is a string as a scalar, in single quotes if it has others and this is not JSON.
func (e *editor) literal(value string) string {
	start := bytes.TrimLeft(e.text.bytes[e.doc.from:e.doc.to], "\ufeff \t\r\n")
	if strings.Contains(value, `"`) && !bytes.HasPrefix(start, []byte("{")) {
		return "'" + strings.ReplaceAll(value, "'", "''") + "'"
	}
	return quoted(value)
}

func (e *editor) setScalar(n *yaml.Node, steps []step, value string) *edit {
	from, to, ok := e.span(n)
	if !ok {
		return nil
	}
	return &edit{splices: []check.Splice{{From: from, To: to, New: e.literal(value)}}, at: steps, value: str(value)}
}

func (e *editor) addKey(n *yaml.Node, steps []step, behind, key string, value *yaml.Node) *edit {
	before, at := child(n, behind)
	_, to, ok := e.span(before)
	if !ok {
		return nil
	}
	place := n.Content[2*at]
	var splice check.Splice
	if n.Style&yaml.FlowStyle != 0 {
		name := phrase.If(place.Style&yaml.DoubleQuotedStyle != 0, quoted(key), key)
		splice = check.Splice{From: to, To: to, New: ", " + name + ": " + flow(value)}
	} else {
		from, end, _ := e.lineOf(to)
		placeAt := e.text.offset(e.doc, place)
		if placeAt < from || !onlyComment().Match(e.text.bytes[to:end]) {
			return nil
		}
		splice = check.Splice{From: end, To: end, New: block(mapping(key, value), e.newline(to), strings.Repeat(" ", place.Column-1))}
	}
	return &edit{[]check.Splice{splice}, append(slices.Clone(steps), at+1), true, key, value}
}

// addBefore adds a key before another one of a mapping, and before the comments on that.
func (e *editor) addBefore(n *yaml.Node, steps []step, i step, key string, value *yaml.Node) *edit {
	if n.Kind != yaml.MappingNode || 2*i >= len(n.Content) {
		return nil
	}
	place := n.Content[2*i]
	at := e.text.offset(e.doc, place)
	if at < 0 {
		return nil
	}
	splice := check.Splice{From: at, To: at, New: quoted(key) + ": " + flow(value) + ", "}
	if n.Style&yaml.FlowStyle == 0 {
		from, _, _ := e.lineOf(at)
		if strings.Trim(string(e.text.bytes[from:at]), " ") != "" {
			return nil // the first key of an item of a list
		}
		for from > e.doc.from {
			above, end, _ := e.lineOf(from - 1)
			if !bytes.HasPrefix(bytes.TrimLeft(e.text.bytes[above:end], " "), []byte("#")) || above < e.doc.from {
				break
			}
			from = above
		}
		newline := e.newline(from)
		lines := block(mapping(key, value), newline, strings.Repeat(" ", place.Column-1))
		splice = check.Splice{From: from, To: from, New: strings.TrimPrefix(lines, newline) + newline}
	}
	return &edit{[]check.Splice{splice}, append(slices.Clone(steps), i), true, key, value}
}

var onlyComment = pattern.Of(`^[ \t]*(?:[ \t]#.*)?$`)

var dashLine = pattern.Of(`^( *)-[ \t]+$`)

// variableOf is GOMAXPROCS as an item of env, and limitReference the limit of the container as its value.
func variableOf(value string) *yaml.Node { return mapping("name", variableName, "value", value) }

func limitReference() *yaml.Node {
	return mapping("name", variableName, "valueFrom", mapping("resourceFieldRef", mapping("resource", "limits.cpu", "divisor", "1")))
}

func (e *editor) addVariable(item *yaml.Node) *edit {
	env, at := child(e.node, "env")
	if isMerged(e.node, "env") {
		return nil
	}
	if env == nil {
		for _, behind := range []string{"image", "name"} {
			if x := e.addKey(e.node, nil, behind, "env", list(item)); e.proven(x) {
				return x
			}
		}
		return nil
	}
	if env.Kind != yaml.SequenceNode || len(env.Content) == 0 {
		return nil
	}
	added := func(i, offset int, text string) *edit {
		return &edit{splices: []check.Splice{{From: offset, To: offset, New: text}}, at: []step{at, i}, adds: true, value: item}
	}
	offset := e.text.offset(e.doc, env.Content[0])
	if env.Style&yaml.FlowStyle != 0 {
		return added(0, offset, flow(item)+", ")
	}
	// Behind the last item, so that comments stay with theirs; if its end is not seen, before the
	// first.
	_, end, ok := e.itemLines(env.Content[len(env.Content)-1])
	first, _, okFirst := e.itemLines(env.Content[0])
	if !ok || !okFirst {
		return nil
	}
	dash := string(dashLine().FindSubmatch(e.text.bytes[first:offset])[1])
	if x := added(len(env.Content), end, e.itemBlock(item, dash, end)); e.proven(x) {
		return x
	}
	return added(0, first, e.itemBlock(item, dash, first))
}

func (e *editor) itemBlock(item *yaml.Node, indent string, at int) string {
	newline := e.newline(max(0, at-1))
	lines := block(list(item), newline, indent)
	if at > 0 && e.text.bytes[at-1] != '\n' { // the last line of the file has no end
		return lines
	}
	return strings.TrimPrefix(lines, newline) + newline
}

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
	x := &edit{splices: []check.Splice{{From: from, To: to}}, at: []step{at, i}}
	if len(env.Content) == 1 {
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
		x.at = []step{at}
	}
	return x
}

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

func (e *editor) index(v variable) int {
	env, _ := child(e.node, "env")
	if env == nil {
		return -1
	}
	return slices.IndexFunc(env.Content, func(n *yaml.Node) bool { return e.doc.line(n) == v.line && n.Column == v.column })
}

// below is a value of the item of env that sets a variable, and the way to it; nil: there is none.
func (e *editor) below(v variable, keys ...string) (*yaml.Node, []step) {
	env, at := child(e.node, "env")
	i := e.index(v)
	if i < 0 {
		return nil, nil
	}
	n, steps := env.Content[i], []step{at, i}
	for _, key := range keys {
		n, at = child(n, key)
		steps = append(steps, at)
	}
	return n, steps
}

// mostMeaning is in nodes, of a document in which something is changed.
const mostMeaning = 500_000

// meaning is a document without aliases, styles, comments and places; nil: it is too large.
func meaning(n *yaml.Node) *yaml.Node {
	left := mostMeaning
	m := expanded(n, &left, 0)
	if left < 0 {
		return nil
	}
	return m
}

func expanded(n *yaml.Node, left *int, depth int) *yaml.Node {
	for n.Kind == yaml.AliasNode && depth < deepestTree {
		n = n.Alias
		depth++
	}
	if *left--; *left < 0 || depth >= deepestTree {
		*left = -1
		return nil
	}
	m := &yaml.Node{Kind: n.Kind, Value: n.Value}
	if n.Kind == yaml.ScalarNode {
		m.Tag = n.ShortTag()
	}
	for _, c := range n.Content {
		m.Content = append(m.Content, expanded(c, left, depth+1))
	}
	return m
}

func same(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Tag == b.Tag && a.Value == b.Value && slices.EqualFunc(a.Content, b.Content, same)
}

// str is a string, mapping one of keys and values in turn, and list one of items.
func str(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

func mapping(pairs ...any) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	for _, p := range pairs {
		if s, ok := p.(string); ok {
			p = str(s)
		}
		m.Content = append(m.Content, p.(*yaml.Node))
	}
	return m
}

func list(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: items}
}

// flow is a value in the form that YAML and JSON share.
func flow(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		var parts []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, quoted(n.Content[i].Value)+": "+flow(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case yaml.SequenceNode:
		return "[" + strings.Join(phrase.Each(n.Content, flow), ", ") + "]"
	}
	return quoted(n.Value)
}

// block is a value in lines, each behind a line end and an indentation.
func block(n *yaml.Node, newline, indent string) string {
	var b strings.Builder
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if e.Encode(n) != nil || e.Close() != nil {
		return "" // which is not what it is to mean
	}
	return newline + indent + strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", newline+indent)
}

// step is an item of a list, or a value of a mapping, by its number.
type step = int

func nodeAt(n *yaml.Node, steps ...step) *yaml.Node {
	for _, s := range steps {
		for n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		if n.Kind == yaml.MappingNode {
			s = 2*s + 1
		}
		n = n.Content[s]
	}
	return n
}

// find is the mapping at a line and a column, and the way to it.
func find(n *yaml.Node, line, column int, steps []step) (*yaml.Node, []step) {
	if n.Kind == yaml.MappingNode && n.Line == line && n.Column == column {
		return n, slices.Clone(steps)
	}
	if n.Line > line || len(steps) > deepestTree {
		return nil, nil
	}
	stride, first := 1, 0
	if n.Kind == yaml.MappingNode {
		stride, first = 2, 1
	}
	for i, s := first, 0; i < len(n.Content); i, s = i+stride, s+1 {
		if n.Content[i].Kind == yaml.AliasNode {
			continue
		}
		if found, at := find(n.Content[i], line, column, append(steps, s)); found != nil {
			return found, at
		}
	}
	return nil, nil
}

// child does not look into what is merged in.
func child(n *yaml.Node, key string) (*yaml.Node, step) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, -1
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1], i / 2
		}
	}
	return nil, -1
}
