package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/types"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/procfit/procfit/internal/cli/schematest"
	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/test/must"
)

// formats is the folder of the schemas. They are kept by hand: the tests compare them with the
// types and the flags that they describe.
const formats = "../../docs/reference/formats"

// schemaNode is a schema, or a part of one.
type schemaNode struct {
	Description string
	Type        any // a word or several
	Enum        []any
	Pattern     string
	Minimum     *int
	Maximum     *int
	AnyOf       []*schemaNode
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

func joinWords(list []any, format, with string) string {
	var words []string
	for _, one := range list {
		words = append(words, fmt.Sprintf(format, one))
	}
	return strings.Join(words, with)
}

// keys are those of an object. A key with ? may be absent.
func (n *schemaNode) keys() (keys []string) {
	for key := range n.Properties {
		if !slices.Contains(n.Required, key) {
			key += "?"
		}
		keys = append(keys, key)
	}
	return keys
}

// keysOf are those that encoding/json writes of a struct, of which no key hides an embedded one.
func keysOf(t *types.Struct) (keys []string) {
	for i := range t.NumFields() {
		f, tag := t.Field(i), reflect.StructTag(t.Tag(i)).Get("json")
		name, options, _ := strings.Cut(tag, ",")
		of := f.Type()
		if p, ok := of.Underlying().(*types.Pointer); ok && f.Embedded() {
			of = p.Elem()
		}
		below, isStruct := of.Underlying().(*types.Struct)
		switch {
		case tag == "-" || !f.Exported() && !f.Embedded():
		case f.Embedded() && name == "" && isStruct:
			for _, key := range keysOf(below) {
				if of != f.Type() { // a pointer, which may be nil
					key = strings.TrimSuffix(key, "?") + "?"
				}
				keys = append(keys, key)
			}
		default:
			name = cmp.Or(name, f.Name())
			if strings.Contains(options, "omit") {
				name += "?"
			}
			keys = append(keys, name)
		}
	}
	return keys
}

// TestSchemasAreOfTheTypes compares every object of the schemas with the type that procfit
// writes it from: its keys, and which of them may be absent. What they take is seen in the
// documents that all tests have validated.
func TestSchemasAreOfTheTypes(t *testing.T) {
	t.Parallel()
	source, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports},
		"github.com/procfit/procfit/internal/...", "github.com/procfit/procfit/maxprocs/...")
	must.OK(t, err)
	structs := map[string]*types.Struct{}
	for _, p := range source {
		for _, name := range p.Types.Scope().Names() {
			if of, ok := p.Types.Scope().Lookup(name).Type().Underlying().(*types.Struct); ok {
				structs[p.Name+"."+name] = of
			}
		}
	}
	page := must.Get(os.ReadFile(formats + ".md"))(t)
	for file, n := range readSchemas(t) {
		if !bytes.Contains(page, []byte("](formats/"+file+".schema.json)")) {
			t.Errorf("%s.md does not name the schema of %s", formats, file)
		}
		for name, def := range n.Defs {
			if file == "fleetfile" || name == "ps.process" {
				continue // they are of flags and of columns
			}
			if structs[name] == nil {
				t.Errorf("%s: no type %s", file, name)
				continue
			}
			if string(def.Additional) != "false" {
				t.Errorf("%s: %s allows keys that it does not name", file, name)
			}
			mine, theirs := keysOf(structs[name]), def.keys()
			if missing, extra := lackedBy(theirs, mine), lackedBy(mine, theirs); len(missing)+len(extra) > 0 {
				t.Errorf("%s: %s lacks the keys %q of its type, and has %q", file, name, missing, extra)
			}
		}
	}
	process := readSchemas(t)["ps"].Defs["ps.process"]
	for _, c := range inspect.All() {
		if one := process.Properties[c.Name]; one == nil || one.Description == "" { // Help describes the table, whose values have units
			t.Errorf("ps: the schema does not describe %s", c.Name)
		}
	}
}

