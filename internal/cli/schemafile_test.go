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

// fleetSchema is the schema of a fleet.yaml: services, and the sections of a procfit.yaml for
// each of them and for all.
func fleetSchema(id string) *schemaNode {
	n := fileSchema(id, "fleet.yaml, services to sweep", fleetRows())
	sections := schemaProperties{}
	for _, s := range n.Properties {
		sections = append(sections, schemaProperty{Name: s.Name, Node: &schemaNode{Ref: toDefs + s.Name}})
	}
	service := &schemaNode{Type: "object", Additional: false, Properties: append(fleetKeys().Properties[0].Node.Properties, sections...)}
	n.Defs, n.Required = n.Properties, []string{"services"}
	n.Properties = append(schemaProperties{{Name: "services", Node: &schemaNode{Type: "object", Description: "by name", Additional: service}}}, sections...)
	return n
}

// fleetKeys are the keys of a service, for the page.
func fleetKeys() *schemaNode {
	service := &schemaNode{Description: "A service. It also has the sections of [procfit.yaml](procfit.md), which override those of its file. Sections next to `services` are for all services, and are overridden by those of a service and of its file."}
	for _, row := range specfile.ServiceRows() {
		service.Properties = append(service.Properties, schemaProperty{Name: row.Name, Node: &schemaNode{Type: "string", Description: row.Help}})
	}
	return &schemaNode{Properties: schemaProperties{{Name: "services.NAME", Node: service}}}
}
