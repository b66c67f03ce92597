package page

import (
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/test/must"
)

// A claim is marked as one that holds where nothing of it is open.
func TestClaimTone(t *testing.T) {
	for _, c := range []struct {
		t    tally
		want document.Tone
	}{{tally{lab.Holds: 2}, document.OK}, {tally{lab.Holds: 2, lab.NotAsked: 1}, document.OK}, {tally{lab.Holds: 1, lab.Undecided: 4}, document.Unknown}, {tally{lab.Holds: 1, lab.AtBound: 1}, document.Unknown}, {tally{lab.Holds: 1, lab.DoesNotHold: 1, lab.Undecided: 1}, document.Attention}, {tally{lab.NotAsked: 1}, document.Unknown}} {
		if got := c.t.claim("x").Tone; got != c.want {
			t.Errorf("%+v: %q, want %q", c.t, got, c.want)
		}
	}
}

// An answer that is not known is undecided.
func TestUnknownAnswer(t *testing.T) {
	counts := tally{}
	for _, a := range []lab.Answer{lab.Holds, "of a later procfit", lab.NotAsked} {
		counts.add(a)
	}
	if got := counts.words(); got != "1 holds, 1 is undecided" || counts.asked() != 2 {
		t.Errorf("%q of %d", got, counts.asked())
	}
}

func TestLab(t *testing.T) {
	o := madeLab()
	if want := "3 hypotheses of the articles: 1 holds, 1 does not hold, 1 is undecided. 1 hypothesis about the same with today's Go: 1 holds. 2 hypotheses are not asked here."; concluded(o) != want {
		t.Errorf("%q, want %q", concluded(o), want)
	}
	if !strings.HasPrefix(incomplete(o, thisRun), "1 experiment of 4 not complete.") {
		t.Errorf("progress %q", incomplete(o, thisRun))
	}
	if text, want := disturbed(o), "Other programs used up to 1.2 of the"; !strings.HasPrefix(text, want) || !strings.Contains(text, "during 1 of 3 sweeps") {
		t.Errorf("%q", text)
	}
	r := &o.Experiments[1]
	if pageOf(r) != "chain/index.html" || noteOf(r).Text != "small sizes (--quick)" || lab.DocumentName(r.Document) != "article 002" {
		t.Errorf("%q, %q, %q", pageOf(r), noteOf(r).Text, lab.DocumentName(r.Document))
	}
	asked, _ := asked(r)
	hypotheses := asked[0].(document.Table).Rows
	h := hypotheses[0]
	if h.Cells[2] != (document.Cell{Value: "1.04 [1.02, 1.07], n 20", Detail: "expected 1.1 or less"}) || h.Cells[0].Value != "holds" || h.Tone != document.OK {
		t.Errorf("%+v", h)
	}
	if h := hypotheses[1]; h.Cells[2].Detail != "expected 1.58 to 3.54" || h.Tone != document.Attention {
		t.Errorf("%+v", h)
	}
	if h := hypotheses[1]; h.Cells[3].Tag != "server" || h.Strip == nil || h.Strip.Document == nil || h.Strip.Interval.To > h.Strip.Zone.From || h.Strip.Document.At < h.Strip.Zone.From {
		t.Errorf("drawn as %+v", h.Strip)
	}
	if h := hypotheses[0]; h.Strip.Zone.From != 0 || h.Strip.Interval.To > h.Strip.Zone.To || !strings.HasSuffix(h.Strip.Summary, "measured 1.04, the article has 1.07") {
		t.Errorf("drawn as %+v", h.Strip)
	}
	if h := hypotheses[2]; h.Cells[2] != (document.Cell{Value: "not measured", Detail: "expected 1.9 or more"}) || h.Cells[1].Detail != "the interval contains the bound of 1.9; about 12 more blocks would decide it" {
		t.Errorf("%+v", h)
	}
	s := stagesOf(r)[0]
	if notes := strings.Join(s.notes, "; "); !strings.HasPrefix(notes, "Go 9.99: invalid: no such release; 18 of ") || !strings.HasSuffix(notes, " trials invalid, most often: no such release") {
		t.Errorf("notes %q", notes)
	}
	if s.report != "report.html" || !s.versions || len(s.rows) != 1 || len(s.rows[0].Charts) != 2 {
		t.Fatalf("%+v", s)
	}
	row := s.rows[0]
	// The document's laptop and server lie behind ours of Go 1.4, brought to it at one P.
	if c := row.Charts[0]; len(c.Series) != 3 || c.Series[0].Name != "article, laptop" || c.Series[1].Name != "article, server" {
		t.Errorf("the document's curves: %+v", c.Series)
	} else {
		for i, k := range c.Categories {
			ours, theirs := c.Series[2].Marks[i], c.Series[1].Marks[i]
			if k.Label == "1" && (theirs.At != ours.At || theirs.Value != "article 1.00× one P, server") || k.Label == "2" && (theirs.Value != "article 2.84× one P, server" || !theirs.Joined) {
				t.Errorf("at %s the document has %+v over %+v", k.Label, theirs, ours)
			}
		}
	}
	if !s.over {
		t.Error("nothing says what the hollow dots are")
	}
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
	if !strings.HasPrefix(strings.Join(names, " "), "Chain default Chain Chain-2") {
		t.Errorf("rows %q", names)
	}
	if cells[0] != "28.9 µs × (0.99,1.02)" {
		t.Errorf("cells %q", cells)
	}
	if name := pageOf(&o.Experiments[3]); name != "" {
		t.Errorf("what was not run has a page, %s", name)
	}
	if k8s := stagesOf(&o.Experiments[0])[0]; k8s.report != "pods/report.html" || len(k8s.rows) < 3 {
		t.Errorf("%d rows, report %q: want throughput, latency and what the kernel counted", len(k8s.rows), k8s.report)
	}
}

