package race_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/contest/race/racetest"
)

var update = flag.Bool("update", false, "write docs/evidence/verdict-simulations.md from this run; needs PROCFIT_FULL=1")

var races = flag.Int("races", 60, "with -update: how many of each curve; fewer where there are many noises")

const page = "../../../../docs/evidence/verdict-simulations.md"

// TestVerdictPage holds the page's words to those here; its figures come from a full
// run.
func TestVerdictPage(t *testing.T) {
	if os.Getenv("PROCFIT_FULL") != "1" {
		if *update {
			t.Fatal("-update needs every race: set PROCFIT_FULL=1")
		}
		old, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(old), introduction) || !strings.HasSuffix(string(old), ending) {
			t.Error("docs/evidence/verdict-simulations.md has other words: run with PROCFIT_FULL=1 and -update")
		}
		return
	}
	var d document
	d.WriteString(introduction)
	fmt.Fprintf(&d, "Simulated on %s.\n\n", time.Now().Format(time.DateOnly))
	d.goals(t)
	d.curves()
	d.noises(t)
	d.equal(t)
	d.margins()
	d.WriteString(ending)
	if *update {
		if err := os.WriteFile(page, []byte(d.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// document is the page as it is written.
type document struct {
	strings.Builder
	scale int
	base  map[int]map[string]racetest.Tally // until proven, by values and curve
}

func (d *document) heading(title, text string, columns ...string) {
	fmt.Fprintf(d, "## %s\n\n%s\n\n| %s |\n|%s\n", title, text, strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
}

func (d *document) row(cells ...any) {
	for _, c := range cells {
		fmt.Fprintf(d, "| %v ", c)
	}
	d.WriteString("|\n")
}

func percent(n, of int) string { return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(max(1, of))) }

var ended = []string{"races", "trials, mean / 95th percentile", "wrong (throughput; p99)", "Ps too many", "smallest good value", "cannot tell", "proven (of these wrong)"}

func cellsOf(x racetest.Tally) []any {
	n := x.Runs()
	return []any{n, fmt.Sprintf("%.1f / %d", x.MeanTrials(), x.MostTrials()),
		fmt.Sprintf("%s (%d; %d)", percent(x.Wrong, n), x.Slow, x.Late), fmt.Sprintf("%+.2f", x.MeanExcess()),
		percent(x.Exact, n), percent(x.Cannot, n), fmt.Sprintf("%s (%d)", percent(x.Proven, n), x.ProvenWrong)}
}

// families runs every curve.
func families(k int, goal race.Goal, n racetest.Noise, runs int) (all racetest.Tally, each map[string]racetest.Tally) {
	each = map[string]racetest.Tally{}
	for _, name := range racetest.Families() {
		each[name] = racetest.Simulate(name, racetest.Rules(k, goal), n, runs)
		all.Add(each[name])
	}
	return all, each
}

func (d *document) goals(t *testing.T) {
	d.heading("How many trials, and how often right", "Eight curves; trials vary by 3% in throughput and 25% in p99, and the machine drifts by 1% a trial. Two pilots are counted in each race, and so are the default's copies. “Wrong” is against every value up to K, whether it was measured or not.",
		append([]string{"K", "until"}, ended...)...)
	d.base = map[int]map[string]racetest.Tally{}
	for _, k := range []int{5, 16, 64} {
		var all racetest.Tally
		all, d.base[k] = families(k, race.Proven, racetest.Noises()[0], *races)
		d.row(append([]any{k, "proven"}, cellsOf(all)...)...)
		// 1%, and what chance makes of it: two standard errors.
		most := 0.01*float64(all.Runs()) + 2*math.Sqrt(0.01*float64(all.Runs()))
		if float64(all.Wrong) > most || 10*all.Proven < 7*all.Runs() {
			t.Errorf("K=%d: %d of %d wrong, %d proven", k, all.Wrong, all.Runs(), all.Proven)
		}
		all, _ = families(k, race.Likely, racetest.Noises()[0], *races/2)
		d.row(append([]any{k, "likely"}, cellsOf(all)...)...)
	}
	d.WriteString("\n")
}

func (d *document) curves() {
	d.heading("Curve by curve, until proven", "The same races as above.", append([]string{"K", "curve"}, ended...)...)
	for _, k := range []int{5, 16, 64} {
		for _, name := range racetest.Families() {
			d.row(append([]any{k, name}, cellsOf(d.base[k][name])...)...)
		}
	}
	d.WriteString("\n")
}

func (d *document) noises(t *testing.T) {
	d.heading("Under other noise, until proven", "An interval is that of the named value against each other value, where both have three trials or more; its truth is known. The mean width is high over low, less one.",
		append(append([]string{"K", "noise"}, ended...), "95% intervals that hold: throughput, p99", "mean width")...)
	for _, k := range []int{5, 16} {
		for _, noise := range racetest.Noises() {
			all, _ := families(k, race.Proven, noise, *races)
			cells := append([]any{k, noise.Name}, cellsOf(all)...)
			cells = append(cells, fmt.Sprintf("%.1f%%, %.1f%%", 100*all.Throughput.Share(), 100*all.P99.Share()),
				fmt.Sprintf("%.1f%%, %.1f%%", 100*all.Throughput.Mean(), 100*all.P99.Mean()))
			d.row(cells...)
			if min(all.Throughput.Share(), all.P99.Share()) < 0.93 {
				t.Errorf("K=%d: intervals hold %.3f and %.3f", k, all.Throughput.Share(), all.P99.Share())
			}
		}
	}
	d.WriteString("\n")
}

func (d *document) equal(t *testing.T) {
	d.heading("All values equal", "K = 5, until proven. A claim is any value called slower than the peak, or later than the best p99, beyond the margin.",
		"noise", "races", "trials, mean / 95th percentile", "a difference claimed", "cannot tell", "the smallest named", "proven")
	total := racetest.Tally{}
	for _, noise := range racetest.Noises() {
		x := racetest.Simulate("flat", racetest.Rules(5, race.Proven), noise, 2**races)
		total.Add(x)
		d.row(noise.Name, x.Runs(), fmt.Sprintf("%.1f / %d", x.MeanTrials(), x.MostTrials()), percent(x.Claims, x.Runs()),
			percent(x.Cannot, x.Runs()), percent(x.Exact, x.Runs()), percent(x.Proven, x.Runs()))
	}
	d.WriteString("\n")
	if 50*total.Claims > total.Runs() {
		t.Errorf("%d of %d races over equal values claim a difference", total.Claims, total.Runs())
	}
}

func (d *document) margins() {
	d.heading("Just beyond a margin", "K = 16, until proven: curves made to deceive. p99-1.3 and p99-1.26-step miss a margin of 20% by 5 to 8%, edge-6% and two-loss one of 5% by 1 to 2%.",
		append([]string{"curve"}, ended...)...)
	for _, name := range racetest.Margins() {
		d.row(append([]any{name}, cellsOf(racetest.Simulate(name, racetest.Rules(16, race.Proven), racetest.Noises()[0], *races/2))...)...)
	}
	d.WriteString("\n")
}

const introduction = `# How a verdict is reached

A sweep does not measure every value alike. It measures what decides, and stops when that is proven, when it cannot be proven with the trials left, or when these are used up. Here is how, and how often that is right.

**What is good.** A value is good when its throughput is at most 5% below the best (` + "`--margin`" + `), and its p99 at most 20% longer than the best among those (` + "`--margin-p99`" + `). The verdict is the smallest good value.

**The first block** measures all of a few values, else the powers of two, the default and the largest. What has less than 45% of the best throughput is not measured again, nor what is proven worse by more than the margin.

**Each further block** has three values: the one whose proof costs the fewest trials, a smaller one being worth more of them; a value not yet measured that may still be good; and the rivals of which most is missing. Throughput grows at most in proportion to Ps, so that below some value none can be good: that is how it finds a knee at 11 without having measured 3, 5, 6, 7, 9 and 10. Where a value is proven, nothing is proven worse and the default is open, the two are measured on while the trials left may tell.

**Proven** means that against each value that may be as good the throughput is shown to be no worse by the margin, and the p99 too, at 95% each, on the values' own trials. **Likely** means that a model which pools neighbours gives it a chance of at least 97% by throughput and 90% by p99; it is said as that and passes no gate.

**Noise** is taken from all trials: how far each is from its value and its block. The default runs now without GOMAXPROCS and now with its number, which is the same setting; if these two are proven to differ, no value is named. Slow changes of the machine are taken out by blocks, and how large they are is learned from the trials.

**Intervals** are drawn for what was chosen against each other value. What looks best among several that are alike is partly lucky, so the error of 5% is shared among those that it cannot be told apart from (the false coverage rate of Benjamini and Yekutieli, 2005), and a quarter is left to stopping when it suits. A machine that is noisier than expected is believed at once, one that is quieter only as trials come.

**A gate** compares pairs of the old and the new program, and may look after each: its intervals hold at every look together. In 2,000 gates of a program against itself at 3% and 25% none failed; a loss of 10% was found in all, after 12 pairs on average.

**Not covered.** A peak so narrow that it lies between measured values and shows in none of them is missed. A proof is looked at after each block, which adds to its error where a value is at the very margin: the last table counts it.

`

const ending = `## To repeat it

    go test ./internal/verdict/contest/race            # a few races of every curve
    PROCFIT_FULL=1 go test ./internal/verdict/contest/race -run VerdictPage -timeout 60m -update      # many; -races 500 for more; writes this page

Seeds are fixed: the same commit gives the same figures. The model's constants were chosen on others. The noises are: t3, Student's with three degrees of freedom; outliers, 5% of trials at 0.6 of the throughput and 2.5 of the p99; hetero, values that vary up to e times as much or as little; drift, 3% a trial; bursts, p99 in waves of 20%; p10 and p60, a p99 that varies by 10 and 60%; t10, a throughput that does by 10%; bimodal, three trials in ten at 0.88 and 1.6.
`
