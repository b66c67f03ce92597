package files

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// putRight are the sentences of the last release that are said otherwise now, and
// why.
var putRight = map[string]string{
	// The machine of these journals was busy with other programs.
	"io-bound": "unknown", "mixed": "unknown",
}

// judgedAnew is where the last release's statistics stand, which other ones have
// replaced: what is concluded, not what was measured. The keys and their types stay.
var judgedAnew = regexp.MustCompile(`\.(peak|recommendation|gate|warnings|noninferior|throughput_versus_peak|flatness|detectable_effect|throttling|beyond_cpus)\b`)

// The files under testdata/v1 are what the last release made of its journals. What
// reads its result.json must be able to read today's: every key is there, with the
// same type and, but for what is named above, the same value.
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
		files, err := render(verdict.Analyze(c.Header, c.Trials))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(files, func(f folder.File) bool { return f.Name == "result.json" })
		var then, now any
		old, err := os.ReadFile(filepath.Join("testdata", "v1", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(old, &then); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(files[i].Content, &now); err != nil {
			t.Fatal(err)
		}
		for _, problem := range lost(name, then, now) {
			t.Error(problem)
		}
	}
}

// lost is what of a JSON value another does not have.
func lost(at string, then, now any) []string {
	anew := judgedAnew.MatchString(at)
	switch old := then.(type) {
	case map[string]any:
		fields, ok := now.(map[string]any)
		if !ok && !(anew && now == nil) {
			return []string{fmt.Sprintf("%s is %T, was an object", at, now)}
		}
		var problems []string
		for key, x := range old {
			y, ok := fields[key]
			if !ok && !(anew && (now == nil || optional[key])) {
				problems = append(problems, at+"."+key+" is gone")
				continue
			}
			problems = append(problems, lost(at+"."+key, x, y)...)
		}
		return problems
	case []any:
		items, ok := now.([]any)
		if !ok && !(anew && now == nil) || len(items) < len(old) && !anew {
			return []string{fmt.Sprintf("%s is %v, was %v", at, now, then)}
		}
		var problems []string
		for i := range min(len(old), len(items)) {
			problems = append(problems, lost(fmt.Sprintf("%s[%d]", at, i), old[i], items[i])...)
		}
		return problems
	case string:
		text, ok := now.(string)
		if !ok && !(anew && now == nil) || !anew && text != old && putRight[old] != text {
			return []string{fmt.Sprintf("%s is\n\t%q, was\n\t%q", at, now, old)}
		}
	case nil:
		if !anew && now != nil {
			return []string{fmt.Sprintf("%s is %v, was null", at, now)}
		}
	default:
		if anew && now != nil && fmt.Sprintf("%T", now) != fmt.Sprintf("%T", then) || !anew && now != then {
			return []string{fmt.Sprintf("%s is %v, was %v", at, now, then)}
		}
	}
	return nil
}

// optional are keys that stand only where they say something.
var optional = map[string]bool{"arm": true, "cause": true, "settle": true, "unjudged": true, "group": true, "best_p99": true, "best_throughput": true}