// A stage of one group has its figures side by side; one of a single setting has Go
// versions down and quotas across.
func TestLabTables(t *testing.T) {
	heads := func(f page.Multiples) string {
		var list []string
		for _, c := range f.Table.Columns {
			list = append(list, c.Head)
		}
		return strings.Join(list, "|")
	}
	o := madeLab()
	threads := stagesOf(&o.Experiments[2])[0].tables()
	if len(threads) != 1 || !strings.HasPrefix(heads(threads[0]), "GOMAXPROCS|") || len(threads[0].Table.Columns) < 3 {
		t.Errorf("%d tables, %q", len(threads), heads(threads[0]))
	}
	if first := threads[0].Table.Rows[0].Cells[0].Value; first != "default" {
		t.Errorf("the first row is %q", first)
	}
	if n := len(threads[0].Charts); n != len(threads[0].Table.Columns)-1 || threads[0].Charts[0].Title != threads[0].Table.Columns[1].Head {
		t.Errorf("%d charts, the first of %s, above %q", n, threads[0].Charts[0].Title, heads(threads[0]))
	}
	r := o.Experiments[1].Measured[""].Result
	for i := range r.Groups {
		r.Groups[i].Settings = r.Groups[i].Settings[:1]
	}
	quota := r.Groups[0]
	quota.QuotaCPUs = new(0.5)
	r.Groups = append(r.Groups, quota)
	s := stagesOf(&o.Experiments[1])[0]
	tables := s.tables()
	if len(tables) != 1 || heads(tables[0]) != "GOMAXPROCS default|no limit|limit 0.5" || s.rows[0].Charts != nil {
		t.Fatalf("%d tables, %q, charts %v", len(tables), heads(tables[0]), s.rows[0].Charts)
	}
	var cells []string
	for _, row := range tables[0].Table.Rows {
		for _, c := range row.Cells {
			cells = append(cells, c.Value)
		}
	}
	if got := strings.Join(cells, "|"); got != "Go 1.4|28.9 µs × (0.99,1.02)|28.9 µs × (0.99,1.02)|Go 9.99|invalid|–" {
		t.Errorf("cells %q", got)
	}
}

