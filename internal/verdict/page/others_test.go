package page_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// A setting that other programs left too few CPUs is no level to compare with, wherever its
// numbers are.
func TestStarvedIsMarked(t *testing.T) {
	h, trials := verdicttest.Generate(verdicttest.Config{CPUs: 8, OtherCPUs: 4, Rate: 100, Blocks: 6, Settings: []verdicttest.Truth{
		verdicttest.Unset(4, 1000, .01), verdicttest.Set(1, 300, .03), verdicttest.Set(2, 600, .02), verdicttest.Set(4, 1000, .01), verdicttest.Set(8, 1000, .01)}})
	r := verdict.Analyze(h, trials)
	terminal := onTerminal(t, r, text.Options{Width: 80})
	shown := 0
	for line := range strings.Lines(terminal) {
		if strings.Contains(line, "│") && strings.HasPrefix(strings.TrimSpace(line), "8 ") {
			if shown++; !strings.Contains(line, "×") || strings.Contains(line, "●") {
				t.Errorf("8 is starved, and is drawn as %s", line)
			}
		}
	}
	if shown != 1 {
		t.Errorf("%d lines of 8 in the charts\n%s", shown, terminal)
	}
	if md := string(markdown.Render(page.Report(r))); !strings.Contains(md, "| 8 | not compared (other programs left it too few CPUs) | ") || strings.Count(md, "| not compared (") != 1 {
		t.Errorf("%s", md)
	}
	b, err := html.Render(page.Report(r))
	if err != nil || bytes.Count(b, []byte(`class="point uncompared"`)) < 2 || !bytes.Contains(b, []byte("A pale setting is not compared")) {
		t.Errorf("%v: 8 is not pale", err)
	}
}

// A trial without a value, or with one beyond the axis, is not drawn as one at its end.
func TestTrialsOffTheChart(t *testing.T) {
	r := pagetest.Typical()
	r.Groups[0].Rows[1].Points = nil
	for i, p99 := range []*float64{new(0.02), new(0.025), new(900.0), new(0.0), nil, new(math.Inf(1))} {
		r.Groups[0].Rows[1].Points = append(r.Groups[0].Rows[1].Points, verdict.Point{Trial: &journal.Trial{Valid: i == 0}, P99: p99})
	}
	series := sections(r)[0].Latency.Series
	mark := series[len(series)-1].Marks[1]
	for i, want := range []bool{false, false, true, true, true, true} {
		if mark.Dots[i].Off != want {
			t.Errorf("trial %d: %+v", i, mark.Dots[i])
		}
	}
}

// What ran next to some trials alone is reported by those, and not by a median of all.
func TestOthersInWords(t *testing.T) {
	for want, o := range map[string]verdict.OtherPrograms{
		"other programs used 0.5 of 2 CPUs":                           {CPUs: new(0.5), Of: 2, MostCPUs: new(0.6), MostSetting: "4"},
		"other programs used up to 1.2 of 2 CPUs, in the trials of 4": {CPUs: new(0.01), Of: 2, MostCPUs: new(1.2), MostSetting: "4"},
		"other programs used CPUs that the target may use":            {},
	} {
		r := pagetest.Typical()
		r.Groups[0].Others = o
		if got := noted(r, verdict.OthersBusy{}).Message; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestBurstsInWords(t *testing.T) {
	r := pagetest.Typical()
	g := &r.Groups[0]
	g.Others = verdict.OtherPrograms{Bursts: 13, BurstMost: 0.8, Trials: 37}
	g.Recommendation.Reasons = []verdict.Remark{verdict.ReasonBursts{}}
	said := func() string { return page.VerdictOf(r).Reasons[0] }
	const text = "other programs took up to 80% of the CPU time in 13 of 37 trials, and hardly any in the others"
	if got := said(); got != text {
		t.Errorf("%q, want %q", got, text)
	}
	for left, want := range map[int]string{4: text + ": 4 of those trials are not used", 13: text + ": those trials are not used"} {
		g.Others.LeftOut = left
		if got := said(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	g.Others.LeftOut, g.Recommendation.Verdict = 0, verdict.Undecided
	if got := said(); got != text+"; start again with another --out when no other programs run" {
		t.Errorf("%q", got)
	}
}

// What a hypervisor made invalid is not mended by reading logs.
func TestRemedyOfStolenTrials(t *testing.T) {
	taken := verdict.Invalid{Count: 3, Of: 37, Reason: "the hypervisor took 72% of the CPU time", Stolen: true}
	failed := taken
	failed.Stolen = false
	for stolen, not := range map[verdict.Remark]verdict.Remark{
		verdict.InvalidTrials{Invalid: taken}: verdict.InvalidTrials{Invalid: failed}, verdict.InvalidPilots{Invalid: taken}: verdict.InvalidPilots{Invalid: failed},
	} {
		const unshared = "use a machine that is not shared"
		if got := noted(pagetest.Typical(), stolen).Fix; !strings.HasPrefix(got, unshared) {
			t.Errorf("%s: %q", stolen.Code(), got)
		}
		if strings.Contains(noted(pagetest.Typical(), not).Fix, unshared) {
			t.Errorf("%s: the machine is blamed for what it has not done", not.Code())
		}
	}
}
