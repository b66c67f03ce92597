package exporter

import (
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

const (
	alertsFile    = "../../../deploy/prometheus/alerts.yaml"
	dashboardFile = "../../../deploy/grafana/procfit.json"
	libraryBoard  = "../../../deploy/grafana/library.json"
	documentFile  = "../../../docs/reference/exporter.md"
)

// TestPromtool has the configuration, the rules and the rules' own tests checked
// by Prometheus' tool.
func TestPromtool(t *testing.T) {
	promtool := need.Command(t, "promtool")
	for _, args := range [][]string{
		{"check", "config", "prometheus.yaml"},
		{"check", "rules", "alerts.yaml"},
		{"test", "rules", "alerts_test.yaml"},
		{"check", "rules", "library.yaml"},
		{"test", "rules", "library_test.yaml"},
	} {
		cmd := exec.Command(promtool, args...)
		cmd.Dir = "../../../deploy/prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// dashboard is what is looked at of Grafana's JSON.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Panels        []panel
	Templating    struct {
		List []struct{ Name, Type, Definition string }
	}
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ H, W, X, Y int }
	Datasource               struct{ UID string }
	Targets                  []struct{ RefID, Expr string }
	FieldConfig              struct {
		Defaults  struct{ Unit string }
		Overrides []struct {
			Matcher    struct{ Options string }
			Properties []struct {
				ID    string
				Value json.RawMessage
			}
		}
	}
	Transformations []struct {
		ID      string
		Options struct{ RenameByName map[string]string }
	}
}

// place is where the panel of that title stands from the top; the test fails without.
func (d dashboard) place(t *testing.T, title string) (at int, p panel) {
	t.Helper()
	i := slices.IndexFunc(d.Panels, func(p panel) bool { return p.Title == title })
	if i < 0 {
		t.Fatalf("no panel %q", title)
	}
	return d.Panels[i].GridPos.Y, d.Panels[i]
}

// TestDashboardOrder has what is wrong at the top, then what each process runs with,
// fits and is limited to, in one row.
func TestDashboardOrder(t *testing.T) {
	d := readDashboard(t, dashboardFile)
	rules, findings := d.place(t, "Rules that match")
	processes, table := d.place(t, "GOMAXPROCS of each process")
	if curves, _ := d.place(t, "By GOMAXPROCS"); rules > processes || processes > curves || rules > 5 {
		t.Errorf("findings at %d, processes at %d, curves at %d", rules, processes, curves)
	}
	last := table.Transformations[len(table.Transformations)-1]
	for _, want := range []string{"GOMAXPROCS", "Recommended", "Limit", "CPU use", "Waiting", "Throttled", "Sched P99"} {
		if !slices.Contains(slices.Collect(maps.Values(last.Options.RenameByName)), want) {
			t.Errorf("no column %s in %v", want, last.Options.RenameByName)
		}
	}
	if table.Transformations[0].ID != "merge" {
		t.Errorf("the queries stay apart: %v", table.Transformations)
	}
	titles := ""
	for _, o := range findings.FieldConfig.Overrides {
		for _, p := range o.Properties {
			titles += string(p.Value)
		}
	}
	for _, r := range rule.All() {
		if !strings.Contains(titles, r.ID+" "+r.Title) {
			t.Errorf("the table of findings does not tell %s %s", r.ID, r.Title)
		}
	}
}

// TestDashboardUnits: seconds a second of waiting, or of CPU time, are threads, or
// CPUs.
func TestDashboardUnits(t *testing.T) {
	for _, p := range readDashboard(t, dashboardFile).Panels {
		for _, target := range p.Targets {
			unit, many := p.FieldConfig.Defaults.Unit, len(p.Targets) > 2
			switch {
			case many || strings.Contains(p.Title, "as a share of its CPUs"):
			case strings.Contains(target.Expr, "run_queue_wait_seconds_total") && unit != "suffix: threads",
				strings.Contains(target.Expr, "cpu_seconds_total") && unit != "suffix: CPUs":
				t.Errorf("%s, %s: unit %q", p.Title, target.RefID, unit)
			}
		}
	}
}

func readDashboard(t testing.TB, file string) dashboard {
	t.Helper()
	var d dashboard
	if err := json.Unmarshal([]byte(must.Read(t, file)), &d); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return d
}

func TestDashboard(t *testing.T) {
	d := readDashboard(t, dashboardFile)
	d.laidOut(t, "datasource", "job", "instance", "name")
	// What document 004 shows, and what explains it.
	for _, want := range []string{"Context switches", "Waiting for CPU", "Throttled periods", "CPU use", "By GOMAXPROCS"} {
		if !slices.ContainsFunc(d.Panels, func(p panel) bool { return p.Title == want }) {
			t.Errorf("no panel %q", want)
		}
	}
}

// laidOut wants panels that do not lie over each other, each with what Grafana needs.
func (d dashboard) laidOut(t *testing.T, variables ...string) {
	t.Helper()
	if d.UID == "" || d.Title == "" || d.SchemaVersion < 39 {
		t.Errorf("uid %q, title %q, schema %d", d.UID, d.Title, d.SchemaVersion)
	}
	var has []string
	for _, v := range d.Templating.List {
		has = append(has, v.Name)
	}
	if !slices.Equal(has, variables) {
		t.Errorf("variables %v, want %v", has, variables)
	}
	seen := map[int]bool{}
	taken := map[[2]int]string{}
	for _, p := range d.Panels {
		if p.ID == 0 || seen[p.ID] {
			t.Errorf("%s: id %d is not its own", p.Title, p.ID)
		}
		seen[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("%s lies over %q or beyond the edge", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Datasource.UID != "${datasource}" || p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("%s: data source %q, description %q, %d targets", p.Title, p.Datasource.UID, p.Description, len(p.Targets))
		}
	}
}

// named finds the metrics that a text names, but for rules that record.
var named = regexp.MustCompile(`\b(?:procfit_(?:process|exporter)|process)_[a-z0-9_]+`)

// checkNames holds every metric that a text names against those exported.
func checkNames(t *testing.T, where, text string) {
	t.Helper()
	exported := map[string]bool{"process_resident_memory_bytes": true}
	for _, f := range families {
		exported[f.Name] = true
		if f.Type == "histogram" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				exported[f.Name+suffix] = true
			}
		}
	}
	for _, name := range named.FindAllString(text, -1) {
		if !exported[name] {
			t.Errorf("%s names %s, which is not exported", where, name)
		}
	}
}

