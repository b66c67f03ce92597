package cli

// This file and its neighbours make JSON Schemas (draft 2020-12) of Go types, from their source. A field's
// name and whether it may be absent are in its tag, its words in its comment, the values of
// a string type are its constants. Source and not values are read, so that types that nobody
// else can name have a schema too.

import (
	"bytes"
	"encoding/json"
)

// schemaNode is a schema, or a part of one. Its keys are in the order of a reader.
type schemaNode struct {
	Schema      string           `json:"$schema,omitempty"`
	ID          string           `json:"$id,omitempty"`
	Ref         string           `json:"$ref,omitempty"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Type        any              `json:"type,omitempty"` // a word or several
	Const       string           `json:"const,omitempty"`
	Enum        []any            `json:"enum,omitempty"`
	Format      string           `json:"format,omitempty"`
	Pattern     string           `json:"pattern,omitempty"`
	Encoding    string           `json:"contentEncoding,omitempty"`
	Minimum     *int             `json:"minimum,omitempty"`
	Maximum     *int             `json:"maximum,omitempty"`
	AnyOf       []*schemaNode    `json:"anyOf,omitempty"`
	OneOf       []*schemaNode    `json:"oneOf,omitempty"`
	Items       *schemaNode      `json:"items,omitempty"`
	MinItems    int              `json:"minItems,omitempty"`
	Properties  schemaProperties `json:"properties,omitempty"`
	Required    []string         `json:"required,omitempty"`
	Additional  any              `json:"additionalProperties,omitempty"` // false or a Node
	Defs        schemaProperties `json:"$defs,omitempty"`
}

// schemaProperties are named nodes, in their order.
type schemaProperties []schemaProperty

// schemaProperty is one of them.
type schemaProperty struct {
	Name string
	Node *schemaNode
}

// Of is the node of a name; nil: there is none.
func (p schemaProperties) Of(name string) *schemaNode {
	for _, one := range p {
		if one.Name == name {
			return one.Node
		}
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (p schemaProperties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, one := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(one.Name)
		if err != nil {
			return nil, err
		}
		value, err := encoded(one.Node, "")
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// JSON is the schema as a file has it.
func (n *schemaNode) JSON() ([]byte, error) { return encoded(n, "  ") }

func encoded(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return b.Bytes(), err
}
