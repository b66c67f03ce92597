package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	// What a file may import without having it (google/protobuf/*.proto).
	_ "google.golang.org/protobuf/types/known/anypb"
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/emptypb"
	_ "google.golang.org/protobuf/types/known/fieldmaskpb"
	_ "google.golang.org/protobuf/types/known/structpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
	_ "google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Compile implements load.Calls: it reads .proto files, each at its own path. What they import is looked for next
// to them and from the current directory on.
//
// The parser is protocompile's. Names are resolved by protodesc, which is linked for compiled
// descriptors too. Of the options those of protobuf itself are read; others, and default
// values, make no difference to what is sent.
func (Calls) Compile(ctx context.Context, paths []string) (load.CallTypes, error) {
	files, err := compile(ctx, paths)
	if err != nil {
		return nil, err
	}
	return typesOf(files), nil
}

func compile(ctx context.Context, paths []string) (*protoregistry.Files, error) {
	c := compiler{given: map[string]string{}, files: new(protoregistry.Files), under: map[string]bool{}}
	for _, path := range paths {
		name := filepath.Base(path)
		if other, twice := c.given[name]; twice && filepath.Clean(other) != filepath.Clean(path) {
			return nil, fmt.Errorf("%s and %s have the same name, and an import could mean either: use only one of them, or a descriptor set", other, path)
		}
		c.given[name] = path
		c.from = append(c.from, filepath.Dir(path))
	}
	c.from = append(c.from, ".")
	for _, path := range paths {
		if err := c.add(ctx, filepath.Base(path)); err != nil {
			return nil, err
		}
	}
	return c.files, nil
}

type compiler struct {
	given map[string]string // paths of the user's files, by the name that an import has for them
	from  []string          // folders in which others are looked for
	files *protoregistry.Files
	under map[string]bool // those whose imports are being added
}

// mostTypes bounds a file of types, in bytes.
const mostTypes = 64 << 20

// add compiles a file after those that it imports.
func (c *compiler) add(ctx context.Context, name string) error {
	if _, err := c.files.FindFileByPath(name); err == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.under[name] {
		return fmt.Errorf("%s: it imports itself, directly or not", name)
	}
	c.under[name] = true
	defer delete(c.under, name)
	file, parsed, err := c.read(name)
	if err != nil {
		return err
	}
	for _, imported := range file.Dependency {
		if err := c.add(ctx, imported); err != nil {
			return err
		}
	}
	linked, err := protodesc.NewFile(file, c.files)
	if err == nil {
		// The parser does not know whether a name is of a message or of an enum. Now it is
		// known, and so are the options that depend on it.
		linked, err = protodesc.NewFile(protodesc.ToFileDescriptorProto(linked), c.files)
	}
	if err != nil {
		return fmt.Errorf("%s: %s", placeOf(err, name, parsed), plain(err))
	}
	return c.files.RegisterFile(linked)
}

// placeOf is the line of what an error of protodesc is about, whose full name it quotes first.
func placeOf(err error, name string, parsed parser.Result) string {
	if _, quoted, ok := strings.Cut(err.Error(), `"`); ok && parsed != nil {
		about, _, _ := strings.Cut(quoted, `"`)
		file := parsed.FileDescriptorProto()
		if d := declared(file.ProtoReflect(), "", file.GetPackage(), about); d != nil {
			return parsed.AST().NodeInfo(parsed.Node(d)).Start().String()
		}
	}
	return name
}

// declared is the descriptor with a full name, among those in a descriptor; nil: none.
func declared(m protoreflect.Message, scope, own, name string) (found proto.Message) {
	full := strings.TrimPrefix(scope+"."+own, ".")
	if full == name {
		return m.Interface()
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if !f.IsList() || f.Kind() != protoreflect.MessageKind {
			return true
		}
		for i := 0; i < v.List().Len() && found == nil; i++ {
			in := v.List().Get(i).Message()
			if named, ok := in.Interface().(interface{ GetName() string }); ok {
				found = declared(in, full, named.GetName(), name)
			}
		}
		return found == nil
	})
	return found
}

