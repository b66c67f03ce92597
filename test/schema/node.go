// Package schema makes JSON Schemas (draft 2020-12) of Go types, from their source: a
// field's name and whether it may be absent are in its tag, its words in its comment, the
// values of a string type are its constants. It also finds which schema a document has,
// and validates it.
//
// It reads source and not values, so that types that nobody else can name have a schema
// too, and comments are part of it.
package schema

import (
	"bytes"
	"encoding/json"
)

// Node is a schema, or a part of one. Its keys are in the order of a reader.
type Node struct {
	Schema      string     `json:"$schema,omitempty"`
	ID          string     `json:"$id,omitempty"`
	Ref         string     `json:"$ref,omitempty"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	Type        any        `json:"type,omitempty"` // a word or several
	Const       string     `json:"const,omitempty"`
	Enum        []any      `json:"enum,omitempty"`
	Format      string     `json:"format,omitempty"`
	Pattern     string     `json:"pattern,omitempty"`
	Encoding    string     `json:"contentEncoding,omitempty"`
	Minimum     *int       `json:"minimum,omitempty"`
	Maximum     *int       `json:"maximum,omitempty"`
	AnyOf       []*Node    `json:"anyOf,omitempty"`
	OneOf       []*Node    `json:"oneOf,omitempty"`
	Items       *Node      `json:"items,omitempty"`
	MinItems    int        `json:"minItems,omitempty"`
	Properties  Properties `json:"properties,omitempty"`
	Required    []string   `json:"required,omitempty"`
	Additional  any        `json:"additionalProperties,omitempty"` // false or a Node
	Defs        Properties `json:"$defs,omitempty"`
}

// Properties are named nodes, in their order.
type Properties []Property

// Property is one of them.
type Property struct {
	Name string
	Node *Node
}

// Of is the node of a name; nil: there is none.
func (p Properties) Of(name string) *Node {
	for _, one := range p {
		if one.Name == name {
			return one.Node
		}
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (p Properties) MarshalJSON() ([]byte, error) {
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
		value, err := text(one.Node, "")
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
func (n *Node) JSON() ([]byte, error) { return text(n, "  ") }

func text(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return b.Bytes(), err
}
