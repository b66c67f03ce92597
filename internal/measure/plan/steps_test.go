package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
)

func TestParseSteps(t *testing.T) {
	steps, err := plan.ParseSteps("0s:2 30s:500m,1m15s:8")
	want := []plan.Limited{{0, 30 * time.Second, 2}, {30 * time.Second, 45 * time.Second, 0.5}, {75 * time.Second, 45 * time.Second, 8}}
	if err != nil || len(steps) != len(want) {
		t.Fatalf("%v, %v", steps, err)
	}
	for i, s := range steps {
		if s != want[i] {
			t.Errorf("step %d: %+v, want %+v", i, s, want[i])
		}
	}
	for text, want := range map[string]string{
		"":              `"": expected two steps or more`,
		"0s:2":          "expected two steps or more",
		"2 30s:8":       `"2": expected TIME:CPUS`,
		"5s:2 30s:8":    `"5s:2": expected the first step at 0s`,
		"0:2 30:8":      `"30:8": expected a time such as 30s`,
		"0s:2 -3s:8":    "expected a time such as 30s",
		"0s:2 30s:none": "expected a CPU limit of at least 0.01",
		"0s:2 30s:0":    "expected a CPU limit",
		"0s:2 30s:":     "expected a CPU limit",
		"0s:2 2s:8":     "expected a step at least 3 s after the one before it",
		"0s:2 9s:2":     "expected another CPU limit",
		"0s:2 30s:1n":   "expected a CPU limit",
	} {
		if _, err := plan.ParseSteps(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := plan.ParseSteps("x"); err == nil || !strings.HasSuffix(err.Error(), "for example '0s:2 30s:8 60s:2'") {
		t.Errorf("the error shows no form: %v", err)
	}
}

// Steps that are read follow one another, each long enough and with a limit that the
// kernel knows.
func FuzzParseSteps(f *testing.F) {
	for _, text := range []string{"0s:2 30s:8 60s:2", "0s:500m,5s:1", "0s:2 30s:", ":", "0s:1e9 9s:2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		steps, err := plan.ParseSteps(text)
		if err != nil {
			return
		}
		if len(steps) < 2 || steps[0].At != 0 {
			t.Fatalf("%q: %+v", text, steps)
		}
		for i, s := range steps {
			if s.For < plan.LeastStep || s.CPUs < 0.01 {
				t.Errorf("%q: step %d: %+v", text, i, s)
			}
			if i > 0 && (s.At != steps[i-1].At+steps[i-1].For || s.CPUs == steps[i-1].CPUs) {
				t.Errorf("%q: step %d: %+v after %+v", text, i, s, steps[i-1])
			}
		}
	})
}
