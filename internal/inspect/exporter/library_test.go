package exporter

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/program/rule"
)

// TestLibraryAlerts: the rules for programs that export by themselves go by metrics
// that the library has, each of them, and name rules that there are.
func TestLibraryAlerts(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	exported := regexp.MustCompile(`"((?:process|maxprocs)_[a-z_]+)"`)
	var has []string
	for _, m := range exported.FindAllStringSubmatch(read("../../../maxprocs/metrics/metrics.go"), -1) {
		has = append(has, m[1])
	}
	var file struct {
		Groups []struct {
			Rules []struct {
				Record, Alert, Expr, For string
				Labels, Annotations      map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(read("../../../deploy/prometheus/library.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	var asked []string
	tests := read("../../../deploy/prometheus/library_test.yaml")
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			for _, name := range regexp.MustCompile(`\b(?:process|maxprocs)_[a-z_]+`).FindAllString(r.Expr, -1) {
				asked = append(asked, name)
				if !slices.Contains(has, name) {
					t.Errorf("%s%s: the library has no %s", r.Record, r.Alert, name)
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
