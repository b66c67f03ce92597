package show_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/test/must"
)

// Each renderer writes the same document.
func TestGolden(t *testing.T) {
	for name, o := range map[string]text.Options{
		"example.txt":  {Width: 80, Files: []string{"results/x/report.html", "results/x/RESULTS.md"}},
		"narrow.txt":   {Width: 36},
		"example.ansi": {Width: 80, Color: true},
	} {
		var b bytes.Buffer
		must.OK(t, text.Render(&b, example(), o))
		documenttest.Golden(t, name, b.Bytes())
	}
	documenttest.Golden(t, "example.md", markdown.Render(example()))
	b := must.Get(html.Render(example()))(t)
	documenttest.Golden(t, "example.html", b)
}

// A chart without series has its settings, and no charts are nothing.
func TestNoMarks(t *testing.T) {
	none := *chart(false)
	none.Series = nil
	var b bytes.Buffer
	must.OK(t, text.Render(&b, &document.Document{Blocks: []document.Block{document.Charts{Layout: document.Lines}, document.Charts{Layout: document.Lines, List: []document.Chart{none}}}}, text.Options{}))
	if !strings.Contains(b.String(), "THROUGHPUT") || !strings.Contains(b.String(), "16 │") {
		t.Errorf("%s", b.String())
	}
}

// example has every kind of block, as a page of a sweep or of a trace has them.
func example() *document.Document {
	table := document.Table{
		Columns: []document.Column{
			{Head: "GOMAXPROCS", Short: "procs", Left: true}, {Head: "Requests per second", Short: "req/s", Detailed: true, Bars: true},
			{Head: "New compared with old", Short: "new / old"}, {Head: "Note", Left: true}, {Head: "Threads waiting for a CPU"},
		},
		Rows: []document.Row{
			{Mark: "recommended", Cells: []document.Cell{{Value: "2"}, {Value: "12.8k", Detail: "[12.6k, 13.0k]", Bar: 1}, {Value: "+0.6%"}, {Value: "proven, a | b"}, {Value: "0.1"}},
				Strip: &document.Strip{Zone: document.Span{From: 0.4, To: 1}, Present: true, At: 0.55, Interval: document.Span{From: 0.5, To: 0.6}, Ticks: []document.Tick{{At: 0.5, Label: "no change"}}, Summary: "+0.6%"}},
			{Link: "#g1", Tone: document.Attention, Cells: []document.Cell{{Value: "8 (default)", Tag: "measured"}, {Value: "6.38k", Bar: 0.5}, {Value: "–"}, {Value: "undecided", To: "#g1"}, {Value: "1.9", Detail: "of 8"}},
				Strip: &document.Strip{Zone: document.Span{From: 0.4, To: 1}, Document: &document.Tick{At: 0.7, Label: "document"}, Summary: "not measured"}},
		},
		StripHead: "Within the margin?", StripAfter: 2,
	}
	code := document.Code{Title: "In a shell", Note: "for one run", Language: "sh", Text: "export GOMAXPROCS=2\n\t./server"}
	check := document.Check{Number: 1, Question: "Was it measured?", State: document.OK, Answer: "yes", Detail: "18 valid trials"}
	return &document.Document{
		Title: "GOMAXPROCS of server", Date: "5 January 2026, 10:15 UTC", Home: &document.Link{Text: "All results", To: "index.html"}, Parts: true,
		Blocks: []document.Block{
			document.Section{Class: document.Navigation, Name: "Contents", Blocks: []document.Block{document.Links{{Text: "Summary", To: "#summary"}, {Text: "Environment", To: "#environment"}}}},
			document.Alert{Text: "Incomplete: 3 of 9 trials ran. To continue, run: procfit sweep --out results/server"},
			document.Panel{Name: "Verdict", Tone: document.Act, Label: "Recommended", Level: 2, Sentence: "Set GOMAXPROCS=2", Blocks: []document.Block{
				document.Text{Text: "Compared with the default (8): throughput is 2.0× higher.", Style: document.Plain},
				document.Tiles{{Name: "p99", Before: "26.4 ms", After: "4.14 ms", Note: "3.92 ms to 4.55 ms"}, {Name: "throughput", After: "12.8k req/s"}},
				document.Text{Text: "Proven at 95% · 8 CPUs · no CPU limit", Style: document.Muted},
				document.Alert{Text: "2 warnings: trials vary", To: "#warnings"},
			}},
			document.Cards{{ID: "g1", Title: "0.5 CPUs", Tone: document.Unknown, Answer: "Undecided", Charts: []document.Chart{*chart(true)}}},
			document.Heading{Level: 2, Text: "Summary", Note: "of one group", ID: "summary", To: "#g1"},
			table,
			document.Text{Lead: "New version is not slower", Text: "Throughput +0.6%, allowed −5%.", Tone: document.OK},
			document.Section{Class: "group", ID: "s1", Blocks: []document.Block{
				document.Charts{Title: document.Heading{Level: 3, Text: "By GOMAXPROCS"}, Hidden: true, Layout: document.Curves, List: []document.Chart{*chart(false), *bars()}, Key: "A large dot is the level of a setting."},
				document.Heading{Level: 3, Text: "Why"},
				document.List{Lead: "What would decide it:", Items: []document.Item{{Text: "measure more trials", Command: "procfit sweep --until trials=39 -- ./server -addr :{port}"}, {Text: "use a quieter machine"}}},
				document.Pairs{{Name: "Workload", Value: "CPU-bound: 93% of its CPUs used at 2"}, {Name: "Peak memory", Value: "30 MiB"}},
				document.Heading{Level: 3, Text: "Warnings", ID: "warnings"},
				document.Notes{{Subject: "0.5 CPUs", Message: "trials vary by 46%", Fix: "use a quieter machine, or `--trial-time 6s`"}, {Quiet: true, Message: "1 more remark is in report.html"}},
				document.Folds{Title: document.Heading{Level: 3, Text: "Checklist"}, List: []document.Fold{{Summary: "Before you change it: none", Blocks: []document.Block{document.Checks{check}}}}},
			}},
			document.Charts{Layout: document.Lines, List: []document.Chart{*chart(false)}},
			document.Heading{Level: 2, Text: "Environment", ID: "environment"},
			code, document.Snippets{code, {Title: "In a Dockerfile", Language: "dockerfile", Text: "ENV GOMAXPROCS=2"}},
			document.Table{Prose: true, Columns: []document.Column{{Head: "Cause", Left: true}, {Head: "Fix", Left: true}}, Rows: []document.Row{{Cells: []document.Cell{{Value: "a limit that changes"}, {Value: "set it once; then measure again"}}}}},
			document.Timeline{Ticks: []document.Tick{{At: 0, Label: "0"}, {At: 1, Label: "10 ms"}}, Fillings: []document.Filling{{Name: "main.work", Sign: 'a'}, {Name: "runtime", Sign: '#', Aside: true}},
				Lanes: []document.Lane{{Name: "P 0", Stretches: []document.Stretch{{Span: document.Span{From: 0.1, To: 0.6}}}}, {Name: "P 1", Stretches: []document.Stretch{{Span: document.Span{From: 0.5, To: 0.9}, Of: 1}}}},
			},
			document.Text{Text: "Read `logs/` first.", Style: document.Advice}, document.Text{Text: "Nothing more.", Style: document.Small},
			document.Text{Text: "Answer", Style: document.Strong, Tone: document.Attention},
		},
		Closing: []document.Block{document.Code{Title: "Next, measure more", Text: "procfit sweep"}},
	}
}

