package golangci

import (
	"testing"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"
)

// TestPlugin finds the plugin as golangci-lint does, and holds its settings.
func TestPlugin(t *testing.T) {
	make, err := register.GetPlugin("procfit")
	if err != nil {
		t.Fatal(err)
	}
	count := func(raw any) int {
		p, err := make(raw)
		if err != nil {
			t.Fatal(err)
		}
		all, err := p.BuildAnalyzers()
		if err != nil {
			t.Fatal(err)
		}
		if err := analysis.Validate(all); err != nil {
			t.Error(err)
		}
		if p.GetLoadMode() != register.LoadModeTypesInfo {
			t.Errorf("load mode %q", p.GetLoadMode())
		}
		return len(all)
	}
	warnings, all := count(nil), count(map[string]any{"severity": "info"})
	if warnings == 0 || all <= warnings || count(map[string]any{"severity": "warning"}) != warnings {
		t.Errorf("%d rules that warn, %d with those that inform", warnings, all)
	}
	for _, raw := range []any{map[string]any{"severity": "bad"}, map[string]any{"level": "info"}} {
		if _, err := make(raw); err == nil {
			t.Errorf("settings %v are taken", raw)
		}
	}
}
