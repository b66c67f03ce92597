package cli

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/cli/schematest"
	"github.com/procfit/procfit/internal/inspect"
)

// update writes the schemas that TestSchemas holds.
var updateSchemas = flag.Bool("update-schemas", false, "write docs/reference/formats")

// formats is the folder of the schemas.
const formats = "../../docs/reference/formats"

// document is one that procfit writes, and the type that it is written from.
type document struct {
	file, title string
	about       string // what it is, in a sentence
	roots       []schemaRoot
}

func root(pkg, name string, words ...string) schemaRoot {
	r := schemaRoot{Package: "github.com/procfit/procfit/internal/" + pkg, Type: name, Const: map[string]string{}}
	for _, w := range words {
		key, word, _ := strings.Cut(w, "=")
		r.Const[key] = word
	}
	return r
}

// documents are all JSON that procfit writes.
func documents() []document {
	one := func(file, title, about, pkg, name string) document {
		return document{file, title, about, []schemaRoot{root(pkg, name, "schema=procfit."+file+"/v1")}}
	}
	return []document{
		{"journal", "journal.jsonl", "What was measured: a header, then a line for each trial, written as it ends.", []schemaRoot{
			root("verdict/journal", "Header", "schema=procfit.journal/v2", "kind=header"), root("verdict/journal", "Trial", "kind=trial"),
			root("verdict/journal", "Block", "kind=block"), root("verdict/journal", "Budget", "kind=budget"), root("verdict/journal", "End", "kind=end"),
			root("verdict/journal", "Profiled", "kind=profiled"),
		}},
		one("result", "result.json", "What the trials show: the settings with their intervals, the verdict and the warnings.", "verdict/page", "resultJSON"),
		one("fleet", "procfit fleet --json", "What the sweeps of several services came to, next to their manifests and to the last time.", "verdict/fleet", "Outcome"),
		one("resize", "procfit resize --json", "What a program ran with while its CPU limit changed, and what did not follow.", "verdict/resize", "Rehearsal"),
		one("expected", "procfit report DIR -o expected", "The value that a verdict names, with what it was measured under, to be kept with the program.", "program/rule", "Expected"),
		one("load", "procfit load --json", "What one rate of the load came to: throughput, latency and errors; an object for each rate.", "verdict/journal", "Offered"),
		one("decision", "procfit explain --json", "Which GOMAXPROCS a process uses and should use, and why; an object for each process.", "inspect/explain", "Document"),
		one("traffic", "procfit observe SOCKET --json", "What a program did under its own traffic: requests, latency and CPU time, by its Meter.", "inspect/traffic", "trafficJSON"),
		one("ps", "procfit ps --json", "The Go processes of the machine with their GOMAXPROCS.", "inspect/ps", "document"),
		one("check", "procfit check -o json", "What the files or the pods will use, and the findings.", "check/output", "document"),
		one("crio", "procfit check --crio N --json", "What CRI-O's injection of GOMAXPROCS changes: a container each, and totals by namespace.", "check/output", "impactJSON"),
		one("trace", "procfit trace --json", "What the scheduler did over time, from a log of GODEBUG=schedtrace.", "trace", "logJSON"),
		one("tracefields", "procfit trace --fields --json", "What each field of a schedtrace line means.", "trace", "fieldsJSON"),
		one("exectrace", "procfit trace --exec --json", "What each P ran, from a Go execution trace.", "trace", "executionJSON"),
		one("lab", "lab.json", "What a lab run found: the hypotheses of the articles, and what was measured here.", "lab", "Outcome"),
		one("version", "procfit version --json", "The version of procfit, its commit and its Go.", "cli", "build"),
		one("lablist", "procfit lab list --json", "The experiments of the lab.", "cli", "labListJSON"),
	}
}

// base is where the schemas are found by their names.
const base = "https://raw.githubusercontent.com/procfit/procfit/main/docs/reference/formats/"