// chart has a setting that is recommended, one with a trial that is not used, and one without a value.
func chart(small bool) *document.Chart {
	c := &document.Chart{
		Title: "Throughput", Unit: "req/s", Note: "closed loop", Small: small, Ticks: []document.Tick{{At: 0, Label: "0"}, {At: 1, Label: "15k"}}, Reference: &document.Tick{At: 0.8, Label: "the default"},
		Categories: []document.Category{{Label: "default", Sub: "8", Default: true, Apart: true}, {Label: "2", Mark: "recommended"}, {Label: "16", Uncompared: "not compared"}},
		Series: []document.Series{{Name: "throughput", Marks: []document.Mark{
			{Present: true, At: 0.43, Interval: true, Low: 0.4, High: 0.47, Value: "6.38k", Detail: "[6.0k, 7.0k]", Dots: []document.Dot{{At: 0.42, Jitter: -0.5, Kind: "measure", Label: "trial 1: 6.3k"}, {At: 1, Kind: "invalid", Off: true, Label: "trial 2, invalid"}}},
			{Present: true, At: 0.85, Joined: false, Value: "12.8k", Dots: []document.Dot{{At: 0.85, Jitter: 0.5, Kind: "aa", Label: "trial 3: 12.8k"}}},
			{},
		}}},
	}
	c.Describe("throughput")
	return c
}

// bars are two quantities of each setting, from zero.
func bars() *document.Chart {
	c := &document.Chart{
		Title: "CPUs used", Unit: "CPUs", Bars: true, Log: true, Ticks: []document.Tick{{At: 0, Label: "1"}, {At: 1, Label: "8"}},
		Categories: []document.Category{{Label: "2"}, {Label: "8"}},
		Series: []document.Series{
			{Name: "program", Marks: []document.Mark{{Present: true, At: 0.25, Value: "2"}, {Present: true, At: 0.9, Joined: true, Value: "7.1"}}},
			{Name: "load generator", Marks: []document.Mark{{Present: true, At: 0.1, Value: "1.1"}, {}}},
		},
	}
	c.Describe("")
	return c
}
