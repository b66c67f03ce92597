package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/test/must"
)

var updateExamples = flag.Bool("update-examples", false, "write what check says into the examples of the rules")

// TestRuleExamples runs check on the example of every rule that judges files and no Subject, and
// holds what it says of the rule against the example's output.
func TestRuleExamples(t *testing.T) {
	for _, r := range rule.All() {
		if r.By == "" || r.By == "cluster" {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			name := must.Get(filepath.Abs("../program/rule/testdata/examples/" + r.ID + ".txtar"))(t)
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatalf("a rule without an example: %v", err)
			}
			dir := t.TempDir()
			var want *txtar.File
			for i, f := range a.Files {
				if f.Name == "output" {
					want = &a.Files[i]
					continue
				}
				file := filepath.Join(dir, filepath.FromSlash(f.Name))
				must.Write(t, file, string(f.Data))
			}
			if want == nil {
				t.Fatalf("%s has no section output", name)
			}
			t.Chdir(dir)
			got := checked(t, r.ID)
			if *updateExamples {
				want.Data = []byte(got)
				must.OK(t, os.WriteFile(name, txtar.Format(a), 0o644))
			}
			if got == "" || got != string(want.Data) {
				t.Errorf("check says %q, the example has %q: run go test ./internal/cli -run TestRuleExamples -update-examples", got, want.Data)
			}
		})
	}
}

// checked is what check says of a rule in the folder here, and the fix.
func checked(t *testing.T, id string) string {
	t.Helper()
	var out bytes.Buffer
	o := checkOptions{out: printed("text"), severity: rule.Info, strict: id == "PF046"}
	var code *exitError
	if err := o.run(context.Background(), stdio{in: strings.NewReader(""), out: &out, err: &out}); err != nil && !errors.As(err, &code) {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(out.String(), "\n")
	for i, line := range lines {
		if strings.Contains(line, ": "+id+" ") {
			for _, next := range lines[i+1:] {
				if strings.HasPrefix(next, "    → ") {
					return line + next
				}
			}
		}
	}
	return ""
}
