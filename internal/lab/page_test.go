package lab

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"github.com/procfit/procfit/internal/show/number"
)

var update = flag.Bool("update", false, "write docs/evidence/articles.md from docs/evidence/articles")

const (
	seedsPage = "../../docs/evidence/articles.md"
	seeds     = "../../docs/evidence/articles" // page.md, and lab.json and RESULTS.md as lab run all wrote them
)

// TestPage holds docs/evidence/articles.md against the run that it tells of. What changed since that
// run is marked in it, and has no answer until another one.
func TestPage(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(seeds, "lab.json"))
	if err != nil {
		t.Fatal(err)
	}
	var o Outcome
	if err := json.Unmarshal(b, &o); err != nil {
		t.Fatal(err)
	}
	if !o.Complete {
		t.Error("the run in docs/evidence/articles is not complete")
	}
	for _, e := range o.Experiments {
		if e.Quick || !e.Complete || e.NotRun != "" {
			t.Errorf("%s: quick %v, complete %v, not run %q", e.ID, e.Quick, e.Complete, e.NotRun)
		}
	}
	want, err := page(&o)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(seedsPage, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(seedsPage)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale: run go test ./internal/lab -run TestPage -update", seedsPage)
	}
}

// page fills docs/evidence/articles/page.md in. A template of an experiment's name in it follows
// the experiment's section.
func page(o *Outcome) ([]byte, error) {
	results, err := os.ReadFile(filepath.Join(seeds, "RESULTS.md"))
	if err != nil {
		return nil, err
	}
	p := seedsOf(o)
	functions := map[string]any{
		"measured": p.measured,
		"defaults": defaultsTable,
		"changed":  func() int { return len(p.changed()) },
		"count":    func(a Answer) int { return p.count(func(s Answered) bool { return s.Answer == a }) },
		"tooFewCPUs": func() int {
			return p.count(func(s Answered) bool { return s.Needs > o.Host.EffectiveCPUs && s.From == "" })
		},
		"indented": func(file string) (string, error) {
			b, err := os.ReadFile(filepath.Join(seeds, file))
			return "    " + strings.ReplaceAll(strings.TrimSpace(string(b)), "\n", "\n    ") + "\n", err
		},
		"others": func() string {
			var list []float64
			for _, e := range o.Experiments {
				for _, s := range e.Stages {
					if s.OtherCPUs != nil {
						list = append(list, *s.OtherCPUs)
					}
				}
			}
			return fmt.Sprintf("%.2f to %.2f", slices.Min(list), slices.Max(list))
		},
	}
	var t *template.Template
	functions["sections"] = func() (string, error) { return p.sections(t, string(results)) }
	t, err = template.New("page.md").Funcs(functions).ParseFiles(filepath.Join(seeds, "page.md"))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, o)
	return b.Bytes(), err
}

func interval(i Estimate) string {
	if i.Low == nil || i.High == nil {
		return number.Count(*i.Value)
	}
	return number.Count(*i.Value) + " [" + number.Count(*i.Low) + ", " + number.Count(*i.High) + "]"
}

// defaultsTable is the table that is kept of the emulated machine.
func defaultsTable() (string, error) {
	e, err := ReadEmulated()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| Go |")
	for _, q := range e.Quotas {
		if q == 0 {
			b.WriteString(" no quota |")
		} else {
			fmt.Fprintf(&b, " %g |", q)
		}
	}
	fmt.Fprintf(&b, " NumCPU, always |\n|%s\n", strings.Repeat("---|", len(e.Quotas)+2))
	for _, r := range e.Rows {
		name := r.Go
		if r.Language != "" {
			name += ", go line " + r.Language
		}
		fmt.Fprintf(&b, "| %s |", name)
		for _, n := range append(slices.Clip(r.Procs), r.NumCPU) {
			b.WriteString(" " + strconv.Itoa(n) + " |")
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
