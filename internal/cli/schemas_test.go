package cli

import (
	"encoding/json"
	"fmt"
	"go/constant"
	"go/types"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/procfit/procfit/internal/cli/schematest"
	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/plan/specfile"
)

// formats is the folder of the schemas and of their pages. Both are kept by hand: the tests
// compare the schemas with the types and the flags that they describe, and the pages with the
// schemas.
const formats = "../../docs/reference/formats"

// schemaNode is a schema, or a part of one.
type schemaNode struct {
	Ref         string `json:"$ref"`
	Title       string
	Description string
	Type        any // a word or several
	Const       string
	Enum        []any
	Format      string
	Pattern     string
	Minimum     *int
	Maximum     *int
	AnyOf       []*schemaNode
	Items       *schemaNode
	Properties  map[string]*schemaNode
	Required    []string
	Additional  json.RawMessage        `json:"additionalProperties"` // false or a node
	Defs        map[string]*schemaNode `json:"$defs"`
}

// readSchemas reads the schemas by the names of their files.
func readSchemas(t *testing.T) map[string]*schemaNode {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(formats, "*.schema.json"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d schemas: %v", len(files), err)
	}
	all := map[string]*schemaNode{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		n := &schemaNode{}
		if err == nil {
			err = json.Unmarshal(b, n)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".schema.json")] = n
	}
	return all
}

func (n *schemaNode) additional() *schemaNode {
	of := &schemaNode{}
	if n.Additional == nil || json.Unmarshal(n.Additional, of) != nil {
		return nil
	}
	return of
}

// words names what a node takes, as the pages do.
func (n *schemaNode) words() string {
	types, _ := n.Type.([]any)
	text := fmt.Sprint(n.Type)
	switch {
	case n.Ref != "":
		return strings.TrimPrefix(n.Ref, "#/$defs/")
	case n.Const != "":
		return "`" + n.Const + "`"
	case n.Enum != nil:
		return joinWords(n.Enum, "`%v`", ", ")
	case n.AnyOf != nil:
		var words []any
		for _, one := range n.AnyOf {
			words = append(words, one.words())
		}
		return joinWords(words, "%v", " or ")
	case n.Items != nil:
		text = "list of " + n.Items.words()
	case n.additional() != nil:
		return "map to " + n.additional().words()
	case n.Format != "":
		return n.Format
	case n.Type == nil:
		return "any"
	case len(types) == 3: // a text, a number or a switch of a file
		return "value"
	case types != nil:
		return joinWords(types, "%v", " or ")
	}
	if slices.Contains(types, any("null")) {
		text += " or null"
	}
	return text
}

func joinWords(list []any, format, with string) string {
	var words []string
	for _, one := range list {
		words = append(words, fmt.Sprintf(format, one))
	}
	return strings.Join(words, with)
}

// keys are those of an object with what they take. A key with ? may be absent.
func (n *schemaNode) keys() map[string]string {
	keys := map[string]string{}
	for key, one := range n.Properties {
		if n.Type == "object" && !slices.Contains(n.Required, key) { // all are optional in a section of a file
			key += "?"
		}
		keys[key] = one.words()
	}
	return keys
}

// sourceTypes are the types of procfit's packages, also those that no other package can name.
type sourceTypes []*packages.Package

func (s sourceTypes) find(name string) (types.Type, *packages.Package) {
	in, of, _ := strings.Cut(name, ".")
	for _, p := range s {
		if p.Name == in && p.Types.Scope().Lookup(of) != nil {
			return p.Types.Scope().Lookup(of).Type(), p
		}
	}
	return nil, nil
}

