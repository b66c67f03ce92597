package pods

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// What was promised and what ran stand side by side, and are compared.
func TestWords(t *testing.T) {
	seen := func(procs int, environment string) kube.Observed {
		return kube.Observed{Reading: trial.Reading{Procs: procs, GoVersion: "go1.26.8"}, Pod: journal.Pod{Node: "n1"}, Environment: environment}
	}
	first := stance{text: []byte("a\n"), promised: Checked{Text: "as many as its machine has CPUs", Source: "chosen by the runtime of go1.24", Findings: []string{"PF001", "PF006"}}, seen: seen(2, "")}
	then := stance{text: []byte("a\nb\n"), promised: Checked{Procs: new(2), Text: "2", Source: "env, limits.cpu of 2"}, seen: seen(2, "2 (limits.cpu)")}
	got := (&Lab{}).words(first, then)
	for _, want := range []string{
		"check, for Go 1.24: GOMAXPROCS as many as its machine has CPUs, chosen by the runtime of go1.24 (PF001 and PF006)",
		"kubectl describe:  Environment:  <none>",
		"ran with:  GOMAXPROCS 2 on node n1, read from its memory, with go1.26.8: this runtime reads the CPU limit",
		"\n    +b\n",
		"GOMAXPROCS:  2 (limits.cpu)",
		"with go1.26.8, as promised",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if got := (&Lab{given: true}).words(first, first); !strings.Contains(got, "before.yaml: the given manifest") || !strings.Contains(got, "no change") {
		t.Errorf("of a manifest that needs no fix:\n%s", got)
	}
	then.seen = seen(4, "2 (limits.cpu)")
	if got := (&Lab{}).words(first, then); !strings.Contains(got, "GOMAXPROCS 4 on node n1, read from its memory, with go1.26.8, not as promised") {
		t.Errorf("another value:\n%s", got)
	}
}
