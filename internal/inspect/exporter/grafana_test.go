package exporter

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// TestGrafanaSchema has the dashboards checked by the types that Grafana publishes of
// its schema: names, kinds and the values of enumerations, of the dashboard, of each
// panel, and of what its kind of panel may be told. Fetching them takes the network and
// half a minute, so that it is done only where everything is asked for.
func TestGrafanaSchema(t *testing.T) {
	t.Parallel()
	need.Everything(t, "fetches Grafana's schema")
	npm := need.Command(t, "npm")
	dir := t.TempDir()
	must.OK(t, os.CopyFS(dir, os.DirFS("testdata/grafana")))
	run := func(name string, args ...string) (string, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	check := func(source string) (string, error) {
		must.Write(t, filepath.Join(dir, "dashboard.ts"), source)
		return run(filepath.Join(dir, "node_modules", ".bin", "tsc"), "--noEmit", "--strict", "--skipLibCheck",
			"--module", "node16", "--moduleResolution", "node16", "--lib", "es2022,dom", "dashboard.ts")
	}
	var source string
	for _, file := range []string{libraryBoard, dashboardFile} {
		source = typed(t, must.Read(t, file))
		if out, err := check(source); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
	// A checker that takes everything shows nothing.
	wrong := 0
	for from, to := range map[string]string{
		`"cellHeight":"sm"`: `"cellHeight":"tiny"`, `"gridPos":{`: `"gridPosition":{`, `"drawStyle":"line"`: `"drawStyle":1`,
		`"colorMode":"value"`: `"colourMode":"value"`, `"schemaVersion":41`: `"schemaVersion":"41"`,
	} {
		// The last of them: what a panel's kind is told is typed after the panel itself.
		at := strings.LastIndex(source, from)
		if at < 0 {
			t.Errorf("no %s in the dashboard", from)
			continue
		}
		source = source[:at] + to + source[at+len(from):]
		wrong++
	}
	if out, err := check(source); err == nil || strings.Count(out, "error TS") != wrong {
		t.Errorf("%d things are wrong, and what is said is %s", wrong, out)
	}
}

// typed is the dashboard as a program: each part a constant of the type that it is to
// have.
func typed(t *testing.T, text string) string {
	t.Helper()
	var d map[string]json.RawMessage
	must.OK(t, json.Unmarshal([]byte(text), &d))
	var panels []struct {
		Type        string
		Options     json.RawMessage
		FieldConfig struct {
			Defaults struct{ Custom json.RawMessage }
		}
	}
	var whole []json.RawMessage
	for _, to := range []any{&panels, &whole} {
		must.OK(t, json.Unmarshal(d["panels"], to))
	}
	delete(d, "panels")
	var b strings.Builder
	b.WriteString("import type { Any, Custom, Options, Outside, Row } from \"./schema\";\n")
	constant := func(name, kind string, value any) {
		text := must.Get(json.Marshal(value))(t)
		fmt.Fprintf(&b, "export const %s: %s = %s;\n", name, kind, text)
	}
	constant("dashboard", "Outside", d)
	for i, p := range panels {
		kind := "Any"
		if p.Type == "row" {
			kind = "Row"
		}
		constant(fmt.Sprintf("panel%d", i), kind, whole[i])
		if p.Options != nil {
			constant(fmt.Sprintf("options%d", i), fmt.Sprintf("Options[%q]", p.Type), p.Options)
		}
		if custom := p.FieldConfig.Defaults.Custom; custom != nil {
			constant(fmt.Sprintf("custom%d", i), fmt.Sprintf("Custom[%q]", p.Type), custom)
		}
	}
	return b.String()
}