// words names what encoding/json writes of a type in a format, as the pages do.
func (s sourceTypes) words(t types.Type, format *packages.Package) string {
	t = types.Unalias(t)
	if named, ok := t.(*types.Named); ok && named.Obj().Pkg() != nil {
		name := named.Obj().Pkg().Name() + "." + named.Obj().Name()
		text, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), true, named.Obj().Pkg(), "MarshalText")
		_, isStruct := t.Underlying().(*types.Struct)
		switch values := s.constantsOf(named, format); {
		case name == "time.Time":
			return "date-time"
		case text != nil:
			return "string"
		case isStruct:
			return name
		case values != nil:
			return joinWords(values, "`%v`", ", ")
		}
	}
	switch t := t.Underlying().(type) {
	case *types.Pointer:
		return s.words(t.Elem(), format) + " or null"
	case *types.Slice:
		if types.Identical(t.Elem(), types.Typ[types.Byte]) {
			return "string"
		}
		return "list of " + s.words(t.Elem(), format)
	case *types.Array:
		return "list of " + s.words(t.Elem(), format)
	case *types.Map:
		return "map to " + s.words(t.Elem(), format)
	case *types.Basic:
		for info, word := range map[types.BasicInfo]string{types.IsBoolean: "boolean", types.IsInteger: "integer", types.IsFloat: "number", types.IsString: "string"} {
			if t.Info()&info != 0 {
				return word
			}
		}
	}
	return fmt.Sprintf("no JSON: %s", t)
}

// constantsOf are the values of a string type, in the order of the source: those that its own
// package declares, and those that a package declares that the format's imports.
func (s sourceTypes) constantsOf(t *types.Named, format *packages.Package) (values []any) {
	if basic, ok := t.Underlying().(*types.Basic); !ok || basic.Kind() != types.String {
		return nil
	}
	for _, p := range s {
		if p.PkgPath != t.Obj().Pkg().Path() && format.Imports[p.PkgPath] == nil {
			continue
		}
		var list []types.Object
		for _, name := range p.Types.Scope().Names() {
			if c, ok := p.Types.Scope().Lookup(name).(*types.Const); ok && c.Type().String() == t.String() {
				list = append(list, c)
			}
		}
		slices.SortFunc(list, func(a, b types.Object) int { return int(a.Pos() - b.Pos()) })
		for _, c := range list {
			if value := constant.StringVal(c.(*types.Const).Val()); !slices.Contains(values, any(value)) {
				values = append(values, value)
			}
		}
	}
	return values
}

// keys are those that encoding/json writes of a struct, of which no key hides an embedded one.
func (s sourceTypes) keys(t *types.Struct, format *packages.Package) map[string]string {
	keys := map[string]string{}
	for i := range t.NumFields() {
		f, tag := t.Field(i), reflect.StructTag(t.Tag(i)).Get("json")
		name, options, _ := strings.Cut(tag, ",")
		of := f.Type()
		if p, ok := of.Underlying().(*types.Pointer); ok && (f.Embedded() || strings.Contains(options, "omit")) {
			of = p.Elem()
		}
		below, isStruct := of.Underlying().(*types.Struct)
		switch {
		case tag == "-" || !f.Exported() && !f.Embedded():
		case f.Embedded() && name == "" && isStruct:
			for key, words := range s.keys(below, format) {
				if of != f.Type() && !strings.HasSuffix(key, "?") { // a pointer, which may be nil
					key += "?"
				}
				keys[key] = words
			}
		default:
			if name == "" {
				name = f.Name()
			}
			if strings.Contains(options, "omit") {
				name += "?"
			}
			keys[name] = s.words(of, format)
		}
	}
	return keys
}

