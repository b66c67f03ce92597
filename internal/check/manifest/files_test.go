package manifest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/procfit/procfit/internal/check"
)

// TestFiles holds trees of files against what their archive says of them: in its
// comment, a line "want: PF017 warning base/api.yaml" for each finding, and a line
// "says: words" for what values, findings and notes must say.
func TestFiles(t *testing.T) {
	archives, err := filepath.Glob("testdata/trees/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for _, f := range a.Files {
				file := filepath.Join(dir, filepath.FromSlash(f.Name))
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, f.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir)
			var want, got, says []string
			for line := range strings.Lines(string(a.Comment)) {
				if rest, ok := strings.CutPrefix(line, "want: "); ok {
					want = append(want, strings.TrimSpace(rest))
				} else if rest, ok := strings.CutPrefix(line, "says: "); ok {
					says = append(says, strings.TrimSpace(rest))
				}
			}
			r, err := check.Run(context.Background(), check.Options{Paths: []string{"."}, Checkers: []check.Checker{New(Options{Programs: &check.Programs{}})}})
			if err != nil || len(r.Problems) > 0 {
				t.Fatalf("%v, %v", err, r.Problems)
			}
			var said strings.Builder
			for _, v := range r.Values {
				said.WriteString(v.Path + ": " + v.Object + " " + v.Text + ": " + v.Source + "\n")
			}
			for _, n := range r.Notes {
				said.WriteString(n.Path + ": " + n.Message + "\n")
			}
			for _, f := range r.Findings {
				got = append(got, f.Rule+" "+string(f.Severity)+" "+f.Path)
				said.WriteString(f.Message + " → " + f.Fix + "\n")
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("found %q, want %q\n%s", got, want, &said)
			}
			for _, words := range says {
				if !strings.Contains(said.String(), words) {
					t.Errorf("it does not say %q:\n%s", words, &said)
				}
			}
		})
	}
}
