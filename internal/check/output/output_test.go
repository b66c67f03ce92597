package output

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/test/must"
)

var update = flag.Bool("update", false, "write the goldens")

// report has one of everything, and text that no format may pass on as it is.
func report() *check.Report {
	two := 2
	api := rule.Place{Path: "deploy/a b.yaml", Line: 12, Column: 9, Object: "Deployment/api", Container: "api"}
	at := func(line int) rule.Place { p := api; p.Line = line; return p }
	finding := func(id string, line int, severity rule.Severity, message, fix string) check.Finding {
		return check.Finding{Finding: rule.Finding{Rule: id, Severity: severity, Message: message, Fix: fix, Place: at(line)}}
	}
	fixable := finding("PF021", 16, rule.Error, "counts thousandths: 100%, GOMAXPROCS=1500", `write divisor: "1"`)
	fixable.Change = &check.Change{Path: api.Path, Splices: []check.Splice{{From: 310, To: 312, New: `"1"`}}}
	return &check.Report{
		Files: 4,
		Values: []check.Value{
			{Place: api, Procs: &two, Text: "2", Source: "env, limits.cpu of 1500m", GoVersion: "go1.24", Go: true},
			{Place: rule.Place{Path: "deploy/a b.yaml", Line: 40, Column: 9, Object: "Deployment/api", Container: "nginx"}, Text: "not known"},
		},
		Findings: []check.Finding{
			fixable,
			finding("PF001", 16, rule.Warning, "runs with \x1b[31m8 Ps\n<script>::error::", "a, b: c"),
			finding("PF004", 20, rule.Info, "fixes 2", "remove it"),
		},
		Ignored:  []check.Ignored{{Finding: finding("PF002", 30, rule.Info, "could use 4 CPUs", "let it"), Reason: "measured \"twice\""}},
		Problems: []check.Problem{{Path: "x:y.yaml", Line: 3, Message: "invalid YAML: did not find expected ',' or ']'"}, {Path: "/abs/gone", Message: "no such file"}},
		Notes:    []check.Note{{Path: "chart", Message: "a Helm chart: render it"}},
		Fixed:    []check.Fixed{{Path: "b.yaml", Findings: []check.Finding{fixable}, Written: true}},
	}
}

func render(t *testing.T, format string, r *check.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, Write(&b, format, r, Options{Version: "0.2"}))
	return b.Bytes()
}

// golden holds what is written to a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		must.OK(t, os.WriteFile(file, got, 0o644))
	}
	if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s (%v):\n%s", name, err, got)
	}
}

// TestGoldens holds each format, of a report with everything and of an empty one.
func TestGoldens(t *testing.T) {
	for _, format := range Formats() {
		for name, r := range map[string]*check.Report{"all": report(), "none": {Files: 1}} {
			got := render(t, format, r)
			if bytes.ContainsAny(got, "\x1b") {
				t.Errorf("%s passes control characters on", format)
			}
			if format == "sarif" {
				continue // its rules change with the rules; TestSARIF has it
			}
			golden(t, name+"."+format, got)
		}
	}
}

// TestExcerpt holds the caret below what it is about, in columns of a terminal, in little time.
func TestExcerpt(t *testing.T) {
	for _, tc := range []struct {
		name, path, line string
		column           int
		want             string // the text before the caret and what it is below
	}{
		{"plain", "a.yaml", "name: x", 7, "name: |x"},
		{"characters of two columns", "a.yaml", "名前: x", 5, "名前: |x"},
		{"a combining accent", "a.yaml", "e\u0301: x", 5, "e\u0301: |x"},
		{"bytes of Go", "a.go", "ö := x", 7, "ö := |x"},
		{"a long line", "a.yaml", strings.Repeat("名", 1_000_000) + "x", 1_000_001, strings.Repeat("名", 23) + "|x"},
	} {
		b := terminal.NewWriter(80, false)
		begun := time.Now()
		excerpt(b, []string{tc.line}, rule.Place{Path: tc.path, Line: 1, Column: tc.column}, "    ")
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("%s took %s", tc.name, took)
		}
		lines := strings.Split(b.String(), "\n")
		before, after, _ := strings.Cut(tc.want, "|")
		if at := strings.Index(lines[0], after); !strings.HasSuffix(lines[0], before+after) || ansi.StringWidth(lines[0][:at]) != strings.IndexByte(lines[1], '^') || ansi.StringWidth(lines[0]) > 80 {
			t.Errorf("%s:\n%s", tc.name, b.String())
		}
	}
}

