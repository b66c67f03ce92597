package report_test

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/report"
	"github.com/procfit/procfit/internal/report/reporttest"
)

func TestLab(t *testing.T) {
	v := report.NewLab(reporttest.Lab())
	if want := "3 hypotheses of 4 experiments: 1 holds, 1 does not hold, 1 cannot be told here."; v.Sentence != want {
		t.Errorf("%q, want %q", v.Sentence, want)
	}
	if !strings.HasPrefix(v.Progress, "1 experiment of 4 not complete.") {
		t.Errorf("progress %q", v.Progress)
	}
	if want := "Other programs took up to 1.2 of the"; !strings.HasPrefix(v.Disturbed, want) || !strings.Contains(v.Disturbed, "while 1 of 3 sweeps ran") {
		t.Errorf("%q", v.Disturbed)
	}
	chain := v.Experiments[1]
	if chain.Page != "chain/index.html" || !chain.Versions || chain.Note != "small sizes (--quick)" || chain.Document != "document 002" {
		t.Errorf("%+v", chain)
	}
	h := chain.Hypotheses[0]
	if h.Here != "1.04 [1.02, 1.07], n 20" || h.Wanted != "1.1 or less" || h.Label != "holds" || h.State != report.OK {
		t.Errorf("%+v", h)
	}
	if h := chain.Hypotheses[1]; h.Wanted != "1.58 to 3.54" || h.State != report.Attention {
		t.Errorf("%+v", h)
	}
	if h := chain.Hypotheses[2]; h.Here != "not measured" || h.Wanted != "1.9 or more" || h.Reason != "needs 4 CPUs, here are 2" {
		t.Errorf("%+v", h)
	}
	s := chain.Stages[0]
	if notes := strings.Join(s.Notes, "; "); notes != "Go 9.99: invalid: no such release; 18 of 48 trials invalid, most often: no such release" && !strings.Contains(notes, "most often: no such release") {
		t.Errorf("notes %q", notes)
	}
	if s.Report != "report.html" || len(s.Rows) != 1 || len(s.Rows[0].Charts) != 2 {
		t.Fatalf("%+v", s)
	}
	row := s.Rows[0]
	a, b := row.Charts[0], row.Charts[1]
	if len(a.Ticks) == 0 || len(a.Ticks) != len(b.Ticks) || a.Ticks[len(a.Ticks)-1] != b.Ticks[len(b.Ticks)-1] {
		t.Errorf("the charts have scales of their own: %v, %v", a.Ticks, b.Ticks)
	}
	// Document 002's names and notation.
	var names, cells []string
	for _, r := range row.Table.Rows {
		names, cells = append(names, r.Cells[0].Value), append(cells, r.Cells[1].Value)
		if r.Cells[2].Value != "invalid" {
			t.Errorf("%s of Go 9.99 is %q", r.Cells[0].Value, r.Cells[2].Value)
		}
	}
	if !strings.HasPrefix(strings.Join(names, " "), "Chain unset Chain Chain-2") && !strings.HasPrefix(strings.Join(names, " "), "Chain Chain-2") {
		t.Errorf("rows %q", names)
	}
	if !strings.HasSuffix(cells[0], "µs × (0.98,1.02)") && !strings.HasSuffix(cells[0], "µs × (0.99,1.02)") {
		t.Errorf("cells %q", cells)
	}
	if e := v.Experiments[3]; e.Page != "" || e.NotRun != "a quota needs a cgroup: mount one" {
		t.Errorf("%+v", e)
	}
	if k8s := v.Experiments[0].Stages[0]; k8s.Report != "pods/report.html" || len(k8s.Rows) < 3 {
		t.Errorf("%d rows, report %q: want throughput, latency and what the kernel counted", len(k8s.Rows), k8s.Report)
	}
}

func TestEmptyLab(t *testing.T) {
	v := report.NewLab(&lab.Outcome{Experiments: []lab.Ran{{ID: "x", NotRun: "not run yet"}}})
	if v.Sentence != "0 hypotheses of 1 experiment." || v.Progress != "" || v.Disturbed != "" {
		t.Errorf("%+v", v)
	}
}
