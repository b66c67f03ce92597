package journal

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The files under testdata/v1 were written by the release before v2; only the
// machine's name, kernel and folders were changed, and histograms taken out.
func v1(t *testing.T, name string) (*Contents, []byte) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "v1", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Read(bytes.NewReader(raw), name)
	if err != nil {
		t.Fatal(err)
	}
	return c, raw
}

func TestReadV1(t *testing.T) {
	for name, trials := range map[string]int{"server": 17, "batch": 12, "quota": 11, "gate": 23, "interrupted": 8} {
		c, _ := v1(t, name)
		h := c.Header
		if h.Schema != SchemaV1 || h.TargetHost.Hostname != "host" || h.TargetHost.CPUs != 2 || c.Torn != 0 {
			t.Errorf("%s: header %+v", name, h)
		}
		if (h.LoadHost != nil) != (name != "batch") {
			t.Errorf("%s: load host %v", name, h.LoadHost)
		}
		if len(c.Trials) != trials {
			t.Errorf("%s: %d trials, want %d", name, len(c.Trials), trials)
		}
		for i, trial := range c.Trials {
			if trial.Valid && (trial.CPUSeconds == nil || trial.HostUse == nil || trial.MeasuredSeconds <= 0) {
				t.Errorf("%s: trial %d lost its counters: %+v", name, i, trial.Usage)
			}
			for _, w := range trial.Warnings {
				if w.Code != WarnLegacy || w.Detail == "" {
					t.Errorf("%s: trial %d: warning %+v, want a sentence", name, i, w)
				}
			}
		}
	}
}

// What a v1 says of a trial must all be kept: written again, no field is missing.
func TestV1LosesNothing(t *testing.T) {
	for _, name := range []string{"server", "batch", "quota", "gate"} {
		c, raw := v1(t, name)
		lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))[1:]
		for i, line := range lines {
			v, err := asTrialV1(c.Trials[i])
			if err != nil {
				t.Fatal(err)
			}
			v.Warnings = nil
			for _, w := range c.Trials[i].Warnings {
				v.Warnings = append(v.Warnings, w.Detail)
			}
			again, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			var then, now map[string]any
			if err := json.Unmarshal(line, &then); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(again, &now); err != nil {
				t.Fatal(err)
			}
			if lost := missing(then, now, ""); lost != "" {
				t.Errorf("%s: trial %d: %s is lost", name, i, lost)
			}
		}
	}
}

// missing names a key of then that now lacks or has another value for.
func missing(then, now map[string]any, at string) string {
	for k, v := range then {
		switch was := v.(type) {
		case map[string]any:
			is, _ := now[k].(map[string]any)
			if lost := missing(was, is, at+k+"."); lost != "" {
				return lost
			}
		case []any:
			is, _ := now[k].([]any)
			if len(is) != len(was) {
				return at + k
			}
		default:
			if now[k] != v {
				return at + k
			}
		}
	}
	return ""
}

func TestTimeoutOfV1(t *testing.T) {
	in := `{"schema":"procfit.journal/v1","kind":"header"}
{"kind":"trial","valid":false,"invalid_reason":"did not end within 2s"}
{"kind":"trial","valid":false,"invalid_reason":"the target ran at GOMAXPROCS=2, not at 1"}
`
	c, err := Read(strings.NewReader(in), "j")
	if err != nil {
		t.Fatal(err)
	}
	if a, b := c.Trials[0].InvalidCode, c.Trials[1].InvalidCode; a != InvalidTimeout || b != "" {
		t.Errorf("codes %q and %q", a, b)
	}
}

// A v1 is gone on with as a v1, and what is added keeps its codes.
func TestResumeV1(t *testing.T) {
	dir := results(t)
	_, raw := v1(t, "interrupted")
	path := filepath.Join(dir.Path(), Name)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	c := w.Contents()
	added := trial(1)
	added.InvalidCode = InvalidErrors
	if err := w.Append(added); err != nil {
		t.Fatal(err)
	}
	w.Close()
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(after, raw) {
		t.Error("what was there is changed")
	}
	if last := after[len(raw):]; !bytes.Contains(last, []byte(`"warnings":["{\"code\"`)) {
		t.Errorf("a v1's warnings are strings; this one has %s", last)
	}
	again, err := ReadDirectory(dir.Path())
	if err != nil || len(again.Trials) != len(c.Trials)+1 {
		t.Fatalf("%d trials, %v", len(again.Trials), err)
	}
	last := again.Trials[len(c.Trials)]
	if len(last.Warnings) != 1 || last.Warnings[0].Code != WarnKilled || *last.Warnings[0].Value != 5 || last.InvalidCode != InvalidErrors {
		t.Errorf("the added trial is read as %+v", last)
	}
}
