package manifest

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/check"
)

// addition is a key with its value, or an item of a list, in every style. The lines
// of the block are without the indentation of the first.
type addition struct {
	key   string
	lines []string
	json  string
	tree  *tree
}

func (a addition) block(newline, indent string) string {
	var b strings.Builder
	for _, l := range a.lines {
		b.WriteString(newline + indent + l)
	}
	return b.String()
}

func (a addition) flow(quoteKey bool) string {
	if a.key == "" {
		return a.json
	}
	if quoteKey {
		return quoted(a.key) + ": " + a.json
	}
	return a.key + ": " + a.json
}

// divisorOne is what every resourceFieldRef should have.
func divisorOne() addition {
	return addition{"divisor", []string{`divisor: "1"`}, `"1"`, str("1")}
}

// limitReference is the limit of the container as its GOMAXPROCS, an item of env.
func limitReference() addition {
	return addition{
		json: `{"name": "GOMAXPROCS", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1"}}}`,
		lines: []string{
			"- name: GOMAXPROCS",
			"  valueFrom:",
			"    resourceFieldRef:",
			"      resource: limits.cpu",
			`      divisor: "1"`,
		},
		tree: mapping("name", "GOMAXPROCS", "valueFrom", mapping("resourceFieldRef", mapping("resource", "limits.cpu", "divisor", "1"))),
	}
}

// literal is a number as GOMAXPROCS, an item of env.
func literal(value string) addition {
	return addition{
		json:  `{"name": "GOMAXPROCS", "value": ` + quoted(value) + `}`,
		lines: []string{"- name: GOMAXPROCS", "  value: " + quoted(value)},
		tree:  mapping("name", "GOMAXPROCS", "value", value),
	}
}

// envOf is the key env with one item.
func envOf(item addition) addition {
	lines := []string{"env:"}
	for _, l := range item.lines {
		lines = append(lines, "  "+l)
	}
	return addition{"env", lines, "[" + item.json + "]", &tree{kind: yaml.SequenceNode, items: []*tree{item.tree}}}
}

// setReference makes the limit the container's GOMAXPROCS, where it has none.
func (e *editor) setReference() *edit { return e.addVariable(limitReference()) }

// addVariable adds an item to the container's env.
func (e *editor) addVariable(item addition) *edit {
	env, at := child(e.node, "env")
	if isMerged(e.node, "env") {
		return nil
	}
	if env == nil {
		for _, behind := range []string{"image", "name"} {
			if x := e.addKey(e.node, nil, behind, "", envOf(item)); e.proven(x) {
				return x
			}
		}
		return nil
	}
	if env.Kind != yaml.SequenceNode || len(env.Content) == 0 {
		return nil
	}
	if env.Style&yaml.FlowStyle != 0 {
		first := e.text.offset(e.doc, env.Content[0])
		return item.added(at, 0, check.Splice{From: first, To: first, New: item.json + ", "})
	}
	// Behind the last item, so that comments stay with theirs; where it is not seen
	// where that ends, before the first.
	_, end, ok := e.itemLines(env.Content[len(env.Content)-1])
	if first, _, okFirst := e.itemLines(env.Content[0]); ok && okFirst {
		dash := dashLine().FindSubmatch(e.text.bytes[first:e.text.offset(e.doc, env.Content[0])])
		block := e.itemBlock(item, string(dash[1]), end)
		if x := item.added(at, len(env.Content), check.Splice{From: end, To: end, New: block}); e.proven(x) {
			return x
		}
		return item.added(at, 0, check.Splice{From: first, To: first, New: e.itemBlock(item, string(dash[1]), first)})
	}
	return nil
}

// itemBlock is an item of a list in block style, for an offset where a line begins.
func (e *editor) itemBlock(item addition, indent string, at int) string {
	newline := e.newline(max(0, at-1))
	text := item.block(newline, indent)
	if at > 0 && e.text.bytes[at-1] != '\n' { // the last line of the file has no end
		return text
	}
	return strings.TrimPrefix(text, newline) + newline
}

// added is the addition as item i of the list at a step of the container.
func (a addition) added(at step, i int, splice check.Splice) *edit {
	return &edit{
		[]check.Splice{splice},
		func(c *tree) {
			if t := c.at([]step{at}); t != nil {
				t.put(i, "", a.tree)
			}
		},
		`"op":"add","path":"/env/` + strconv.Itoa(i) + `","value":` + a.json,
	}
}