// plain is an error of protobuf without the name of the package, which a space that varies
// comes after, and without the place in an option.
func plain(err error) string {
	text := strings.TrimLeft(strings.TrimPrefix(err.Error(), "proto:"), " \u00a0")
	if _, why, placed := strings.Cut(text, "): "); placed && strings.HasPrefix(text, "(line ") {
		text = why
	}
	return strings.ReplaceAll(text, `"*.`, `"`) // a name that is looked for in each scope
}

// read parses a file. Those of google/protobuf come with procfit, and are not parsed.
func (c *compiler) read(name string) (*descriptorpb.FileDescriptorProto, parser.Result, error) {
	from := c.from
	if path, ok := c.given[name]; ok { // and not another one of that name
		from = []string{filepath.Dir(path)}
	}
	var source []byte
	err := error(fs.ErrNotExist)
	for i := 0; i < len(from) && errors.Is(err, fs.ErrNotExist); i++ {
		source, err = folder.ReadRegular(filepath.Join(from[i], name), mostTypes)
	}
	if known, unknown := protoregistry.GlobalFiles.FindFileByPath(name); errors.Is(err, fs.ErrNotExist) && unknown == nil {
		return protodesc.ToFileDescriptorProto(known), nil, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s is not in %s", name, phrase.Or(from))
	}
	if err != nil {
		return nil, nil, err
	}
	handler := reporter.NewHandler(nil)
	tree, err := parser.Parse(name, bytes.NewReader(source), handler)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := parser.ResultFromAST(tree, true, handler)
	if err != nil {
		return nil, nil, err
	}
	file := parsed.FileDescriptorProto()
	if err := interpret(file.ProtoReflect()); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return file, parsed, nil
}

// interpret reads the options of a message of descriptor.proto and of all that are in it.
func interpret(m protoreflect.Message) (err error) {
	var options proto.Message
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Kind() != protoreflect.MessageKind:
		case f.Name() == "options":
			options = v.Message().Interface()
		case f.IsList():
			for i := 0; i < v.List().Len() && err == nil; i++ {
				err = interpret(v.List().Get(i).Message())
			}
		}
		return err == nil
	})
	if err != nil || options == nil {
		return err
	}
	return setOptions(m.Interface(), options)
}

// setOptions sets what the parser has left as text in the options of a descriptor.
func setOptions(of, options proto.Message) error {
	raw := options.(interface {
		GetUninterpretedOption() []*descriptorpb.UninterpretedOption
	}).GetUninterpretedOption()
	m := options.ProtoReflect()
	m.Clear(m.Descriptor().Fields().ByName("uninterpreted_option"))
	for _, o := range raw {
		name := o.Name[0].GetNamePart()
		field, isField := of.(*descriptorpb.FieldDescriptorProto)
		switch {
		case o.Name[0].GetIsExtension(), isField && name == "default":
			continue
		case isField && name == "json_name":
			field.JsonName = proto.String(string(o.StringValue))
			continue
		}
		text := valueOf(o)
		for i := len(o.Name) - 1; i >= 0; i-- {
			if o.Name[i].GetIsExtension() { // as in features.(pb.go).x
				text = ""
				break
			}
			text = o.Name[i].GetNamePart() + text
			if i > 0 {
				text = "{" + text + "}"
			}
		}
		one := m.New().Interface()
		if err := (prototext.UnmarshalOptions{AllowPartial: true}).Unmarshal([]byte(text), one); err != nil {
			return fmt.Errorf("option %s: %s", name, plain(err))
		}
		proto.Merge(options, one)
	}
	return nil
}

// valueOf is an option's value in the text format.
func valueOf(o *descriptorpb.UninterpretedOption) string {
	switch {
	case o.AggregateValue != nil:
		return "{" + o.GetAggregateValue() + "}"
	case o.IdentifierValue != nil:
		return ":" + o.GetIdentifierValue()
	case o.PositiveIntValue != nil:
		return ":" + strconv.FormatUint(o.GetPositiveIntValue(), 10)
	case o.NegativeIntValue != nil:
		return ":" + strconv.FormatInt(o.GetNegativeIntValue(), 10)
	case o.DoubleValue != nil:
		return ":" + strconv.FormatFloat(o.GetDoubleValue(), 'g', -1, 64)
	}
	return ":" + strconv.QuoteToASCII(string(o.StringValue))
}
