package cli

import (
	"math"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/plan/specfile"
)

// fileSchema is the schema of a file that has these fields, each in the section of its group.
func fileSchema(id, title string, rows []field.Field) *schemaNode {
	n := &schemaNode{Schema: schemaDraft, ID: id, Title: title, Type: "object", Additional: false}
	for _, g := range field.Groups() {
		section := &schemaNode{Type: "object", Description: string(g), Additional: false}
		for _, row := range rows {
			if row.Group == g && g.Section() != "" {
				one := shapeOf(row)
				one.Description = row.Help
				section.Properties = append(section.Properties, schemaProperty{Name: row.Key(), Node: one})
			}
		}
		if section.Properties != nil {
			section.Type = []string{"object", "null"} // of which all keys are comments
			n.Properties = append(n.Properties, schemaProperty{Name: g.Section(), Node: section})
		}
	}
	return n
}

// scalar is a value whose text the field reads.
func scalar() *schemaNode { return &schemaNode{Type: []string{"string", "number", "boolean"}} }

// shapeOf is what a field takes in a file.
func shapeOf(row field.Field) *schemaNode {
	one := scalar()
	if row.Holds == "" {
		one = &schemaNode{Type: "boolean"}
	}
	if of, ok := row.Value.(field.Shaped); ok {
		switch s := of.Shape(); {
		case s.Whole:
			one = &schemaNode{Type: "integer", Minimum: &s.Least}
			if s.Most != math.MaxInt {
				one.Maximum = &s.Most
			}
		case s.Pattern != "":
			one = &schemaNode{Type: []string{"string", "number"}, Pattern: s.Pattern}
		}
	}
	if of, ok := row.Value.(field.Closed); ok {
		one = &schemaNode{}
		for _, w := range of.Words() {
			one.Enum = append(one.Enum, w)
		}
	}
	_, several := row.Value.(field.List)
	switch {
	case row.Name == specfile.CommandField, specfile.IsCommand(row):
		return &schemaNode{AnyOf: []*schemaNode{{Type: "string"}, listNode()}}
	case specfile.IsJSON(row):
		return &schemaNode{AnyOf: []*schemaNode{scalar(), {Type: "object"}}}
	case several && specfile.HasLists(row):
		return &schemaNode{AnyOf: []*schemaNode{{Type: "object", Additional: &schemaNode{AnyOf: []*schemaNode{scalar(), listNode()}}}, {Type: "string"}, listNode()}}
	case several && specfile.Separator(row) != "":
		return &schemaNode{AnyOf: []*schemaNode{{Type: "object", Additional: scalar()}, {Type: "string"}, listNode()}}
	case several, specfile.Plural(row):
		return &schemaNode{AnyOf: []*schemaNode{one, listNode()}}
	}
	return one
}

func listNode() *schemaNode { return &schemaNode{Type: "array", Items: scalar(), MinItems: 1} }
