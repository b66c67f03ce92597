package page

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/procfit/procfit/internal/cli/schematest"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

// Whatever was measured, result.json is as its schema says.
func TestResultsAreAsTheSchemaSays(t *testing.T) {
	known, err := schematest.Load()
	if err != nil {
		t.Fatal(err)
	}
	results := map[string]*verdict.Result{
		"typical": pagetest.Typical(), "groups": pagetest.Groups(), "invalid": pagetest.Invalid(), "benchmarks": pagetest.Benchmarks(),
		"flat": pagetest.Flat(), "varied": pagetest.Varied(1000), "canary": pagetest.Canary(), "live": live.Analyze(pagetest.LiveContents()), "profiles": withProfiles(50_000),
	}
	for seed := range uint64(100) {
		results[fmt.Sprint("random ", seed)] = randomResult(rand.New(rand.NewPCG(seed, 5)))
	}
	for name, r := range results {
		b, err := JSON(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := known.Check(b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := known.Counts()[verdict.ResultSchema]; n != len(results) {
		t.Errorf("%d of %d documents are valid", n, len(results))
	}
}

// What the Result has as codes is in result.json in words, next to all else.
func TestJSONHasTheWords(t *testing.T) {
	b, err := JSON(pagetest.Groups())
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Groups []struct {
			Recommendation struct {
				Verdict, Sentence, Cause string
				Reasons, Settle          []string
			}
		}
		Gate struct {
			Checks []struct{ Setting, Metric, Note, Outcome string }
		}
		Warnings []struct{ Code, Message string }
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	r := got.Groups[2].Recommendation
	if r.Verdict != "cannot_tell" || r.Cause != "unset_differs" || r.Sentence != "Undecided: with GOMAXPROCS unset the runtime uses 2, yet it performs differently from an explicit GOMAXPROCS=2." || len(r.Reasons) < 3 || len(r.Settle) != 1 {
		t.Errorf("%+v", r)
	}
	if c := got.Gate.Checks[0]; c.Setting != "2, limit 2 CPUs, Go 1.24.6" || c.Metric != "throughput" || c.Outcome != "worse" || c.Note == "" {
		t.Errorf("%+v", c)
	}
	for _, w := range got.Warnings {
		if w.Message == "" || w.Message == w.Code {
			t.Errorf("no words for %q", w.Code)
		}
	}
}
