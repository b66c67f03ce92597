package lab_test

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/lab/page"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

var update = flag.Bool("update", false, "write the golden page")

// worded are the experiments whose page is kept, with the figures that their programs
// print.
var worded = map[string][]string{
	"requests": nil,
	"headroom": {"Headroom p99-ns"},
	"idle":     {"Idle/tcp B/conn", "Idle/http B/conn", "Idle/http threads/conn", "Idle/http alone-sums/s", "Idle/http beside-sums/s"},
	"extremes": {"Extremes p99-ns", "Extremes memory-B"},
	"gc":       {"GC ns/op", "GC gc-cpus", "GC pause-max-ns", "GC settled-cycle", "GC cycle-ns"},
	"blocking": {"Blocking threads/call", "Blocking alone-sums/s", "Blocking beside-sums/s", "Calls threads/call", "Calls calls/s"},
	"tenants":  {"Tenants beside-p99-ns", "Tenants alone-p99-ns", "Tenants/quiet p99-ns"},
	"spin":     nil,
	"racy":     {"races", "Racy/increment lost-ppm", "Racy/compute lost-ppm"},
	"remedies": {"Remedies/mutex ns/op", "Remedies/atomic ns/op", "Remedies/sharded ns/op", "Remedies/batched ns/op"},
}

// grown is a stage of which every figure grows with the Ps, to the power of 0.3, and with
// the figure's place in the list.
func grown(s lab.Stage, names []string, cpus float64) lab.Measured {
	m := lab.Measured{Result: &verdict.Result{Host: journal.Host{EffectiveCPUs: cpus}}}
	quotas := s.Quotas
	if len(quotas) == 0 {
		quotas = []*float64{nil}
	}
	for _, quota := range quotas {
		for _, procs := range s.Procs.Values {
			for block := range 6 {
				x := math.Pow(float64(*procs), 0.3) * (1 + 0.01*float64(block))
				t := journal.Trial{
					Setting: journal.Setting{Procs: procs, QuotaCPUs: quota}, Role: journal.RoleMeasure, Block: block, Valid: true, ThroughputPerSecond: &x, Metrics: map[string]journal.Metric{},
					Usage: journal.Usage{MeasuredSeconds: 1, CPUSeconds: &journal.CPUSeconds{User: x * x}, ContextSwitches: &journal.ContextSwitches{Voluntary: int64(1e6 * x)}},
				}
				t.BesideCPUSeconds = new(x)
				t.Phases = []journal.Phase{{Mode: journal.ModeOpen, AchievedPerSecond: 1, Usage: &journal.Usage{MeasuredSeconds: 1, CPUSeconds: &journal.CPUSeconds{User: x}}}}
				t.LatencySeconds = &journal.Latency{P99: new(0.01 / x)}
				if len(s.GoVersions) > 0 {
					t.Setting.GoVersion = s.GoVersions[0]
				}
				for i, name := range names {
					t.Metrics[name] = journal.Metric{Value: x * float64(1+i)}
				}
				m.Trials = append(m.Trials, t)
			}
		}
	}
	return m
}

// TestWords keeps the page of the experiments on what the documents state: their words,
// bounds and needs, and how figures that are made are answered on two CPUs.
func TestWords(t *testing.T) {
	const cpus, golden = 2, "testdata/words.md"
	o := &lab.Outcome{Started: time.Unix(0, 0), Host: journal.Host{CPUs: cpus, EffectiveCPUs: cpus}}
	for _, e := range lab.List() {
		names, ok := worded[e.ID]
		if !ok {
			continue
		}
		r := lab.Ran{ID: e.ID, Title: e.Title, Document: e.Document, Kind: e.Kind, Complete: true, Measured: lab.Results{}}
		for _, s := range e.Stages(lab.Options{CPUs: cpus}) {
			r.Stages = append(r.Stages, lab.RanStage{ID: s.ID, Title: s.Title, Scaled: s.Scaled, Directory: e.ID + "/" + s.ID})
			r.Measured[s.ID] = grown(s, names, cpus)
		}
		r.Conclude(e, cpus)
		for _, h := range r.Hypotheses {
			if h.Measured.Value == nil {
				t.Errorf("%s %s: %s", e.ID, h.ID, h.Reason)
			}
		}
		r.Measured = nil // what is below the answers is the sweeps'
		o.Experiments = append(o.Experiments, r)
	}
	if len(o.Experiments) != len(worded) {
		t.Errorf("%d experiments of %d", len(o.Experiments), len(worded))
	}
	got := markdown.Render(page.Results(o))
	if *update {
		must.OK(t, os.WriteFile(golden, got, 0o644))
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: the page is another than %s: go test ./internal/lab -run TestWords -update, and read the difference", err, golden)
	}
}

// What quotes an article belongs to one of its claims, and to no other.
func TestClaims(t *testing.T) {
	claims, quoted := map[string]int{}, map[string]bool{}
	for _, a := range lab.Articles() {
		for _, c := range a.Claims {
			for _, id := range c.Of {
				claims[a.ID+" "+id]++
			}
		}
	}
	for _, e := range lab.List() {
		r := lab.Ran{ID: e.ID, Document: e.Document}
		r.Conclude(e, 2)
		for _, h := range r.Hypotheses {
			if a := r.Article(h); a != "" {
				quoted[a+" "+e.ID] = true
			}
		}
	}
	for name, n := range claims {
		if n != 1 || !quoted[name] {
			t.Errorf("%s is in %d claims, quoted %v", name, n, quoted[name])
		}
	}
	for name := range quoted {
		if claims[name] == 0 {
			t.Errorf("%s is in no claim", name)
		}
	}
}

// TestArticles keeps the pages of docs/evidence/articles: of each article what holds, by the run in its
// lab.json, on one screen of a terminal. articles.md has their sum.
func TestArticles(t *testing.T) {
	o := lab.Recorded(t)
	for _, a := range lab.Articles() {
		d := page.Article(o, a)
		var screen bytes.Buffer
		if err := text.Render(&screen, d, text.Options{Width: 80}); err != nil || bytes.Count(screen.Bytes(), []byte("\n")) > 50 {
			t.Errorf("article %s: %v, %d lines", a.ID, err, bytes.Count(screen.Bytes(), []byte("\n")))
		}
		file := filepath.Join(lab.Seeds, a.ID+".md")
		got := append([]byte("<!-- go test ./internal/lab -run TestArticles -update makes this page of lab.json. -->\n\n"), markdown.Render(d)...)
		if *update {
			must.OK(t, os.WriteFile(file, got, 0o644))
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: %s is not what lab.json says: go test ./internal/lab -run TestArticles -update", err, file)
		}
	}
	sum := page.Results(o).Blocks[0].(document.Text).Text
	b, err := os.ReadFile(lab.Seeds + ".md")
	if err != nil || !strings.Contains(string(b), "**"+sum+"**") {
		t.Errorf("%v: %s.md lacks **%s**", err, lab.Seeds, sum)
	}
}