// TestSchemasAreOfTheTypes compares every object of the schemas with the type that procfit
// writes it from: its keys, which of them may be absent, and what they take.
func TestSchemasAreOfTheTypes(t *testing.T) {
	t.Parallel()
	list, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, "github.com/procfit/procfit/internal/...", "github.com/procfit/procfit/maxprocs/...")
	if err != nil {
		t.Fatal(err)
	}
	source := sourceTypes(list)
	for file, n := range readSchemas(t) {
		for name, def := range n.Defs {
			of, format := source.find(name)
			if file == "fleetfile" || name == "ps.process" {
				continue // they are of flags and of columns
			}
			if of == nil {
				t.Errorf("%s: no type %s", file, name)
				continue
			}
			if string(def.Additional) != "false" {
				t.Errorf("%s: %s allows keys that it does not name", file, name)
			}
			want, got := source.keys(of.Underlying().(*types.Struct), format), def.keys()
			for key, words := range want {
				isConst := strings.HasPrefix(got[key], "`") && words == "string" // schema and kind
				mayBeNull := strings.HasPrefix(words, "list of ") && got[key] == words+" or null"
				if got[key] != words && !isConst && !mayBeNull {
					t.Errorf("%s: %s has %s %q, and its type %q", file, name, key, got[key], words)
				}
				delete(got, key)
			}
			for key := range got {
				t.Errorf("%s: %s has %s, and its type does not", file, name, key)
			}
		}
	}
	process := readSchemas(t)["ps"].Defs["ps.process"]
	for _, c := range inspect.All() {
		if one := process.Properties[c.Name]; one == nil || one.Description != c.Help {
			t.Errorf("ps: the schema does not have the column %s with its help %q", c.Name, c.Help)
		}
	}
}

