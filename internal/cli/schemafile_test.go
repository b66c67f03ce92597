package cli

import (
	"math"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/plan/specfile"
	"github.com/procfit/procfit/test/schema"
)

// fileSchema is the schema of a file that has these fields, each in the section of its group.
func fileSchema(id, title string, rows []field.Field) *schema.Node {
	n := &schema.Node{Schema: schema.Draft, ID: id, Title: title, Type: "object", Additional: false}
	for _, g := range field.Groups() {
		section := &schema.Node{Type: "object", Description: string(g), Additional: false}
		for _, row := range rows {
			if row.Group == g && g.Section() != "" {
				one := shapeOf(row)
				one.Description = row.Help
				section.Properties = append(section.Properties, schema.Property{Name: row.Key(), Node: one})
			}
		}
		if section.Properties != nil {
			section.Type = []string{"object", "null"} // of which all keys are comments
			n.Properties = append(n.Properties, schema.Property{Name: g.Section(), Node: section})
		}
	}
	return n
}

// scalar is a value whose text the field reads.
func scalar() *schema.Node { return &schema.Node{Type: []string{"string", "number", "boolean"}} }

// shapeOf is what a field takes in a file.
func shapeOf(row field.Field) *schema.Node {
	one := scalar()
	if row.Holds == "" {
		one = &schema.Node{Type: "boolean"}
	}
	if of, ok := row.Value.(field.Shaped); ok {
		switch s := of.Shape(); {
		case s.Whole:
			one = &schema.Node{Type: "integer", Minimum: &s.Least}
			if s.Most != math.MaxInt {
				one.Maximum = &s.Most
			}
		case s.Pattern != "":
			one = &schema.Node{Type: []string{"string", "number"}, Pattern: s.Pattern}
		}
	}
	if of, ok := row.Value.(field.Closed); ok {
		one = &schema.Node{}
		for _, w := range of.Words() {
			one.Enum = append(one.Enum, w)
		}
	}
	_, several := row.Value.(field.List)
	switch {
	case row.Name == specfile.CommandField, specfile.IsCommand(row):
		return &schema.Node{AnyOf: []*schema.Node{{Type: "string"}, listNode()}}
	case row.Name == specfile.BodyField:
		return &schema.Node{AnyOf: []*schema.Node{scalar(), {Type: "object"}}}
	case several && specfile.Separator(row) != "":
		return &schema.Node{AnyOf: []*schema.Node{{Type: "object", Additional: scalar()}, {Type: "string"}, listNode()}}
	case several, specfile.Plural(row):
		return &schema.Node{AnyOf: []*schema.Node{one, listNode()}}
	}
	return one
}

func listNode() *schema.Node { return &schema.Node{Type: "array", Items: scalar(), MinItems: 1} }
