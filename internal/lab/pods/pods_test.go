package pods

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// The document's fix is what check makes of the manifest before it: five lines, with the
// divisor.
func TestFix(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.yaml")
	if err := os.WriteFile(file, Manifest("procfit:v1"), 0o600); err != nil {
		t.Fatal(err)
	}
	was, err := checked(t.Context(), file, false)
	if err != nil || len(was.Values) != 1 || was.Values[0].Procs != nil || len(was.Findings) == 0 {
		t.Fatalf("%v: %+v", err, was)
	}
	is, err := checked(t.Context(), file, true)
	if err != nil || len(is.Values) != 1 || is.Values[0].Procs == nil || *is.Values[0].Procs != 2 || len(is.Findings) != 0 || len(is.Fixed) != 1 {
		t.Fatalf("%v: %+v", err, is)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	document := "env: - name: GOMAXPROCS valueFrom: resourceFieldRef: resource: limits.cpu divisor: \"1\""
	if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), document) || !bytes.Contains(text, []byte("image: procfit:v1")) {
		t.Errorf("after the fix it is\n%s", text)
	}
}

// What was promised and what ran stand side by side, and are compared.
func TestWords(t *testing.T) {
	seen := func(procs int, environment string) kube.Seen {
		return kube.Seen{Reading: trial.Reading{Procs: procs, GoVersion: "go1.26.8"}, Pod: journal.Pod{Node: "n1"}, Environment: environment}
	}
	first := stance{text: []byte("a\n"), promised: check.Value{Text: "as many as its machine has CPUs", Source: "chosen by the runtime of go1.24"}, findings: []string{"PF001", "PF006"}, seen: seen(2, "")}
	then := stance{text: []byte("a\nb\n"), promised: check.Value{Procs: new(2), Text: "2", Source: "env, limits.cpu of 2"}, seen: seen(2, "2 (limits.cpu)")}
	got := (&Lab{}).words(first, then)
	for _, want := range []string{
		"check, of Go 1.24: GOMAXPROCS as many as its machine has CPUs, chosen by the runtime of go1.24 (PF001 and PF006)",
		"kubectl describe:  Environment:  <none>",
		"ran with:  GOMAXPROCS 2 on node n1, read from its memory, with go1.26.8: a runtime that reads the limit",
		"\n    +b\n",
		"GOMAXPROCS:  2 (limits.cpu)",
		"with go1.26.8, as promised",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if got := (&Lab{given: true}).words(first, first); !strings.Contains(got, "before.yaml: the manifest as it was given") || !strings.Contains(got, "nothing is changed") {
		t.Errorf("of a manifest that needs no fix:\n%s", got)
	}
	then.seen = seen(4, "2 (limits.cpu)")
	if got := (&Lab{}).words(first, then); !strings.Contains(got, "GOMAXPROCS 4 on node n1, read from its memory, with go1.26.8, and not as promised") {
		t.Errorf("another value:\n%s", got)
	}
}
