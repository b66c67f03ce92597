package lab

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/procfit/procfit/internal/stat"
)

var update = flag.Bool("update", false, "write docs/SEEDS.md from docs/seeds")

const (
	seedsPage = "../../docs/SEEDS.md"
	seeds     = "../../docs/seeds" // page.md, and lab.json and RESULTS.md as lab run all wrote them
)

// TestPage holds docs/SEEDS.md against the run that it tells of, and that run
// against today's hypotheses.
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
		t.Error("the run in docs/seeds is not complete")
	}
	current(t, &o)
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

// current checks that the run answered every hypothesis as it reads today.
func current(t *testing.T, o *Outcome) {
	var ran, today []string
	say := func(id string, s Answered) string {
		bound := func(x *float64) string {
			if x == nil {
				return "open"
			}
			return number(*x)
		}
		return fmt.Sprintf("%s %s: %s (%s), %s to %s, needs %s", id, s.ID, s.Says, s.Document, bound(s.AtLeast), bound(s.AtMost), number(s.Needs))
	}
	for _, e := range o.Experiments {
		if e.Quick || !e.Complete || e.NotRun != "" {
			t.Errorf("%s: quick %v, complete %v, not run %q", e.ID, e.Quick, e.Complete, e.NotRun)
		}
		for _, s := range e.Hypotheses {
			ran = append(ran, say(e.ID, s))
		}
	}
	for _, e := range List() {
		if !slices.ContainsFunc(o.Experiments, func(r Ran) bool { return r.ID == e.ID }) {
			continue // not run yet
		}
		var r Ran
		r.Conclude(e, o.Host.EffectiveCPUs)
		for _, s := range r.Hypotheses {
			today = append(today, say(e.ID, s))
		}
	}
	if !slices.Equal(ran, today) {
		t.Errorf("the run in docs/seeds answered other hypotheses than today's: run procfit lab run all, and copy lab.json and RESULTS.md\nthen  %s\ntoday %s",
			strings.Join(ran, "\n      "), strings.Join(today, "\n      "))
	}
}

// page fills docs/seeds/page.md in. A template of an experiment's name in it follows
// the experiment's section.
func page(o *Outcome) ([]byte, error) {
	results, err := os.ReadFile(filepath.Join(seeds, "RESULTS.md"))
	if err != nil {
		return nil, err
	}
	functions := map[string]any{
		"measured": func(experiment, hypothesis string) (string, error) {
			for _, e := range o.Experiments {
				for _, s := range e.Hypotheses {
					if e.ID == experiment && s.ID == hypothesis && s.Measured.Median != nil {
						return interval(s.Measured), nil
					}
				}
			}
			return "", fmt.Errorf("nothing was measured for %s of %s", hypothesis, experiment)
		},
		"count": func(a Answer) (n int) {
			for _, e := range o.Experiments {
				n += e.count(func(s Answered) bool { return s.Answer == a })
			}
			return n
		},
		"tooFewCPUs": func() (n int) {
			for _, e := range o.Experiments {
				n += e.count(func(s Answered) bool { return s.Needs > o.Host.EffectiveCPUs })
			}
			return n
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
	functions["sections"] = func() (string, error) { return sections(t, string(results), o) }
	t, err = template.New("page.md").Funcs(functions).ParseFiles(filepath.Join(seeds, "page.md"))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, o)
	return b.Bytes(), err
}

func (r *Ran) count(is func(Answered) bool) (n int) {
	for _, s := range r.Hypotheses {
		if is(s) {
			n++
		}
	}
	return n
}

func interval(i stat.Interval) string {
	if i.Low == nil || i.High == nil {
		return number(*i.Median)
	}
	return number(*i.Median) + " [" + number(*i.Low) + ", " + number(*i.High) + "]"
}

// sections are those of RESULTS.md, a level lower and without links into the results'
// folder. What was measured is folded away below the hypotheses, but for tables of Go
// versions, which are the point.
func sections(t *template.Template, results string, o *Outcome) (string, error) {
	parts := map[string]string{}
	for section := range strings.SplitSeq(results, "\n## ") {
		id, body, _ := strings.Cut(section, "\n")
		parts[id] = body
	}
	var b strings.Builder
	for _, e := range o.Experiments {
		body, ok := parts[e.ID]
		if !ok {
			return "", fmt.Errorf("RESULTS.md has no section %s; it has %v", e.ID, slices.Sorted(maps.Keys(parts)))
		}
		fmt.Fprintf(&b, "\n### %s\n", e.ID)
		fold := !slices.ContainsFunc(e.Stages, func(s RanStage) bool { return len(s.Versions) > 0 })
		hypotheses, folded, blank := false, false, false
		for line := range strings.Lines(body) {
			switch {
			case strings.HasPrefix(line, "["), blank && line == "\n":
				continue
			case strings.HasPrefix(line, "|"):
				hypotheses = true
			case fold && hypotheses && !folded && line != "\n":
				b.WriteString("<details><summary>What was measured</summary>\n\n")
				folded = true
			}
			if title, ok := strings.CutPrefix(line, "### "); ok {
				line = "#### " + title
			}
			b.WriteString(line)
			blank = line == "\n"
		}
		if folded {
			b.WriteString("\n</details>\n")
		}
		if of := t.Lookup(e.ID); of != nil {
			if err := of.Execute(&b, o); err != nil {
				return "", err
			}
		}
	}
	return b.String(), nil
}
