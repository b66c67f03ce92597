package schema

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

// Draft is the version of JSON Schema that the schemas are written in.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// Types are those of packages, read from their source.
type Types struct {
	packages map[string]*types.Package
	comments map[token.Pos]string
	// Own are schemas of types that write their JSON themselves, by their names such as
	// ps.process.
	Own map[string]*Node
	// Null are the lists that may be null, by the names of their fields such as
	// journal.Target.Command.
	Null []string
}

// Load reads packages by their import paths.
func Load(dir string, paths ...string) (*Types, error) {
	list, err := packages.Load(&packages.Config{
		Dir:  dir,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, paths...)
	if err != nil {
		return nil, err
	}
	t := &Types{packages: map[string]*types.Package{}, comments: map[token.Pos]string{}, Own: map[string]*Node{}}
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
func (t *Types) read(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			for _, s := range n.Specs {
				if one, ok := s.(*ast.TypeSpec); ok {
					t.comments[one.Name.Pos()] = sentence(one.Doc, n.Doc)
				}
			}
		case *ast.Field:
			for _, name := range n.Names {
				t.comments[name.Pos()] = sentence(n.Doc, n.Comment)
			}
		}
		return true
	})
}

// sentence is the first comment that is there, in one line.
func sentence(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if text := strings.Join(strings.Fields(g.Text()), " "); text != "" {
			return text
		}
	}
	return ""
}

// Document is the schema of a document whose root is one of several types, each with the
// words that are the same in all documents of it, such as schema or kind.
func (t *Types) Document(id, title string, roots ...Root) (*Node, error) {
	b := builder{Types: t}
	n := &Node{Schema: Draft, ID: id, Title: title}
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
	slices.SortFunc(b.defs, func(a, c Property) int { return strings.Compare(a.Name, c.Name) })
	n.Defs = b.defs
	return n, b.err
}

// Root is a type of documents.
type Root struct {
	Package, Type string
	Const         map[string]string
}

type builder struct {
	*Types
	defs Properties
	err  error
}

// of is the schema of a type.
func (b *builder) of(t types.Type) *Node {
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
			return &Node{Type: "string", Encoding: "base64"}
		}
		return &Node{Type: "array", Items: b.element(t.Elem())}
	case *types.Array:
		return &Node{Type: "array", Items: b.element(t.Elem())}
	case *types.Map:
		return &Node{Type: "object", Additional: b.element(t.Elem())}
	case *types.Struct:
		return b.object("", t)
	}
	b.fail("no schema for %s", t)
	return &Node{}
}

func (b *builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

// element is of gives null where a pointer may be nil.
func (b *builder) element(t types.Type) *Node {
	n := b.of(t)
	if _, ok := t.(*types.Pointer); ok {
		return orNull(n)
	}
	return n
}

func orNull(n *Node) *Node {
	if word, ok := n.Type.(string); ok && n.Enum == nil {
		n.Type = []string{word, "null"}
		return n
	}
	return &Node{AnyOf: []*Node{n, {Type: "null"}}}
}

func (b *builder) basic(t *types.Basic) *Node {
	switch info := t.Info(); {
	case info&types.IsBoolean != 0:
		return &Node{Type: "boolean"}
	case info&types.IsInteger != 0:
		return &Node{Type: "integer"}
	case info&types.IsFloat != 0:
		return &Node{Type: "number"}
	case info&types.IsString != 0:
		return &Node{Type: "string"}
	}
	b.fail("no schema for %s", t)
	return &Node{}
}

// named is a type with a name: a struct is a definition of its own.
func (b *builder) named(t *types.Named) *Node {
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
		return &Node{Type: "string", Format: "date-time"}
	case hasMethod(t, "MarshalJSON"):
		b.fail("%s writes its JSON itself: give its schema", name)
		return &Node{}
	case hasMethod(t, "MarshalText"):
		return &Node{Type: "string", Description: b.comments[o.Pos()]}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		ref := &Node{Ref: "#/$defs/" + name}
		if b.defs.Of(name) == nil {
			def := &Node{Description: b.comments[o.Pos()]}
			b.defs = append(b.defs, Property{name, def})
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

func (b *builder) define(name string, n *Node) *Node {
	if b.defs.Of(name) == nil {
		b.defs = append(b.defs, Property{name, n})
		for _, one := range n.Defs {
			if b.defs.Of(one.Name) == nil {
				b.defs = append(b.defs, one)
			}
		}
		n.Defs = nil
	}
	return &Node{Ref: "#/$defs/" + name}
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

// member is a field of a struct, or of one that it embeds.
type member struct {
	name  string
	depth int
	node  *Node
	maybe bool
}

func (b *builder) object(name string, t *types.Struct) *Node {
	n := &Node{Type: "object", Additional: false}
	all := b.members(name, t, 0)
	for i, m := range all {
		hidden := slices.ContainsFunc(all, func(o member) bool { return o.name == m.name && o.depth < m.depth })
		if hidden || slices.ContainsFunc(all[:i], func(o member) bool { return o.name == m.name && o.depth == m.depth }) {
			continue
		}
		n.Properties = append(n.Properties, Property{m.name, m.node})
		if !m.maybe {
			n.Required = append(n.Required, m.name)
		}
	}
	return n
}

// members are the fields that JSON has of a struct; what is embedded is among them.
func (b *builder) members(of string, t *types.Struct, depth int) (list []member) {
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
		list = append(list, member{name, depth, n, maybe})
	}
	return list
}