// TestSchemasAreOfTheFlags compares the schemas of procfit.yaml and fleet.yaml with the fields
// that the files may hold.
func TestSchemasAreOfTheFlags(t *testing.T) {
	t.Parallel()
	all := readSchemas(t)
	fleet := all["fleetfile"]
	for _, c := range []struct {
		file     string
		sections map[string]*schemaNode
		rows     []field.Field
	}{{"procfit", all["procfit"].Properties, fileRows()}, {"fleetfile", fleet.Defs, fleetRows()}} {
		count := 0
		for _, row := range c.rows {
			section := c.sections[row.Group.Section()]
			if row.Group.Section() == "" {
				continue
			}
			if section == nil || section.Properties[row.Key()] == nil {
				t.Errorf("%s: no %s.%s", c.file, row.Group.Section(), row.Key())
				continue
			}
			count++
			n, closed, shape := section.Properties[row.Key()], []string(nil), field.Shape{}
			if of, ok := row.Value.(field.Closed); ok && n.AnyOf == nil {
				closed = of.Words()
			} else if of, ok := row.Value.(field.Shaped); ok {
				shape = of.Shape()
			}
			outside := shape.Whole && (bound(n.Minimum, math.MinInt) != shape.Least || bound(n.Maximum, math.MaxInt) != shape.Most)
			if outside || n.Pattern != shape.Pattern || len(closed) != len(n.Enum) || joinWords(n.Enum, "%v", " ") != strings.Join(closed, " ") || n.Description != row.Help {
				t.Errorf("%s: %s.%s is %+v, expected %+v, one of %v: %s", c.file, row.Group.Section(), row.Key(), n, shape, closed, row.Help)
			}
		}
		for name, section := range c.sections {
			if name == "services" {
				continue
			}
			count -= len(section.Properties)
			if string(section.Additional) != "false" {
				t.Errorf("%s: %s allows keys that it does not name", c.file, name)
			}
		}
		if count != 0 {
			t.Errorf("%s: %d keys are of no flag", c.file, -count)
		}
	}
	known, err := schematest.Load()
	must(err)
	for _, text := range []string{ // TestFileRoundTrip has the other sections
		`{"check": {"paths": "a", "ignore": {"PF001": "why"}, "cpus": 4, "go": 1.26, "severity": "error", "expected": {"procs": 2}}}`,
		`{"check": {"paths": ["a", "b"], "ignore": ["PF001=why"], "go": "go.mod", "expected": "a file"}}`,
	} {
		var v any
		must(json.Unmarshal([]byte(text), &v))
		if err := known.Validate("procfit", v); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	service := fleet.Properties["services"].additional()
	for _, row := range specfile.ServiceRows() {
		if n := service.Properties[row.Name]; n == nil || n.Description != row.Help {
			t.Errorf("fleetfile: a service has no %s with its help %q", row.Name, row.Help)
		}
	}
	if len(service.Properties) != len(specfile.ServiceRows())+len(fleet.Defs) {
		t.Errorf("fleetfile: a service has %v", slices.Collect(maps.Keys(service.Properties)))
	}
}

var (
	pageLink = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
	pageRow  = regexp.MustCompile("^\\| (`[^`]+`\\??) \\| (.*?) \\| [^|]* \\| (.*) \\|$")
)

// TestFormatPages compares the pages with the schemas: every object has a section, its comment,
// and a row for each key with what it takes and what it means.
func TestFormatPages(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(formats, "*.md"))
	must(err)
	got := map[string][]string{}
	texts := map[string]string{}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		must(err)
		texts[strings.TrimSuffix(filepath.Base(page), ".md")] = string(b)
		section := ""
		for line := range strings.Lines(string(b)) {
			line = strings.TrimRight(line, "\n")
			if name, ok := strings.CutPrefix(line, "## "); ok {
				section = name
				got[section] = []string{}
			} else if m := pageRow.FindStringSubmatch(pageLink.ReplaceAllString(line, "$1")); m != nil {
				got[section] = append(got[section], strings.Join(m[1:], " | "))
			} else if section != "" && line != "" && !strings.HasPrefix(line, "|") {
				got[section] = append(got[section], pageLink.ReplaceAllString(line, "$1"))
			}
		}
	}
	seen := map[string]bool{}
	for file, n := range readSchemas(t) {
		objects := n.Defs
		if file == "procfit" {
			objects = n.Properties
		} else if file == "fleetfile" {
			objects = nil
		}
		for name, def := range objects {
			seen[name] = true
			var want []string
			if def.Description != "" {
				want = []string{keyCell(def.Description)}
			}
			for key, words := range def.keys() {
				name := strings.TrimSuffix(key, "?")
				want = append(want, fmt.Sprintf("`%s`%s | %s | %s", name, key[len(name):], words, keyCell(def.Properties[name].Description)))
			}
			for _, row := range want {
				isConst := strings.HasPrefix(row, "`schema` | ") || strings.HasPrefix(row, "`kind` | ") // where it is a document
				if !slices.Contains(got[name], row) && !isConst {
					t.Errorf("%s/%s.md: the section %s lacks %s", formats, file, name, row)
				}
			}
			if len(got[name]) != len(want) {
				t.Errorf("%s/%s.md: the section %s has %d rows, expected %d", formats, file, name, len(got[name]), len(want))
			}
		}
		version := ""
		for _, def := range n.Defs {
			if one := def.Properties["schema"]; one != nil && one.Const != "" {
				version = "`" + one.Const + "`"
			}
		}
		if !strings.Contains(texts[file], version) || !strings.Contains(texts["index"], fmt.Sprintf("](%s.md) | %s | ", file, version)) {
			t.Errorf("%s: its page or the index does not have its schema %s", file, version)
		}
	}
	for _, row := range specfile.ServiceRows() {
		if want := fmt.Sprintf("`%s` | string | %s", row.Name, row.Help); !slices.Contains(got["services.NAME"], want) {
			t.Errorf("%s/fleetfile.md lacks %s", formats, want)
		}
	}
	for name := range got {
		if !seen[name] && name != "services.NAME" {
			t.Errorf("no schema has the section %s", name)
		}
	}
}

// keyCell is a text as a table has it.
func keyCell(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "\n", " ").Replace(pageLink.ReplaceAllString(text, "$1"))
}

// Documents in testdata are as the schemas say.
func TestGoldenDocuments(t *testing.T) {
	t.Parallel()
	known, err := schematest.Load()
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "testdata" && !strings.Contains(path, "check/") {
			return known.CheckFolder(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// bound is a minimum or a maximum of a schema, and none if it has none.
func bound(of *int, none int) int {
	if of == nil {
		return none
	}
	return *of
}
