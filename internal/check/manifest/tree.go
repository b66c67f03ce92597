package manifest

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

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

func flow(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, quoted(n.Content[i].Value)+": "+flow(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case yaml.SequenceNode:
		for _, item := range n.Content {
			parts = append(parts, flow(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
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
