package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/canary"
)

// Canary is what a canary came to, for a terminal and for files.
func Canary(r *canary.Result) (brief, report *document.Document) {
	w := canaryWords{r}
	h, v, table := r.Header, w.verdict(), w.table()
	brief = &document.Document{Title: "GOMAXPROCS of " + phrase.Clean(h.Name) + " under its own traffic", Date: h.Started.UTC().Format("2 January 2006, 15:04 UTC")}
	whole := *brief
	report = &whole
	brief.Blocks, report.Blocks = []document.Block{v.panel()}, []document.Block{v.panel()}
	if !r.Unreached { // else of zeros
		if list := w.charts(); len(list) > 0 {
			report.Blocks = append(report.Blocks, document.Charts{Title: document.Heading{Level: 2, Text: "Over time"}, List: list})
			list = slices.DeleteFunc(slices.Clone(list), func(c document.Chart) bool { return len(c.Categories) > mostSlices })
			brief.Blocks = append(brief.Blocks, document.Charts{List: list})
		}
	}
	if len(table.Rows) > 0 {
		report.Blocks = append(report.Blocks, document.Heading{Level: 2, Text: "All figures"}, table)
		brief.Blocks = slices.Insert(brief.Blocks, 1, document.Block(table))
	}
	if list := w.warnings(); len(list) > 0 {
		report.Blocks = append(report.Blocks, document.Heading{Level: 2, Text: "Warnings", ID: "warnings"}, list)
		brief.Blocks = append(brief.Blocks, list)
	}
	report.Blocks = append(report.Blocks, document.Heading{Level: 2, Text: "Environment", ID: "environment"}, w.environment(),
		document.Code{Title: "The command", Language: "sh", Text: "procfit " + phrase.Shell(h.Tool.Args)})
	return brief, report
}

// mostSlices is how many lines a chart over time may take of a terminal.
const mostSlices = 24

// canaryWords are those of one Result.
type canaryWords struct{ *canary.Result }

// name is a figure's, in a sentence.
func (w canaryWords) name(f canary.Figure) string {
	switch f {
	case canary.FigureCPU:
		if w.PerRequest {
			return "CPU time a request"
		}
		return "CPU time of a pod"
	case canary.FigureWait:
		if w.PerRequest {
			return "run-queue wait a request"
		}
		return "run-queue wait of a pod"
	case canary.FigureSched:
		return "scheduling latency p99"
	case canary.FigureThrottled:
		return "throttled periods"
	case canary.FigureRequests:
		return "requests of a pod"
	}
	return phrase.Clean(string(f))
}

// unit is that of a figure. What a query's value is in, its author knows.
func (w canaryWords) unit(f canary.Figure) number.Unit {
	switch f {
	case canary.FigureSched:
		return number.Time()
	case canary.FigureThrottled:
		return number.Ratio()
	case canary.FigureRequests:
		return number.PerSecond("/s")
	case canary.FigureCPU, canary.FigureWait:
		switch {
		case w.PerRequest:
			return number.Time()
		case f == canary.FigureCPU:
			return number.Plain("CPUs")
		}
		return number.Plain("s/s")
	}
	return number.Plain("")
}

func changes(i verdict.Interval) (value, interval string) {
	if i.Median == nil {
		return absent, ""
	}
	if i.Low != nil && i.High != nil {
		interval = "[" + change(*i.Low) + ", " + change(*i.High) + "]"
	}
	return change(*i.Median), interval
}

// told is what is proven of some figures: "−12.0 % [−15.0 %, −9.0 %] CPU time a request".
func (w canaryWords) told(a canary.SettingResult, figures []canary.Figure) string {
	var list []string
	for _, f := range figures {
		text := w.name(f) + " (not known)"
		if m := a.Of(f); m != nil {
			value, interval := changes(m.Ratio)
			text = w.name(f) + " " + value + " " + interval
		}
		list = append(list, text)
	}
	return phrase.And(list)
}

func (w canaryWords) table() document.Table {
	t := document.Table{Columns: []document.Column{
		{Head: "GOMAXPROCS", Short: "procs"}, {Head: "Figure", Short: "figure", Left: true}, {Head: "Median", Short: "median"},
		{Head: "Control", Short: "control"}, {Head: "Against the control", Short: "change", Detailed: true}, {Head: "Slices", Short: "n"},
	}}
	for _, a := range w.Settings {
		if a.Procs == nil {
			continue
		}
		for _, m := range a.Figures {
			u := w.unit(m.Figure)
			row := document.Row{Cells: []document.Cell{{Value: phrase.Clean(a.Label)}, {Value: w.name(m.Figure)}, {Value: valueOf(u, m.Value)}, {Value: valueOf(u, m.Control)}, {}, {Value: strconv.Itoa(m.Ratio.N)}}}
			row.Cells[4].Value, row.Cells[4].Detail = changes(m.Ratio)
			row.Mark = w.mark(a, m.Figure)
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func valueOf(u number.Unit, i verdict.Interval) string {
	if i.Median == nil {
		return absent
	}
	return u.Value(*i.Median)
}

// mark is what is proven of a figure.
func (w canaryWords) mark(a canary.SettingResult, f canary.Figure) string {
	for _, b := range a.Better {
		if b == f {
			return "better"
		}
	}
	for _, b := range a.Worse {
		if b == f {
			return "worse"
		}
	}
	return ""
}

func (w canaryWords) environment() document.Pairs {
	h := w.Header
	var out document.Pairs
	add := func(name, value string) {
		if value = phrase.Clean(value); value != "" {
			out = append(out, document.Pair{Name: phrase.Clean(name), Value: value})
		}
	}
	add("Pods like those of", h.Target.Object)
	add("Namespace", h.Target.Namespace)
	add("Container", h.Target.Container)
	var services []string
	for _, s := range h.Canary.Services {
		services = append(services, fmt.Sprintf("%s (%s)", s.Name, phrase.Count(s.Endpoints, "endpoint")))
	}
	add("Behind the Service", phrase.And(services))
	var counting []string
	for _, c := range h.Canary.Counting {
		counting = append(counting, c.String())
	}
	add("Counted by", phrase.And(counting))
	add("Node", fmt.Sprintf("%s, %s", h.TargetHost.Hostname, number.CPUs(float64(h.TargetHost.CPUs))))
	if quota := h.Control().QuotaCPUs; quota != nil {
		add("CPU limit", number.CPUs(*quota))
	} else {
		add("CPU limit", "none")
	}
	for _, a := range w.Settings {
		name := "GOMAXPROCS of " + a.Label
		var seen []string
		for _, n := range a.Observed {
			seen = append(seen, strconv.Itoa(n))
		}
		if seen == nil {
			seen = []string{"not read"}
		}
		add(name, phrase.And(seen))
	}
	add("Pods of each setting", strconv.Itoa(h.Control().Replicas))
	add("Slices", fmt.Sprintf("%d of %d, of %s", w.Counted, w.Planned, number.Short(number.Seconds(h.Canary.SliceSeconds))))
	for _, q := range h.Canary.Queries {
		add("Query "+q.Name, q.Text)
	}
	add("Prometheus", h.Canary.Prometheus)
	add("procfit", strings.TrimSpace(h.Tool.Version+", built with "+h.Tool.GoVersion))
	return out
}

// CanaryName is what a figure is called.
func CanaryName(r *canary.Result, f canary.Figure) string { return canaryWords{r}.name(f) }

// CanaryFigure is a value of it.
func CanaryFigure(r *canary.Result, f canary.Figure, x float64) string {
	return canaryWords{r}.unit(f).Value(x)
}
