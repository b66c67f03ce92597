package exporter

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/need"
	"github.com/procfit/procfit/internal/rule"
)

const (
	alertsFile    = "../../deploy/prometheus/alerts.yaml"
	dashboardFile = "../../deploy/grafana/procfit.json"
	documentFile  = "../../docs/EXPORTER.md"
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
		cmd.Dir = "../../deploy/prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

func TestPromtoolLint(t *testing.T) {
	_, text := scrape(t, exporterOf(fixture()).Handler(), "/metrics")
	cmd := exec.Command(need.Command(t, "promtool"), "check", "metrics")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
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
}

func readDashboard(t testing.TB) dashboard {
	t.Helper()
	b, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatalf("%s: %v", dashboardFile, err)
	}
	return d
}

func TestDashboard(t *testing.T) {
	d := readDashboard(t)
	if d.UID == "" || d.Title == "" || d.SchemaVersion < 39 {
		t.Errorf("uid %q, title %q, schema %d", d.UID, d.Title, d.SchemaVersion)
	}
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
	}
	if want := []string{"datasource", "job", "instance", "name"}; !slices.Equal(variables, want) {
		t.Errorf("variables %v, want %v", variables, want)
	}
	// What document 004 shows, and what explains it.
	for _, want := range []string{"Context switches", "Waiting for CPU", "Throttled periods", "CPU use", "By GOMAXPROCS"} {
		if !slices.ContainsFunc(d.Panels, func(p panel) bool { return p.Title == want }) {
			t.Errorf("no panel %q", want)
		}
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
	for _, f := range Families() {
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
	d := readDashboard(t)
	for where, expr := range d.expressions() {
		checkNames(t, where, expr)
	}
	for _, v := range d.Templating.List {
		checkNames(t, "variable "+v.Name, v.Definition)
	}
	b, err := os.ReadFile(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`procfit:[a-z0-9_:]+`).ReplaceAllString(string(b), "")
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
	b, err := os.ReadFile(documentFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Families() {
		labels := ""
		for _, l := range f.Labels {
			if l != "pid" && l != "name" {
				labels += " `" + l + "`"
			}
		}
		if row := "| `" + f.Name + "` | " + f.Type + " |" + labels + " |"; !strings.Contains(string(b), row) {
			t.Errorf("%s has no row %q", documentFile, row)
		}
	}
	checkNames(t, documentFile, regexp.MustCompile(`procfit:[a-z0-9_:]+`).ReplaceAllString(string(b), ""))
}
