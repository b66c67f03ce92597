package files

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/stat"
)

// putRight are the sentences of the last release that are said otherwise now, and
// why.
var putRight = map[string]string{
	// One advice for a group, that of the peak: it stands with the warning that it fits.
	"lower GOMAXPROCS to 1 before raising the quota": "",
	// The machine of these journals was busy with other programs.
	"io-bound": "unknown", "mixed": "unknown",
}

// The files under testdata/v1 are what the last release made of its journals. What
// reads its result.json must be able to read today's: every key is there, with the
// same type and, but for the sentences named above, the same value.
func TestResultsOfTheLastRelease(t *testing.T) {
	journals, err := filepath.Glob("../../journal/testdata/v1/*.jsonl")
	if err != nil || len(journals) == 0 {
		t.Fatal("no journals", err)
	}
	for _, path := range journals {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		c, err := journal.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files, err := render(stat.Analyze(c.Header, c.Trials))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(files, func(f file) bool { return f.name == "result.json" })
		var then, now any
		old, err := os.ReadFile(filepath.Join("testdata", "v1", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(old, &then); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(files[i].content, &now); err != nil {
			t.Fatal(err)
		}
		for _, problem := range lost(name, then, now) {
			t.Error(problem)
		}
	}
}

// lost is what of a JSON value another does not have.
func lost(at string, then, now any) []string {
	switch old := then.(type) {
	case map[string]any:
		fields, ok := now.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s is %T, was an object", at, now)}
		}
		var problems []string
		for key, x := range old {
			y, ok := fields[key]
			if !ok {
				problems = append(problems, at+"."+key+" is gone")
				continue
			}
			problems = append(problems, lost(at+"."+key, x, y)...)
		}
		return problems
	case []any:
		items, ok := now.([]any)
		if !ok || len(items) < len(old) {
			return []string{fmt.Sprintf("%s is %v, was %v", at, now, then)}
		}
		var problems []string
		for i := range old {
			problems = append(problems, lost(fmt.Sprintf("%s[%d]", at, i), old[i], items[i])...)
		}
		return problems
	case string:
		text, ok := now.(string)
		if !ok || text != old && putRight[old] != text {
			return []string{fmt.Sprintf("%s is\n\t%q, was\n\t%q", at, now, old)}
		}
	default:
		if now != then {
			return []string{fmt.Sprintf("%s is %v, was %v", at, now, then)}
		}
	}
	return nil
}
