package page

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict"
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
	if md := string(markdown.Render(Report(r))); !strings.Contains(md, "| 8 (not compared) | ") || strings.Contains(md, "| 2 (not compared) | ") {
		t.Errorf("%s", md)
	}
	page, err := html.Render(Report(r))
	if err != nil || bytes.Count(page, []byte(`class="point uncompared"`)) < 2 || !bytes.Contains(page, []byte("A pale setting is not compared")) {
		t.Errorf("%v: 8 is not pale", err)
	}
}

// A trial without a value, or with one beyond the axis, is not drawn as one at its end.
func TestTrialsOffTheChart(t *testing.T) {
	a := verdict.Row{Points: []verdict.Point{
		{Valid: true, Throughput: new(10.0)}, {Throughput: new(12.0)}, {Throughput: new(900.0)}, {Throughput: new(0.0)}, {}, {Throughput: new(math.Inf(1))}}}
	mark := newMark(document.NewAxis(8, 16, true), number.PerSecond("req/s"), measureThroughput, &a)
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
		if got := (words{Group: &verdict.Group{Others: o}}).others(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestBurstsInWords(t *testing.T) {
	g := &verdict.Group{Others: verdict.OtherPrograms{Bursts: 13, BurstMost: 0.8, Trials: 37}}
	const text = "other programs took up to 80% of the CPU time in 13 of 37 trials, and hardly any in the others"
	if got := (words{Group: g}).bursts(); got != text {
		t.Errorf("%q, want %q", got, text)
	}
	for left, want := range map[int]string{4: text + ": 4 of those trials are not used", 13: text + ": those trials are not used"} {
		g.Others.LeftOut = left
		if got := (words{Group: g}).bursts(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	g.Others.LeftOut, g.Recommendation.Verdict = 0, verdict.Undecided
	if got := (words{Group: g}).bursts(); got != text+"; start again with another --out when no other programs run" {
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
		if got := (words{}).say(stolen); got.fix != unshared {
			t.Errorf("%s: %q", stolen.Code(), got.fix)
		}
		if (words{}).say(not).fix == unshared {
			t.Errorf("%s: the machine is blamed for what it has not done", not.Code())
		}
	}
}