// TestSchemasNameWhatTheyHave: a code or a key in a description is one of a schema. The kind of an
// error has the status in its name.
func TestSchemasNameWhatTheyHave(t *testing.T) {
	t.Parallel()
	text := ""
	for _, file := range must.Get(filepath.Glob(filepath.Join(formats, "*.schema.json")))(t) {
		text += must.Read(t, file)
	}
	description, code := regexp.MustCompile(`"description": .*`), regexp.MustCompile(`\b[a-z]+(_[a-z]+)+\b`)
	for _, line := range description.FindAllString(text, -1) {
		for _, name := range code.FindAllString(line, -1) {
			if !strings.Contains(text, `"`+name+`"`) {
				t.Errorf("%s: no schema has %s", line, name)
			}
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
			n, closed := section.Properties[row.Key()], []string(nil)
			if of, ok := row.Value.(field.Closed); ok && n.AnyOf == nil {
				closed = of.Words()
			}
			if n.Pattern != patterns[row.Name] || len(closed) != len(n.Enum) || joinWords(n.Enum, "%v", " ") != strings.Join(closed, " ") || n.Description != row.Help {
				t.Errorf("%s: %s.%s is %+v, expected %q, one of %v: %s", c.file, row.Group.Section(), row.Key(), n, patterns[row.Name], closed, row.Help)
			}
			takes := func(n int) bool { return row.Value.Set(strconv.Itoa(n)) == nil }
			if fmt.Sprintf("%T", row.Value) == "*field.parsed[int]" && row.Name != "repeats" { // a whole number
				if n.Minimum == nil || !takes(*n.Minimum) || takes(*n.Minimum-1) || !takes(bound(n.Maximum)) || n.Maximum != nil && takes(*n.Maximum+1) {
					t.Errorf("%s: %s.%s is not from %v to %v", c.file, row.Group.Section(), row.Key(), n.Minimum, n.Maximum)
				}
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
	known := must.Get(schematest.Load())(t)
	for _, text := range []string{ // TestFileRoundTrip has the other sections
		`{"check": {"paths": "a", "ignore": {"PF001": "why"}, "cpus": 4, "go": 1.26, "severity": "error", "expected": {"procs": 2}}}`,
		`{"check": {"paths": ["a", "b"], "ignore": ["PF001=why"], "go": "go.mod", "expected": "a file"}}`,
	} {
		var v any
		must.OK(t, json.Unmarshal([]byte(text), &v))
		if err := known.Validate("procfit", v); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	service := fleet.Properties["services"].additional()
	own := []string{"file", "manifest", "object", "container"}
	for _, name := range own {
		if n := service.Properties[name]; n == nil || n.Description == "" {
			t.Errorf("fleetfile: a service has no %s, or it is not described", name)
		}
	}
	if len(service.Properties) != len(own)+len(fleet.Defs) {
		t.Errorf("fleetfile: a service has %v", slices.Collect(maps.Keys(service.Properties)))
	}
}

// Documents in testdata are as the schemas say.
func TestGoldenDocuments(t *testing.T) {
	t.Parallel()
	known := must.Get(schematest.Load())(t)
	wrong := t.TempDir()
	must.Write(t, filepath.Join(wrong, "ps.json"), `{"schema": "procfit.ps/v1"}`)
	if known.CheckFolder(wrong) == nil {
		t.Error("a document that lacks its keys is as its schema says")
	}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "testdata" && !strings.Contains(path, "check/") {
			return known.CheckFolder(path)
		}
		return err
	})
	must.OK(t, err)
}

// bound is the maximum of a schema.
func bound(of *int) int {
	if of == nil {
		return math.MaxInt
	}
	return *of
}

// patterns are those of the fields that have one in the schema.
var patterns = map[string]string{
	"for":        `^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*$|^0$`,
	"max-errors": `^\s*[0-9.eE+-]+%?\s*$`,
}

// lackedBy are the items of another list that a list does not have.
func lackedBy(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(other), func(item string) bool { return slices.Contains(list, item) })
}
