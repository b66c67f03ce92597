package cli

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// schemaDraft is the version of JSON Schema that the schemas are written in.
const schemaDraft = "https://json-schema.org/draft/2020-12/schema"

// schemaTypes are those of packages, read from their source.
type schemaTypes struct {
	packages map[string]*types.Package
	comments map[token.Pos]string
	// Own are schemas of types that write their JSON themselves, by their names such as
	// ps.process.
	Own map[string]*schemaNode
	// Null are the lists that may be null, by the names of their fields such as
	// journal.Target.Command.
	Null []string
}

// loadSchemaTypes reads packages by their import paths.
func loadSchemaTypes(dir string, paths ...string) (*schemaTypes, error) {
	list, err := packages.Load(&packages.Config{
		Dir:  dir,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, paths...)
	if err != nil {
		return nil, err
	}
	t := &schemaTypes{packages: map[string]*types.Package{}, comments: map[token.Pos]string{}, Own: map[string]*schemaNode{}}
	for _, p := range list {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		t.packages[p.PkgPath] = p.Types
		for _, f := range p.Syntax {
			t.read(f)
		}
	}
	return t, nil
}

// read keeps the comments of a file's types and fields.
func (t *schemaTypes) read(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			for _, s := range n.Specs {
				if one, ok := s.(*ast.TypeSpec); ok {
					t.comments[one.Name.Pos()] = commentIn(one.Doc, n.Doc)
				}
			}
		case *ast.Field:
			for _, name := range n.Names {
				t.comments[name.Pos()] = commentIn(n.Doc, n.Comment)
			}
		}
		return true
	})
}

// commentIn is the first comment that is there, in one line.
func commentIn(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if text := strings.Join(strings.Fields(g.Text()), " "); text != "" {
			return text
		}
	}
	return ""
}

// Document is the schema of a document whose root is one of several types, each with the
// words that are the same in all documents of it, such as schema or kind.
func (t *schemaTypes) Document(id, title string, roots ...schemaRoot) (*schemaNode, error) {
	b := schemaBuilder{schemaTypes: t}
	n := &schemaNode{Schema: schemaDraft, ID: id, Title: title}
	for _, r := range roots {
		p := t.packages[r.Package]
		if p == nil || p.Scope().Lookup(r.Type) == nil {
			return nil, fmt.Errorf("no type %s.%s", r.Package, r.Type)
		}
		ref := b.of(p.Scope().Lookup(r.Type).Type())
		if b.err != nil {
			return nil, b.err
		}
		def := b.defs.Of(strings.TrimPrefix(ref.Ref, "#/$defs/"))
		for key, word := range r.Const {
			of := def.Properties.Of(key)
			if of == nil {
				return nil, fmt.Errorf("%s.%s has no key %s", r.Package, r.Type, key)
			}
			of.Type, of.Const = nil, word
		}
		n.OneOf = append(n.OneOf, ref)
	}
	if len(n.OneOf) == 1 {
		n.Ref, n.OneOf = n.OneOf[0].Ref, nil
	}
	slices.SortFunc(b.defs, func(a, c schemaProperty) int { return strings.Compare(a.Name, c.Name) })
	n.Defs = b.defs
	return n, b.err
}

// schemaRoot is a type of documents.
type schemaRoot struct {
	Package, Type string
	Const         map[string]string
}

type schemaBuilder struct {
	*schemaTypes
	defs schemaProperties
	err  error
}

// of is the schema of a type.
func (b *schemaBuilder) of(t types.Type) *schemaNode {
	switch t := t.(type) {
	case *types.Alias:
		return b.of(types.Unalias(t))
	case *types.Named:
		return b.named(t)
	case *types.Pointer:
		return b.of(t.Elem())
	case *types.Basic:
		return b.basic(t)
	case *types.Slice:
		if e, ok := t.Elem().Underlying().(*types.Basic); ok && e.Kind() == types.Byte {
			return &schemaNode{Type: "string", Encoding: "base64"}
		}
		return &schemaNode{Type: "array", Items: b.element(t.Elem())}
	case *types.Array:
		return &schemaNode{Type: "array", Items: b.element(t.Elem())}
	case *types.Map:
		return &schemaNode{Type: "object", Additional: b.element(t.Elem())}
	case *types.Struct:
		return b.object("", t)
	}
	b.fail("no schema for %s", t)
	return &schemaNode{}
}

