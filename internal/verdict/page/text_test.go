package page_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/test/must"
)

func onTerminal(t testing.TB, r *verdict.Result, o text.Options) string {
	t.Helper()
	return rendered(t, page.Brief(r), o)
}

func rendered(t testing.TB, d *document.Document, o text.Options) string {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, text.Render(&b, d, o))
	return b.String()
}

// TestLatencyJudged: a chart of latency shows the percentile that is judged, and says where none is.
func TestLatencyJudged(t *testing.T) {
	for quantile, want := range map[float64]string{0.99: "LATENCY  ○ p50  ● p99", 0.9: "LATENCY  ○ p50  ● p90", 0.5: "LATENCY, P50", 0: "LATENCY, NOT JUDGED, P50"} {
		r := pagetest.Typical()
		r.Groups[0].Latency.Quantile = quantile
		got := onTerminal(t, r, text.Options{Width: 80})
		if !strings.Contains(got, want) || strings.Contains(got, "● p99") != strings.Contains(want, "● p99") {
			t.Errorf("%g: expected %q in\n%s", quantile, want, got)
		}
	}
}

func TestTextGolden(t *testing.T) {
	files, file, wide := text.Options{Files: []string{"results/x/report.html", "results/x/RESULTS.md"}}, text.Options{Files: []string{"results/api/report.html"}}, text.Options{Width: 100}
	for name, c := range map[string]struct {
		of *verdict.Result
		o  text.Options
	}{
		"typical": {pagetest.Typical(), files}, "groups": {pagetest.Groups(), files}, "gate": {pagetest.Gate(func(*verdict.Gate) {}), files}, "invalid": {pagetest.Invalid(), files},
		"shared": {pagetest.Shared(), files}, "part": {pagetest.Part(), files}, "flat": {pagetest.Flat(), files}, "sliced": {pagetest.Sliced(1), text.Options{}},
		"canary": {pagetest.Canary(), file}, "live": {live.Analyze(pagetest.LiveContents()), file},
		"varied": {pagetest.Varied(200), wide}, "varied-early": {pagetest.Varied(9), wide}, "profiles": {withProfiles(), wide},
	} {
		documenttest.Golden(t, name+".txt", []byte(onTerminal(t, c.of, c.o)))
	}
}

func TestLinesFitTheTerminal(t *testing.T) {
	for name, r := range map[string]*verdict.Result{
		"typical": pagetest.Typical(), "groups": pagetest.Groups(), "varied": pagetest.Varied(200), "gate": pagetest.Gate(func(*verdict.Gate) {}),
		"invalid": pagetest.Invalid(), "benchmarks": pagetest.Benchmarks(), "canary": pagetest.Canary(), "profiles": withProfiles(), "empty": {},
	} {
		for _, width := range []int{36, 40, 47, 48, 80, 100, 120} {
			shown := onTerminal(t, r, text.Options{Width: width})
			if strings.Contains(shown, "\n\n\n") {
				t.Errorf("%s, width %d: two empty lines in a row", name, width)
			}
			for i, line := range strings.Split(shown, "\n") {
				if n := utf8.RuneCountInString(line); n > width && !strings.HasPrefix(line, "  procfit ") {
					t.Errorf("%s, width %d, line %d has %d columns: %s", name, width, i+1, n, line)
				}
			}
		}
	}
}

// What is narrow is laid out otherwise, and still says everything.
func TestNothingIsLeftOutWhereItIsNarrow(t *testing.T) {
	has(t, onTerminal(t, pagetest.Typical(), text.Options{Width: 20}), "6.38k", "2.00×", "822 µs", "4.14 ms", "26.4 ms", "1.9")
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestColourOnlyWhenTold(t *testing.T) {
	trimmed := func(s string) string { return regexp.MustCompile(` +\n`).ReplaceAllString(s, "\n") }
	without := onTerminal(t, pagetest.Typical(), text.Options{Width: 80})
	with := onTerminal(t, pagetest.Typical(), text.Options{Width: 80, Color: true})
	if strings.Contains(without, "\x1b") {
		t.Error("an escape sequence without colour")
	}
	if got := sgr.ReplaceAllString(with, ""); trimmed(got) != trimmed(without) {
		t.Errorf("colour changes the text:\n%s\nwant\n%s", got, without)
	}
	if n := len(sgr.FindAllString(with, -1)); n < 20 {
		t.Errorf("%d escape sequences: colour is missing", n)
	}
}

func TestHostileTextCannotMoveTheCursor(t *testing.T) {
	for _, r := range sgr.ReplaceAllString(onTerminal(t, pagetest.Hostile(), text.Options{Color: true}), "") {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("%U reaches the terminal", r)
		}
	}
}

// A command is copied as one line, however narrow the terminal; it is printed last.
func TestTheCommandThatGoesOnIsWhole(t *testing.T) {
	const command = "procfit sweep --until trials=39 --out results/server-20260105-101500 -- ./server -addr :{port}"
	r := stepped(verdict.Step{Code: verdict.StepGoOn, More: 9, Have: 30}, &verdict.Result{Complete: true, Folder: "results/server-20260105-101500"})
	r.Plan.Strategy, r.Plan.MaxTrials, r.Spec = journal.StrategyRace, 30, specOf("sweep", "--", "./server", "-addr", ":{port}")
	r.Groups[0].Recommendation.Next = append([]verdict.Step{{Code: verdict.StepFix}}, r.Groups[0].Recommendation.Next...)
	if got := onTerminal(t, r, text.Options{Width: 40}); !strings.HasSuffix(got, ":\n"+command+"\n") || !strings.Contains(got, "Next, about 9 more trials") {
		t.Error(got)
	}
	incomplete := document.Alert{Text: "Incomplete: 3 of 9 trials ran. To continue, run: " + command + " 'two  spaces'"}
	if got := rendered(t, &document.Document{Blocks: []document.Block{incomplete}}, text.Options{Width: 40}); !strings.HasPrefix(got, "! Incomplete: 3 of 9 trials ran. To\n  continue, run:\n  "+command+" 'two  spaces'\n") {
		t.Error(got)
	}
}
