package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/test/schema"
)

// update writes the schemas that TestSchemas holds.
var updateSchemas = flag.Bool("update-schemas", false, "write docs/reference/formats")

// formats is the folder of the schemas.
const formats = "../../docs/reference/formats"

// document is one that procfit writes, and the type that it is written from.
type document struct {
	file, title string
	roots       []schema.Root
}

func root(pkg, name string, words ...string) schema.Root {
	r := schema.Root{Package: "github.com/procfit/procfit/internal/" + pkg, Type: name, Const: map[string]string{}}
	for _, w := range words {
		key, word, _ := strings.Cut(w, "=")
		r.Const[key] = word
	}
	return r
}

// documents are all JSON that procfit writes.
func documents() []document {
	one := func(file, title, pkg, name string, version string) document {
		return document{file, title, []schema.Root{root(pkg, name, "schema=procfit."+version)}}
	}
	return []document{
		{"journal", "A line of journal.jsonl", []schema.Root{
			root("verdict/journal", "Header", "schema=procfit.journal/v2", "kind=header"), root("verdict/journal", "Trial", "kind=trial"),
			root("verdict/journal", "Block", "kind=block"), root("verdict/journal", "Budget", "kind=budget"), root("verdict/journal", "End", "kind=end"),
		}},
		one("result", "result.json", "verdict/page", "resultJSON", "result/v1"),
		one("load", "procfit load --json, one object for each rate", "verdict/journal", "Offered", "load/v1"),
		one("decision", "procfit explain --json, one object for each process", "inspect/explain", "Document", "decision/v1"),
		one("ps", "procfit ps --json", "inspect/ps", "document", "ps/v1"),
		one("check", "procfit check -o json", "check/output", "document", "check/v1"),
		one("trace", "procfit trace --json, of a scheduler trace", "trace", "logJSON", "trace/v1"),
		one("tracefields", "procfit trace --fields --json", "trace", "fieldsJSON", "tracefields/v1"),
		one("exectrace", "procfit trace --json, of an execution trace", "trace", "executionJSON", "exectrace/v1"),
		one("lab", "lab.json", "lab", "Outcome", "lab/v1"),
		one("version", "procfit version --json", "cli", "build", "version/v1"),
		one("lablist", "procfit lab list --json", "cli", "labListJSON", "lablist/v1"),
	}
}

// base is where the schemas are found by their names.
const base = "https://raw.githubusercontent.com/procfit/procfit/main/docs/reference/formats/"

// TestSchemas holds the schemas, and the tables of their keys, to the types that documents
// are written from.
func TestSchemas(t *testing.T) {
	t.Parallel()
	types, err := schema.Load(".", "github.com/procfit/procfit/internal/...", "github.com/procfit/procfit/maxprocs/...")
	if err != nil {
		t.Fatal(err)
	}
	types.Own["ps.process"] = processSchema()
	types.Null = []string{ // of what runs already and of a canary, where there is no such list
		"journal.Target.Command", "journal.Plan.Settings", "journal.Plan.AA", "verdict.CanarySetting.Observed", "page.recommendationJSON.Reasons", "verdict.SettingResult.Points",
	}
	var index strings.Builder
	shown := map[string]bool{}
	index.WriteString(indexHead)
	add := func(d document, n *schema.Node) {
		b, err := n.JSON()
		if err != nil {
			t.Fatal(err)
		}
		holds(t, filepath.Join(formats, d.file+schema.Suffix), b)
		fmt.Fprintf(&index, "\n## %s\n\n%sJSON Schema: [%s%s](%[3]s%[4]s)\n%s", d.title, d.version(), d.file, schema.Suffix, n.Tables(shown))
	}
	file := document{file: "procfit", title: "procfit.yaml"}
	add(file, fileSchema(base+file.file+schema.Suffix, "procfit.yaml, a measurement as a file", fileRows()))
	for _, d := range documents() {
		n, err := types.Document(base+d.file+schema.Suffix, d.title, d.roots...)
		if err != nil {
			t.Errorf("%s: %v", d.file, err)
			continue
		}
		add(d, n)
	}
	holds(t, filepath.Join(formats, "index.md"), []byte(index.String()))
}

// version is the schema that documents have; empty: none.
func (d document) version() string {
	if len(d.roots) == 0 {
		return ""
	}
	return "`" + d.roots[0].Const["schema"] + "`. "
}

const indexHead = `# Formats

Every JSON that procfit writes names its schema, such as ` + "`procfit.result/v1`" + `, in the key
` + "`schema`" + `. Keys are in lower snake case with the unit in the name. What was not measured is
null, and a key with ? is absent where it does not apply. From the first release on a
schema only grows under its name: a key keeps its meaning, and a reader of a version reads
the versions before it.

The tables and the JSON Schemas are made from the types that procfit writes, and the tests
of procfit validate what it writes by them.
`

// holds compares a generated file with the one that is there, or writes it.
func holds(t *testing.T, path string, want []byte) {
	t.Helper()
	if *updateSchemas {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
		t.Errorf("%s is stale (%v): go test ./internal/cli -run TestSchemas -update-schemas", path, err)
	}
}

// processSchema is that of a process in procfit ps --json, by the columns.
func processSchema() *schema.Node {
	inJSON := map[string]string{ // columns of JSON alone
		"recommended": "number", "procs_unknown": "string", "recommended_from": "string", "recommended_cpus": "number", "limit_file": "string", "run_queue_wait_seconds": "number", "throttled_seconds": "number",
	}
	n := &schema.Node{Type: "object", Description: "A Go process. What is not known is null.", Additional: false}
	for _, c := range inspect.All() {
		kind := inJSON[c.Name]
		switch {
		case kind != "":
		case c.Unit != nil:
			kind = "number"
		default:
			kind = "string"
		}
		one := &schema.Node{Type: []string{kind, "null"}, Description: c.Help}
		if c.Name == inspect.Findings {
			one = &schema.Node{Type: "array", Description: c.Help, Items: &schema.Node{Type: "object"}}
		}
		n.Properties, n.Required = append(n.Properties, schema.Property{Name: c.Name, Node: one}), append(n.Required, c.Name)
	}
	return n
}
