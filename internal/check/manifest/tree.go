package manifest

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// tree is what a document means: its aliases written out, without styles, comments and
// places.
type tree struct {
	kind  yaml.Kind
	tag   string // of scalars
	value string
	keys  []*tree // of a mapping; items are its values
	items []*tree
}

// meaning writes a document out; nil where it expands beyond what is read.
func meaning(n *yaml.Node) *tree {
	left := mostMeaning
	t := expandNode(n, &left, 0)
	if left < 0 {
		return nil
	}
	return t
}

// mostMeaning bounds the nodes of a document in which something is changed.
const mostMeaning = 500_000

func expandNode(n *yaml.Node, left *int, depth int) *tree {
	for n.Kind == yaml.AliasNode && depth < deepestTree {
		n = n.Alias
		depth++
	}
	if *left--; *left < 0 || depth >= deepestTree {
		*left = -1
		return nil
	}
	t := &tree{kind: n.Kind}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			t.keys = append(t.keys, expandNode(n.Content[i], left, depth+1))
			t.items = append(t.items, expandNode(n.Content[i+1], left, depth+1))
		}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			t.items = append(t.items, expandNode(c, left, depth+1))
		}
	default:
		t.tag, t.value = n.ShortTag(), n.Value
	}
	return t
}

// equal reports whether two trees mean the same, in the same order.
func (t *tree) equal(o *tree) bool {
	if t == nil || o == nil {
		return t == o
	}
	return t.kind == o.kind && t.tag == o.tag && t.value == o.value &&
		slices.EqualFunc(t.keys, o.keys, (*tree).equal) && slices.EqualFunc(t.items, o.items, (*tree).equal)
}

// str is a string as a tree.
func str(s string) *tree { return &tree{kind: yaml.ScalarNode, tag: "!!str", value: s} }

// mapping is one of keys and values in turn.
func mapping(pairs ...any) *tree {
	t := &tree{kind: yaml.MappingNode}
	for i := 0; i+1 < len(pairs); i += 2 {
		t.keys = append(t.keys, str(pairs[i].(string)))
		switch v := pairs[i+1].(type) {
		case string:
			t.items = append(t.items, str(v))
		case *tree:
			t.items = append(t.items, v)
		}
	}
	return t
}

// step is an item of a list, or a value of a mapping, by its number.
type step = int

// at is the tree at the end of steps.
func (t *tree) at(steps []step) *tree {
	for _, s := range steps {
		if s < 0 || s >= len(t.items) {
			return nil
		}
		t = t.items[s]
	}
	return t
}

// cut takes an item, or a key with its value, out.
func (t *tree) cut(i int) {
	t.items = slices.Delete(t.items, i, i+1)
	if t.kind == yaml.MappingNode {
		t.keys = slices.Delete(t.keys, i, i+1)
	}
}

// put adds an item at a place, or a key with its value.
func (t *tree) put(i int, key string, v *tree) {
	t.items = slices.Insert(t.items, i, v)
	if t.kind == yaml.MappingNode {
		t.keys = slices.Insert(t.keys, i, str(key))
	}
}

// find is the way to the node that begins at a line and a column of the document, and is
// a mapping.
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

// child is the value of a key that a mapping itself has, and its number.
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
