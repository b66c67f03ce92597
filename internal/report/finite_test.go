package report

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/procfit/procfit/internal/report/reporttest"
	"github.com/procfit/procfit/internal/stat"
)

func TestJSONTurnsWhatItCannotHoldIntoNull(t *testing.T) {
	r := reporttest.Hostile()
	b, err := JSON(r)
	if err != nil {
		t.Fatal(err)
	}
	if b[len(b)-1] != '\n' {
		t.Error("no newline at the end")
	}
	var back stat.Result
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	g := back.Groups[0]
	if g.USL != nil {
		t.Error("a fit of NaN is not null")
	}
	if g.Arms[1].Throughput.Median != nil || g.Arms[2].P99.Median != nil {
		t.Error("NaN or an infinity is not null")
	}
	if got, want := *g.Arms[0].Throughput.Median, *r.Groups[0].Arms[0].Throughput.Median; got != want {
		t.Errorf("a finite value changed: %g, want %g", got, want)
	}
	if !math.IsNaN(r.Groups[0].USL.Lambda) || !math.IsNaN(*r.Groups[0].Arms[1].Throughput.Median) {
		t.Error("the Result given was changed")
	}
}

func TestJSONOfACleanResultIsItself(t *testing.T) {
	r := reporttest.Groups()
	got, err := JSON(r)
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want)+"\n" {
		t.Error("the copy without NaN differs from the original")
	}
}
