package exporter

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// ofLibrary are the metrics that the library exports.
func ofLibrary(t *testing.T) (has []string) {
	exported := regexp.MustCompile(`"((?:process|maxprocs)_[a-z_]+)"`)
	for _, m := range exported.FindAllStringSubmatch(must.Read(t, "../../../maxprocs/metrics/metrics.go"), -1) {
		has = append(has, m[1])
	}
	return has
}

// TestLibraryDashboard: the dashboard for programs that export by themselves shows every
// metric of the library, and of others only those that it names the source of. Its
// expressions are PromQL.
func TestLibraryDashboard(t *testing.T) {
	d := readDashboard(t, libraryBoard)
	d.laidOut(t, "datasource", "job", "instance")
	has, asked, sources := ofLibrary(t), "", ""
	rules := "groups:\n- name: dashboard\n  rules:\n"
	for where, expr := range d.expressions() {
		asked += expr + "\n"
		for _, name := range regexp.MustCompile(`\b(?:process|maxprocs)_[a-z_]+`).FindAllString(expr, -1) {
			if !slices.Contains(has, name) && name != "process_cpu_seconds_total" {
				t.Errorf("%s: the library has no %s", where, name)
			}
		}
		filled := strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$instance", ".*").Replace(expr)
		rules += fmt.Sprintf("  - {record: %q, expr: %q}\n", fmt.Sprintf("panel:%d", strings.Count(rules, "record")), filled)
	}
	for _, p := range d.Panels {
		sources += p.Description + "\n"
	}
	must.Say(t, sources, "client_golang", "kubelet", "node_exporter")
	for _, name := range has {
		if !strings.Contains(asked, name) && name != "maxprocs_cfs_burst_seconds_total" {
			t.Errorf("no panel shows %s", name)
		}
	}
	promtool := need.Command(t, "promtool")
	file := filepath.Join(t.TempDir(), "rules.yaml")
	must.Write(t, file, rules)
	if out, err := exec.Command(promtool, "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, rules)
	}
}

// TestLibraryAlerts: the rules for programs that export by themselves go by metrics
// that the library has, each of them, and name rules that there are. The Collector to be
// copied into programs that use client_golang has them too, but for GOMAXPROCS.
func TestLibraryAlerts(t *testing.T) {
	has, collector := ofLibrary(t), must.Read(t, "../../../test/client/client.go")
	var file struct {
		Groups []struct {
			Rules []struct {
				Record, Alert, Expr, For string
				Labels, Annotations      map[string]string
			}
		}
	}
	must.OK(t, yaml.Unmarshal([]byte(must.Read(t, "../../../deploy/prometheus/library.yaml")), &file))
	var asked []string
	tests := must.Read(t, "../../../deploy/prometheus/library_test.yaml")
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			for _, name := range regexp.MustCompile(`\b(?:process|maxprocs)_[a-z_]+`).FindAllString(r.Expr, -1) {
				asked = append(asked, name)
				if !slices.Contains(has, name) {
					t.Errorf("%s%s: the library has no %s", r.Record, r.Alert, name)
				}
				if suffix, ours := strings.CutPrefix(name, "maxprocs_"); ours && !strings.Contains(collector, `desc("`+suffix+`"`) {
					t.Errorf("%s%s: the Collector for client_golang has no %s", r.Record, r.Alert, name)
				}
			}
			if r.Alert == "" {
				continue
			}
			if id := r.Labels["rule"]; id != "" {
				if _, ok := rule.Find(id); !ok {
					t.Errorf("%s: no rule %s", r.Alert, id)
				}
			}
			if r.For == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["runbook"] == "" || !strings.Contains(tests, "alertname: "+r.Alert+"\n") {
				t.Errorf("%s: something is missing, or it has no test", r.Alert)
			}
		}
	}
	for _, name := range has {
		shown := slices.Contains([]string{"maxprocs_cfs_throttled_seconds_total", "maxprocs_cfs_bursts_total", "maxprocs_cfs_burst_seconds_total"}, name)
		if !slices.Contains(asked, name) && !shown {
			t.Errorf("no rule goes by %s", name)
		}
	}
}
