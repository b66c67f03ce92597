package cli

import (
	"flag"
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
		one("lablist", "procfit lab list --json", "cli", "labListJSON", "lablist/v1"),
	}
}

// TestSchemas holds the schemas to the types that documents are written from.
func TestSchemas(t *testing.T) {
	t.Parallel()
	types, err := schema.Load(".", "github.com/procfit/procfit/internal/...", "github.com/procfit/procfit/maxprocs/...")
	if err != nil {
		t.Fatal(err)
	}
	types.Own["ps.process"] = processSchema()
	for _, d := range documents() {
		n, err := types.Document("https://raw.githubusercontent.com/procfit/procfit/main/docs/reference/formats/"+d.file+schema.Suffix, d.title, d.roots...)
		if err != nil {
			t.Errorf("%s: %v", d.file, err)
			continue
		}
		b, err := n.JSON()
		if err != nil {
			t.Fatal(err)
		}
		holds(t, filepath.Join(formats, d.file+schema.Suffix), b)
	}
}

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
		t.Errorf("%s is stale (%v): go test ./internal/cli -run 'TestSchemas|TestFormats' -update-schemas", path, err)
	}
}

// processSchema is that of a process in procfit ps --json, by the columns.
func processSchema() *schema.Node {
	inJSON := map[string]string{ // columns of JSON alone
		"procs_unknown": "string", "fit_from": "string", "fit_cpus": "number", "limit_file": "string", "run_queue_wait_seconds": "number", "throttled_seconds": "number",
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