func (b *schemaBuilder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

// element is of gives null where a pointer may be nil.
func (b *schemaBuilder) element(t types.Type) *schemaNode {
	n := b.of(t)
	if _, ok := t.(*types.Pointer); ok {
		return orNull(n)
	}
	return n
}

func orNull(n *schemaNode) *schemaNode {
	if word, ok := n.Type.(string); ok && n.Enum == nil {
		n.Type = []string{word, "null"}
		return n
	}
	return &schemaNode{AnyOf: []*schemaNode{n, {Type: "null"}}}
}

func (b *schemaBuilder) basic(t *types.Basic) *schemaNode {
	switch info := t.Info(); {
	case info&types.IsBoolean != 0:
		return &schemaNode{Type: "boolean"}
	case info&types.IsInteger != 0:
		return &schemaNode{Type: "integer"}
	case info&types.IsFloat != 0:
		return &schemaNode{Type: "number"}
	case info&types.IsString != 0:
		return &schemaNode{Type: "string"}
	}
	b.fail("no schema for %s", t)
	return &schemaNode{}
}

// named is a type with a name: a struct is a definition of its own.
func (b *schemaBuilder) named(t *types.Named) *schemaNode {
	o := t.Obj()
	if o.Pkg() == nil {
		return b.of(t.Underlying())
	}
	name := o.Pkg().Name() + "." + o.Name()
	if own := b.Own[name]; own != nil {
		return b.define(name, own)
	}
	switch {
	case name == "time.Time":
		return &schemaNode{Type: "string", Format: "date-time"}
	case hasMethod(t, "MarshalJSON"):
		b.fail("%s writes its JSON itself: give its schema", name)
		return &schemaNode{}
	case hasMethod(t, "MarshalText"):
		return &schemaNode{Type: "string", Description: b.comments[o.Pos()]}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		ref := &schemaNode{Ref: "#/$defs/" + name}
		if b.defs.Of(name) == nil {
			def := &schemaNode{Description: b.comments[o.Pos()]}
			b.defs = append(b.defs, schemaProperty{name, def})
			filled := b.object(name, u)
			filled.Description = def.Description
			*def = *filled
		}
		return ref
	case *types.Basic:
		n := b.basic(u)
		if u.Info()&types.IsString != 0 {
			n.Enum = constants(o)
		}
		return n
	}
	return b.of(t.Underlying())
}

func (b *schemaBuilder) define(name string, n *schemaNode) *schemaNode {
	if b.defs.Of(name) == nil {
		b.defs = append(b.defs, schemaProperty{name, n})
		for _, one := range n.Defs {
			if b.defs.Of(one.Name) == nil {
				b.defs = append(b.defs, one)
			}
		}
		n.Defs = nil
	}
	return &schemaNode{Ref: "#/$defs/" + name}
}

func hasMethod(t *types.Named, name string) bool {
	m, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), true, t.Obj().Pkg(), name)
	_, ok := m.(*types.Func)
	return ok
}

// constants are the values of a string type, as they are declared.
func constants(o *types.TypeName) (values []any) {
	scope := o.Pkg().Scope()
	var list []*types.Const
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok && types.Identical(c.Type(), o.Type()) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *types.Const) int { return int(a.Pos() - b.Pos()) })
	for _, c := range list {
		if v := constant.StringVal(c.Val()); !slices.Contains(values, any(v)) {
			values = append(values, v)
		}
	}
	return values
}

// schemaMember is a field of a struct, or of one that it embeds.
type schemaMember struct {
	name  string
	depth int
	node  *schemaNode
	maybe bool
}

func (b *schemaBuilder) object(name string, t *types.Struct) *schemaNode {
	n := &schemaNode{Type: "object", Additional: false}
	all := b.members(name, t, 0)
	for i, m := range all {
		hidden := slices.ContainsFunc(all, func(o schemaMember) bool { return o.name == m.name && o.depth < m.depth })
		if hidden || slices.ContainsFunc(all[:i], func(o schemaMember) bool { return o.name == m.name && o.depth == m.depth }) {
			continue
		}
		n.Properties = append(n.Properties, schemaProperty{m.name, m.node})
		if !m.maybe {
			n.Required = append(n.Required, m.name)
		}
	}
	return n
}

// members are the fields that JSON has of a struct; what is embedded is among them.
func (b *schemaBuilder) members(of string, t *types.Struct, depth int) (list []schemaMember) {
	for i := range t.NumFields() {
		f, tag := t.Field(i), reflect.StructTag(t.Tag(i)).Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if tag == "-" || !f.Exported() && !f.Embedded() {
			continue
		}
		if f.Embedded() && name == "" {
			in := f.Type()
			if p, ok := in.(*types.Pointer); ok {
				in = p.Elem()
			}
			if s, ok := in.Underlying().(*types.Struct); ok {
				list = append(list, b.members(of, s, depth+1)...)
				continue
			}
		}
		if name == "" {
			name = f.Name()
		}
		words := strings.Split(options, ",")
		maybe := slices.Contains(words, "omitempty") || slices.Contains(words, "omitzero")
		n := b.of(f.Type())
		if _, pointer := f.Type().(*types.Pointer); pointer && !maybe || slices.Contains(b.Null, of+"."+f.Name()) {
			n = orNull(n)
		}
		if comment := b.comments[f.Pos()]; comment != "" {
			n.Description = comment
		}
		list = append(list, schemaMember{name, depth, n, maybe})
	}
	return list
}