// expressions are the dashboard's, by what they are for.
func (d dashboard) expressions() map[string]string {
	all := map[string]string{}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all[fmt.Sprintf("panel %d, %s, %s", p.ID, p.Title, target.RefID)] = target.Expr
		}
	}
	return all
}

func TestNames(t *testing.T) {
	d := readDashboard(t, dashboardFile)
	for where, expr := range d.expressions() {
		checkNames(t, where, expr)
	}
	for _, v := range d.Templating.List {
		checkNames(t, "variable "+v.Name, v.Definition)
	}
	text := regexp.MustCompile(`procfit:[a-z0-9_:]+`).ReplaceAllString(must.Read(t, alertsFile), "")
	checkNames(t, alertsFile, text)
	for _, id := range regexp.MustCompile(`PF\d{3}`).FindAllString(text, -1) {
		if _, ok := rule.Find(id); !ok {
			t.Errorf("%s names rule %s", alertsFile, id)
		}
	}
	if alerts := strings.Count(text, "- alert: "); alerts < 6 || alerts != strings.Count(text, " runbook: ") ||
		alerts != strings.Count(text, " summary: ") || alerts != strings.Count(text, " description: ") {
		t.Errorf("%d alerts, and not each has a summary, a description and a runbook", alerts)
	}
}

// TestDocument wants a row for each metric, with its type and labels.
func TestDocument(t *testing.T) {
	page := must.Read(t, documentFile)
	for _, f := range families {
		labels := ""
		for _, l := range f.Labels {
			if l != "pid" && l != "name" {
				labels += " `" + l + "`"
			}
		}
		if row := "| `" + f.Name + "` | " + f.Type + " |" + labels + " |"; !strings.Contains(page, row) {
			t.Errorf("%s has no row %q", documentFile, row)
		}
	}
	checkNames(t, documentFile, regexp.MustCompile(`procfit:[a-z0-9_:]+`).ReplaceAllString(page, ""))
}
