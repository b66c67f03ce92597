package cli

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/inspect/explain"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
)

// explainJSON runs procfit explain --json and decodes what it prints, strictly:
// one object, of fields that are known.
func explainJSON(t *testing.T, args ...string) explain.Document {
	t.Helper()
	out := printedBy(t, append([]string{"explain", "--json"}, args...)...)
	if n := strings.Count(out, "\n"); n != 1 {
		t.Errorf("explain %v: %d lines, want 1", args, n)
	}
	var d explain.Document
	dec := json.NewDecoder(strings.NewReader(out))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		t.Fatalf("explain %v: %v", args, err)
	}
	return d
}

// answered is a policy's answer as world.txt has it.
func answered(d explain.Decision) string {
	if d.Procs == nil {
		return string(d.Outcome)
	}
	return strconv.Itoa(*d.Procs)
}

// TestExplainWorlds explains every recorded world of the library, in words and as
// JSON: the numbers are the world's own, and what is malformed or unreadable is
// told.
func TestExplainWorlds(t *testing.T) {
	worlds, err := filepath.Glob("../../maxprocs/facts/testdata/worlds/*/world.txt")
	if err != nil || len(worlds) < 60 {
		t.Fatalf("found %d worlds, want at least 60 (%v)", len(worlds), err)
	}
	for _, file := range worlds {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			want := readWorld(t, file)
			d := explainJSON(t, "--root", dir, "--go", "1.26")
			if d.Schema != "procfit.decision/v1" || d.ActualProcs != nil || d.Findings == nil {
				t.Errorf("schema %q, actual_procs %v, findings %v", d.Schema, d.ActualProcs, d.Findings)
			}
			for _, policy := range rule.Policies() {
				if p := d.Policies[policy]; (p.Procs == nil) != (p.Outcome == facts.Dies) || p.Procs != nil && *p.Procs < 1 || len(p.Reasons) == 0 {
					t.Errorf("policy %s: %s with reasons %q", policy, answered(p), p.Reasons)
				}
			}
			if got := answered(d.Policies["fit"]); got != want["fit"] {
				t.Errorf("fit %s, want %s", got, want["fit"])
			}
			if got := answered(d.Policies["go"]); want["go1.26"] != "" && got != want["go1.26"] {
				t.Errorf("go %s, want %s", got, want["go1.26"])
			}
			told := false
			for _, f := range d.Findings {
				told = told || f.Rule == "PF009"
			}
			if unread := d.Policies["fit"].Unknown; told != (len(unread) > 0) {
				t.Errorf("PF009 is %t, unknown are %q", told, unread)
			}

			code, out, errs := callMain(t, "explain", "--root", dir, "--go", "1.26")
			if code != 0 || errs != "" {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			first, _, _ := strings.Cut(out, "\n")
			if c := d.Facts.Cgroup; (told || c.State == facts.Known && c.Version > 0 && !c.RootSeen) && strings.Contains(first, ", as it should") {
				t.Errorf("limits are not known, yet it says %q", first)
			}
		})
	}
}

func readWorld(t *testing.T, file string) map[string]string {
	t.Helper()
	want := map[string]string{}
	for line := range strings.Lines(must.Read(t, file)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		want[key] = value
	}
	return want
}

// TestExplainDocumentedOutput compares the output that pages show below an explain command
// with what it prints. Only what-ifs print the same everywhere.
func TestExplainDocumentedOutput(t *testing.T) {
	block := regexp.MustCompile("(?ms)^```console\n\\$ procfit (explain [^\n]*)\n([^$][^`]*)```")
	shown := 0
	for _, p := range readPages(t) {
		if strings.Contains(p.file, "tutorial") { // TestTranscripts runs these
			continue
		}
		text := block.ReplaceAllStringFunc(p.text, func(b string) string {
			m := block.FindStringSubmatch(b)
			shown++
			return "```console\n$ procfit " + m[1] + "\n" + printedBy(t, strings.Fields(m[1])...) + "```"
		})
		switch {
		case text == p.text:
		case *updateTranscripts:
			must.Write(t, p.file, text)
		default:
			t.Errorf("%s shows other output than procfit explain prints: run this test with -update-transcripts\n%s", p.file, text)
		}
	}
	if shown < 3 {
		t.Errorf("only %d outputs found: is the pattern right?", shown)
	}
}