// TestSchemas holds the schemas, and the tables of their keys, to the types that documents
// are written from.
func TestSchemas(t *testing.T) {
	t.Parallel()
	types, err := loadSchemaTypes(".", "github.com/procfit/procfit/internal/...", "github.com/procfit/procfit/maxprocs/...")
	if err != nil {
		t.Fatal(err)
	}
	types.Own["ps.process"] = processSchema()
	types.Null = []string{ // of what runs already and of a canary, where there is no such list
		"journal.Target.Command", "journal.Plan.Settings", "journal.Plan.AA", "verdict.CanarySetting.Observed", "page.recommendationJSON.Reasons", "verdict.SettingResult.Points",
	}
	var index strings.Builder
	shown := map[string]string{}
	index.WriteString(indexHead)
	add := func(d document, n, shows *schemaNode) {
		b, err := n.JSON()
		if err != nil {
			t.Fatal(err)
		}
		holds(t, filepath.Join(formats, d.file+".schema.json"), b)
		fmt.Fprintf(&index, "| [%s](%s.md) | %s | %s |\n", d.title, d.file, d.version(), d.about)
		page := fmt.Sprintf("# %s\n\n%s %sA key with ? is absent where it does not apply.\n\nJSON Schema: [%s%s](%[4]s%[5]s)\n%s", d.title, d.about, d.named(), d.file, ".schema.json", shows.Tables(d.file+".md", shown))
		holds(t, filepath.Join(formats, d.file+".md"), []byte(page))
	}
	file := document{file: "procfit", title: "procfit.yaml", about: "What to measure or to check, as a file that sweep, compare, size, kube sweep and check read."}
	n := fileSchema(base+file.file+".schema.json", "procfit.yaml, a measurement as a file", fileRows())
	add(file, n, n)
	services := document{file: "fleetfile", title: "fleet.yaml", about: "The services that procfit fleet sweeps, as a file."}
	add(services, fleetSchema(base+services.file+".schema.json"), fleetKeys())
	for _, d := range documents() {
		n, err := types.Document(base+d.file+".schema.json", d.title, d.roots...)
		if err != nil {
			t.Errorf("%s: %v", d.file, err)
			continue
		}
		add(d, n, n)
	}
	holds(t, filepath.Join(formats, "index.md"), []byte(index.String()))
}

// version is the schema that documents have; empty: none.
func (d document) version() string {
	if len(d.roots) == 0 {
		return ""
	}
	return "`" + d.roots[0].Const["schema"] + "`"
}

// named is a sentence with it.
func (d document) named() string {
	if v := d.version(); v != "" {
		return "Its `schema` is " + v + ". "
	}
	return ""
}

const indexHead = `# Every field of every format

Every JSON that procfit writes names its schema, such as ` + "`procfit.result/v1`" + `, in the key
` + "`schema`" + `. Keys are in lower snake case with the unit in the name. What was not measured is
null, and a key with ? is absent where it does not apply. From the first release on a
schema only grows under its name: a key keeps its meaning, and a reader of a version reads
the versions before it.

The pages and the JSON Schemas are made from the types that procfit writes, and the tests
of procfit validate what it writes by them.

| document | schema | what it is |
|--|--|--|
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
func processSchema() *schemaNode {
	inJSON := map[string]string{ // columns of JSON alone
		"recommended": "number", "procs_unknown": "string", "recommended_from": "string", "recommended_cpus": "number", "limit_file": "string", "run_queue_wait_seconds": "number", "major_faults_per_second": "number", "throttled_seconds": "number", "limit_burst": "number", "bursts": "number", "burst_seconds": "number",
	}
	n := &schemaNode{Type: "object", Description: "A Go process. What is not known is null.", Additional: false}
	for _, c := range inspect.All() {
		kind := inJSON[c.Name]
		switch {
		case kind != "":
		case c.Unit != nil:
			kind = "number"
		default:
			kind = "string"
		}
		one := &schemaNode{Type: []string{kind, "null"}, Description: c.Help}
		if c.Name == inspect.Findings {
			one = &schemaNode{Type: "array", Description: c.Help, Items: &schemaNode{Type: "object"}}
		}
		n.Properties, n.Required = append(n.Properties, schemaProperty{Name: c.Name, Node: one}), append(n.Required, c.Name)
	}
	return n
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
