package page_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/procfit/procfit/internal/cli/schematest"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/test/must"
)

// Whatever was measured, result.json is as its schema says.
func TestResultsAreAsTheSchemaSays(t *testing.T) {
	known := must.Get(schematest.Load())(t)
	results := map[string]*verdict.Result{
		"typical": pagetest.Typical(), "groups": pagetest.Groups(), "invalid": pagetest.Invalid(), "benchmarks": pagetest.Benchmarks(),
		"flat": pagetest.Flat(), "sliced": pagetest.Sliced(1), "slices differ": pagetest.Sliced(0.6), "varied": pagetest.Varied(1000), "canary": pagetest.Canary(), "live": live.Analyze(pagetest.LiveContents()), "profiles": withProfiles(),
	}
	for seed := range uint64(100) {
		results[fmt.Sprint("random ", seed)] = randomResult(rand.New(rand.NewPCG(seed, 5)))
	}
	for name, r := range results {
		b, err := page.JSON(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var document any
		if err := json.Unmarshal(b, &document); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := known.Validate(verdict.ResultSchema, document); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the Result has as codes is in result.json in words, next to all else.
func TestJSONHasTheWords(t *testing.T) {
	b := must.Get(page.JSON(pagetest.Groups()))(t)
	var got struct {
		Groups []struct {
			Recommendation struct {
				Verdict, Sentence, Cause string
				Reasons, Next            []string
			}
		}
		Gate struct {
			Checks []struct{ Setting, Metric, Note, Outcome string }
		}
		Warnings []struct{ Code, Message string }
	}
	must.OK(t, json.Unmarshal(b, &got))
	r := got.Groups[2].Recommendation
	if r.Verdict != "undecided" || r.Cause != "default_differs" || r.Sentence != "Undecided: change nothing yet. The default is 2, yet it performs differently from GOMAXPROCS=2." || len(r.Reasons) < 3 || len(r.Next) != 1 {
		t.Errorf("%+v", r)
	}
	if c := got.Gate.Checks[0]; c.Setting != "GOMAXPROCS=2, limit 2 CPUs, Go 1.24.6" || c.Metric != "throughput" || c.Outcome != "worse" || c.Note == "" {
		t.Errorf("%+v", c)
	}
	for _, w := range got.Warnings {
		if w.Message == "" || w.Message == w.Code {
			t.Errorf("no words for %q", w.Code)
		}
	}
}
