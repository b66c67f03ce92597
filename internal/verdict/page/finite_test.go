package page

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

func TestJSONTurnsWhatItCannotHoldIntoNull(t *testing.T) {
	r := pagetest.Hostile()
	b, err := JSON(r)
	if err != nil {
		t.Fatal(err)
	}
	if b[len(b)-1] != '\n' {
		t.Error("no newline at the end")
	}
	var back verdict.Result
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	g := back.Groups[0]
	if g.Settings[1].Throughput.Median != nil || g.Settings[2].P99.Median != nil {
		t.Error("NaN or an infinity is not null")
	}
	if got, want := *g.Settings[0].Throughput.Median, *r.Groups[0].Settings[0].Throughput.Median; got != want {
		t.Errorf("a finite value changed: %g, want %g", got, want)
	}
	if !math.IsNaN(*r.Groups[0].Settings[1].Throughput.Median) {
		t.Error("the Result given was changed")
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
