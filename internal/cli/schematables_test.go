package cli

import (
	"fmt"
	"slices"
	"strings"
)

// Tables are the keys of a schema's objects in Markdown, the root first. An object that
// another page shows, as its document has it too, is not shown again: shown has the page.
func (n *schemaNode) Tables(page string, shown map[string]string) string {
	w := keyTables{page: page, shown: shown}
	for _, r := range append([]*schemaNode{n}, n.OneOf...) {
		if r.Ref != "" {
			w.want(r.Ref)
		}
	}
	for _, section := range n.Properties {
		w.object(section.Name, section.Node)
	}
	for i := 0; i < len(w.queue); i++ {
		if name := w.queue[i]; shown[name] == page {
			w.object(name, n.Defs.Of(name))
		}
	}
	return w.b.String()
}

type keyTables struct {
	b     strings.Builder
	page  string
	shown map[string]string // objects, by the page that has them
	queue []string          // names of objects, as they come up
}

const toDefs = "#/$defs/"

func (w *keyTables) want(ref string) string {
	name := strings.TrimPrefix(ref, toDefs)
	if w.shown[name] == "" {
		w.shown[name] = w.page
	}
	if !slices.Contains(w.queue, name) {
		w.queue = append(w.queue, name)
	}
	return name
}

func (w *keyTables) object(name string, n *schemaNode) {
	fmt.Fprintf(&w.b, "\n## %s\n\n", name)
	if n.Description != "" {
		fmt.Fprintf(&w.b, "%s\n\n", keyCell(n.Description))
	}
	if len(n.Properties) == 0 {
		return
	}
	w.b.WriteString("| key | type | unit | meaning |\n|--|--|--|--|\n")
	for _, p := range n.Properties {
		key := "`" + p.Name + "`"
		if n.Required != nil && !slices.Contains(n.Required, p.Name) {
			key += "?"
		}
		fmt.Fprintf(&w.b, "| %s | %s | %s | %s |\n", key, w.typeOf(p.Node), unitOfKey(p.Name, p.Node), keyCell(p.Node.Description))
	}
}

// keyCell is a text as a table has it.
func keyCell(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "\n", " ").Replace(text)
}

// typeOf names what a node takes.
func (w *keyTables) typeOf(n *schemaNode) string {
	switch {
	case n.Ref != "":
		name := w.want(n.Ref)
		return fmt.Sprintf("[%s](%s#%s)", name, strings.TrimPrefix(w.shown[name], w.page), keyAnchor(name))
	case n.Const != "":
		return "`" + n.Const + "`"
	case n.Enum != nil:
		var words []string
		for _, e := range n.Enum {
			words = append(words, fmt.Sprintf("`%v`", e))
		}
		return strings.Join(words, ", ")
	case n.AnyOf != nil:
		var words []string
		for _, one := range n.AnyOf {
			words = append(words, w.typeOf(one))
		}
		return strings.Join(words, " or ")
	case n.Items != nil:
		text := "list of " + w.typeOf(n.Items)
		if words, ok := n.Type.([]string); ok && slices.Contains(words, "null") {
			text += " or null"
		}
		return text
	}
	if of, ok := n.Additional.(*schemaNode); ok {
		return "map to " + w.typeOf(of)
	}
	switch t := n.Type.(type) {
	case string:
		if n.Format != "" {
			return n.Format
		}
		return t
	case []string:
		if len(t) == 3 { // text, number or switch, of a file
			return "value"
		}
		return strings.Join(t, " or ")
	}
	return "any"
}

// keyAnchor is where a heading is found.
func keyAnchor(name string) string { return strings.ToLower(strings.ReplaceAll(name, ".", "")) }

// unitOfKey is what a key's name says of its number.
func unitOfKey(name string, n *schemaNode) string {
	isNumber := false
	switch t := n.Type.(type) {
	case string:
		isNumber = t == "number" || t == "integer"
	case []string:
		isNumber = slices.Contains(t, "number") || slices.Contains(t, "integer")
	}
	for _, u := range [][2]string{{"per_second", "per second"}, {"seconds", "s"}, {"_bytes", "bytes"}, {"ratio", "share"}, {"cpus", "CPUs"}} {
		if strings.HasSuffix(name, u[0]) && (isNumber || n.Ref != "") {
			return u[1]
		}
	}
	return ""
}