// Several metrics of several Go versions, of one setting without a limit, are a table each.
func TestLabVersionsOfOneSetting(t *testing.T) {
	o := madeLab()
	r := o.Experiments[1].Measured[""].Result
	for i := range r.Groups {
		r.Groups[i].Settings = r.Groups[i].Settings[:1]
	}
	a := &r.Groups[0].Settings[0]
	a.Metrics["Other ns/op"] = a.Metrics["Chain ns/op"]
	for i := range a.Points {
		a.Points[i].Metrics["Other ns/op"] = a.Points[i].Metrics["Chain ns/op"]
	}
	if n := len(stagesOf(&o.Experiments[1])[0].tables()); n != 2 {
		t.Errorf("%d tables", n)
	}
	out := strings.Join(strings.Fields(renderLab(t, o, text.Options{})), " ")
	if want := "default no limit Go 1.4 28.9 µs × (0.99,1.02) Go 9.99 invalid"; strings.Count(out, want) != 2 {
		t.Errorf("not twice %q in %s", want, out)
	}
}

// The runs of several machines are in no directory together.
func TestSeveralAreContinuedApart(t *testing.T) {
	var b strings.Builder
	must.OK(t, text.Render(&b, Several([]*lab.Machine{{Name: "laptop", Outcome: madeLab()}}), text.Options{}))
	out := strings.Join(strings.Fields(b.String()), " ")
	must.Say(t, out, "On their machine, run the same command with its directory as --out to run the rest.", "more decide 1 of them: on their machine, run the same command with its directory as --out.")
	if strings.Contains(out, "this directory") {
		t.Error(out)
	}
}

func TestEmptyLab(t *testing.T) {
	o := &lab.Outcome{Experiments: []lab.Ran{{ID: "x", NotRun: "not run yet"}}}
	if concluded(o) != "No hypothesis." || !strings.HasPrefix(incomplete(o, thisRun), "1 experiment of 1 not complete.") || disturbed(o) != "" {
		t.Errorf("%q, %q, %q", concluded(o), incomplete(o, thisRun), disturbed(o))
	}
}

// A figure whose unit says that it is nanoseconds is shown as a time.
func TestLabTimes(t *testing.T) {
	o := madeLab()
	r := o.Experiments[2].Measured[""].Result
	for i := range r.Groups[0].Settings {
		a := &r.Groups[0].Settings[i]
		a.Metrics = map[string]verdict.MetricInterval{"GC ns/op": {Unit: "ns/op"}, "GC pause-ns": {Unit: "pause-ns"}}
		for j := range a.Points {
			a.Points[j].Metrics = map[string]journal.Metric{"GC ns/op": {Value: 1e6}, "GC pause-ns": {Value: 25e3}}
		}
	}
	var titles []string
	for _, row := range stagesOf(&o.Experiments[2])[0].rows {
		titles = append(titles, row.Title)
		if row.Title == "GC pause" && row.Table.Rows[0].Cells[1].Value != "25.0 µs × (1.00,1.00)" {
			t.Errorf("%+v", row.Table.Rows[0])
		}
	}
	if !slices.Contains(titles, "GC pause") || slices.Contains(titles, "GC pause-ns") {
		t.Errorf("figures %q", titles)
	}
}

// Figures of another machine are never shown as measured here.
func TestLabFrom(t *testing.T) {
	o := madeLab()
	o.Experiments[1].Hypotheses[2] = lab.Answered{
		Hypothesis: lab.Hypothesis{ID: "d", Says: "the default ignores a quota", AtLeast: 1}, Answer: lab.DoesNotHold, From: "on an emulated machine of 8 CPUs, 22 November 2026",
		Measured: lab.Estimate{Value: new(0.25), Low: new(0.25), High: new(0.25), N: 2},
	}
	if got, want := hypothesis(o.Experiments[1].Hypotheses[2]).Cells[2].Value, "0.250 [0.250, 0.250], n 2 (on an emulated machine of 8 CPUs, 22 November 2026)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