// TestGroups holds what a terminal of 80 columns, and of 120, shows.
func TestGroups(t *testing.T) {
	r := report()
	r.Findings[0].Line, r.Findings[0].Column = 3, 8
	r.Findings[1].Line, r.Findings[1].Column = 4, 70
	inGo := r.Findings[2]
	inGo.Path, inGo.Line, inGo.Column = "main.go", 2, len("\tö := runtime.")+1 // in bytes
	r.Findings = append(r.Findings, inGo)
	r.Values = append(r.Values, check.Value{Place: rule.Place{Path: "a.yaml", Line: 7, Column: 1, Object: "Pod/a"}, Text: "2", Source: "chosen by " + strings.Repeat("many words ", 12), Go: true})
	texts := map[string]string{
		"deploy/a b.yaml": "kind: Deployment\nspec:\n  env: {value: \x1b[31mred}\r\n" + strings.Repeat("x", 69) + "here is more than fits\n",
		"main.go":         "package main\n\tö := runtime.GOMAXPROCS(0)\n",
	}
	for _, width := range []int{80, 120} {
		var plain string
		for _, color := range []bool{false, true} {
			var b bytes.Buffer
			o := Options{Version: "0.2", Width: width, Color: color, Source: func(path string) []byte { return []byte(texts[path]) }}
			must.OK(t, Write(&b, "text", r, o))
			if color {
				if got := ansi.Strip(b.String()); got != plain || got == b.String() {
					t.Errorf("with colour it is\n%s", &b)
				}
				continue
			}
			plain = b.String()
			for line := range strings.Lines(plain) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("%d columns of %d: %s", n, width, line)
				}
			}
			golden(t, "all."+strconv.Itoa(width)+".text", b.Bytes())
		}
	}
}

// TestSARIF validates against the schema of SARIF 2.1.0 (OASIS, errata 01).
func TestSARIF(t *testing.T) {
	schema := must.Get(jsonschema.NewCompiler().Compile("testdata/sarif-2.1.0.json"))(t)
	for name, r := range map[string]*check.Report{"all": report(), "none": {}} {
		got := render(t, "sarif", r)
		doc := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(got)))(t)
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	type places []struct {
		PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
	}
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Invocations []struct {
				ExecutionSuccessful        bool
				ToolExecutionNotifications []struct{ Locations places }
			}
			Results []struct {
				RuleID       string
				RuleIndex    int
				Locations    places
				Suppressions []struct{ Justification string }
			}
		}
	}
	must.OK(t, json.Unmarshal(render(t, "sarif", report()), &log))
	run := log.Runs[0]
	if len(run.Results) != 4 || run.Invocations[0].ExecutionSuccessful || len(run.Invocations[0].ToolExecutionNotifications) != 2 {
		t.Errorf("%d results, %+v", len(run.Results), run.Invocations)
	}
	for _, x := range run.Results {
		if run.Tool.Driver.Rules[x.RuleIndex].ID != x.RuleID {
			t.Errorf("rule %d is not %s", x.RuleIndex, x.RuleID)
		}
	}
	if uri := run.Results[0].Locations[0].PhysicalLocation.ArtifactLocation.URI; uri != "deploy/a%20b.yaml" {
		t.Errorf("URI %q", uri)
	}
	if uri := run.Invocations[0].ToolExecutionNotifications[0].Locations[0].PhysicalLocation.ArtifactLocation.URI; uri != "./x:y.yaml" {
		t.Errorf("URI %q has a scheme", uri)
	}
	if s := run.Results[3].Suppressions; len(s) != 1 || s[0].Justification != `measured "twice"` {
		t.Errorf("suppressions %+v", s)
	}
	outside := report()
	outside.Ignored[0].Outside = true
	if got := render(t, "sarif", outside); !bytes.Contains(got, []byte(`"kind": "external"`)) || bytes.Contains(got, []byte("inSource")) {
		t.Errorf("--ignore is not external:\n%s", got)
	}
	// A wrong log is distinguished from a right one.
	doc := must.Get(jsonschema.UnmarshalJSON(strings.NewReader(`{"version": "2.1.0", "runs": [{"results": []}]}`)))(t)
	if schema.Validate(doc) == nil {
		t.Error("a run without a tool passes")
	}
}

// TestUnwritten: a file whose fix cannot be written was checked all the same.
func TestUnwritten(t *testing.T) {
	r := &check.Report{Files: 1, Problems: []check.Problem{{Path: "a.yaml", Message: "cannot be fixed: permission denied", Unwritten: true}}}
	for format, want := range map[string]string{
		"text":   "a.yaml: cannot be fixed: permission denied\n1 file checked: nothing found; 1 file could not be fixed\n",
		"github": "::error file=a.yaml,title=procfit cannot be fixed::cannot be fixed: permission denied\n",
	} {
		if got := string(render(t, format, r)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	if err := Write(&bytes.Buffer{}, "pdf", report(), Options{}); err == nil || !strings.Contains(err.Error(), "known are text, json") {
		t.Errorf("%v", err)
	}
}

// TestFixThatCannotBeWritten: a finding whose fix is safe and could not be written is not
// counted among those that have none.
func TestFixThatCannotBeWritten(t *testing.T) {
	r := report()
	r.Problems = []check.Problem{{Path: r.Findings[0].Path, Message: "cannot be fixed: permission denied", Unwritten: true}}
	var b bytes.Buffer
	must.OK(t, Write(&b, "text", r, Options{Fix: true}))
	if !strings.Contains(b.String(), "; 2 findings have no safe fix: → says what to do; 1 suppressed; 1 file could not be fixed") {
		t.Errorf("%s", &b)
	}
}
