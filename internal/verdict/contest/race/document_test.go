package race_test

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/test/must"
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
		old := must.Get(os.ReadFile(page))(t)
		if !strings.HasPrefix(string(old), introduction) || !strings.HasSuffix(string(old), ending) {
			t.Error("docs/evidence/verdict-simulations.md has other words: run with PROCFIT_FULL=1 and -update")
		}
		return
	}
	var d document
	d.WriteString(introduction)
	fmt.Fprintf(&d, "Simulated on %s.\n\n", time.Now().Format(time.DateOnly))
	d.goals(t)
	d.noises(t)
	d.sliced(t)
	d.equal(t)
	d.margins()
	d.WriteString(ending)
	if *update {
		must.OK(t, os.WriteFile(page, []byte(d.String()), 0o644))
	}
}

// document is the page as it is written.
type document struct{ strings.Builder }

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

var ended = []string{"races", "trials, mean / 95th percentile", "wrong (throughput; p99)", "wrong, of those that name a value", "harmful", "Ps too many", "smallest good value", "undecided", "proven (of these wrong)"}

func cellsOf(x Tally) []any {
	n := x.Runs()
	return []any{n, fmt.Sprintf("%.1f / %d", x.MeanTrials(), x.MostTrials()),
		fmt.Sprintf("%s (%d; %d)", percent(x.Wrong, n), x.Slow, x.Late), percent(x.Wrong, n-x.Cannot), percent(x.Harmful, n), fmt.Sprintf("%+.2f", x.MeanExcess()),
		percent(x.Exact, n), percent(x.Cannot, n), fmt.Sprintf("%s (%d)", percent(x.Proven, n), x.ProvenWrong)}
}

// families runs every curve; worst names the one with the most wrong verdicts.
func families(k int, goal race.Goal, n Noise, runs int) (all Tally, worst string) {
	most := 0
	for _, name := range Families() {
		x := Simulate(name, Rules(k, goal), n, runs)
		if all.Add(x); x.Wrong > most {
			most, worst = x.Wrong, fmt.Sprintf(" K = %d: %s, %d of %d.", k, name, x.Wrong, x.Runs())
		}
	}
	return all, worst
}

func (d *document) goals(t *testing.T) {
	d.heading("How many trials, and how often right", "Twelve curves; trials vary by 3% in throughput and 25% in p99, and the machine drifts by 1% a trial. The first two trials are counted in each race, and so are the default's copies. “Wrong” is against every value up to K, whether it was measured or not.",
		append([]string{"K", "until"}, ended...)...)
	worst := ""
	for _, k := range []int{5, 16, 64} {
		all, one := families(k, race.Proven, Noises()[0], *races)
		worst += one
		d.row(append([]any{k, "proven"}, cellsOf(all)...)...)
		// 1%, and what chance makes of it: two standard errors.
		most := 0.01*float64(all.Runs()) + 2*math.Sqrt(0.01*float64(all.Runs()))
		if float64(all.Wrong) > most || 10*all.Proven < 7*all.Runs() {
			t.Errorf("K=%d: %d of %d wrong, %d proven", k, all.Wrong, all.Runs(), all.Proven)
		}
		all, _ = families(k, race.Likely, Noises()[0], *races/2)
		d.row(append([]any{k, "likely"}, cellsOf(all)...)...)
	}
	fmt.Fprintf(d, "\nThe curve that was wrong most often, until proven:%s\n\n", cmp.Or(worst, " none."))
}

func (d *document) noises(t *testing.T) {
	d.heading("Under other noise, until proven", "An interval is that of the named value against each other value, where both have three trials or more; its truth is known. The mean width is high over low, less one.",
		append(append([]string{"K", "noise"}, ended...), "95% intervals that hold: throughput, p99", "mean width")...)
	for _, k := range []int{5, 16} {
		for _, noise := range Noises() {
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

// sliced sets races after slices of one start against races without, in every cell.
func (d *document) sliced(t *testing.T) {
	d.heading("After slices of one start", "The same races after [slices](../explanation/how-a-verdict-is-reached.md#slices-of-one-start) choose their values. Of a trial's noise, half is added as that of the one start, the same in all slices of a value; a slice has a tenth of the difference to the value before it, and a collection takes a fifth of the throughput of one slice in ten. Back is the share in which slices and trials are proven to differ, so that all values are raced.",
		append(append([]string{"K", "noise"}, ended...), "values kept", "back")...)
	for _, k := range []int{5, 6} {
		for _, noise := range Noises() {
			var alone, after Tally
			for _, name := range Families() {
				alone.Add(Simulate(name, Rules(k, race.Proven), noise, *races))
				after.Add(SimulateSliced(name, Rules(k, race.Proven), noise, *races))
			}
			n := after.Runs()
			d.row(append(append([]any{k, noise.Name}, cellsOf(after)...), fmt.Sprintf("%.1f", float64(after.Kept)/float64(n)), percent(after.Back, n))...)
			for what, of := range map[string]func(Tally) int{
				"wrong": func(x Tally) int { return x.Wrong }, "harmful": func(x Tally) int { return x.Harmful }, "undecided": func(x Tally) int { return x.Cannot },
			} {
				before := float64(of(alone))
				if most := before + 2*math.Sqrt(before+float64(of(after))) + 1; float64(of(after)) > most { // two standard errors
					t.Errorf("K=%d, %s: %d %s after slices, and %.0f without", k, noise.Name, of(after), what, before)
				}
			}
			if after.MeanExcess() > alone.MeanExcess()+0.1 {
				t.Errorf("K=%d, %s: %+.2f Ps too many after slices, and %+.2f without", k, noise.Name, after.MeanExcess(), alone.MeanExcess())
			}
		}
	}
	d.WriteString("\n")
}

func (d *document) equal(t *testing.T) {
	d.heading("All values equal", "K = 5, until proven. A claim is any value called slower than the peak, or later than the best p99, beyond the margin.",
		"noise", "races", "trials, mean / 95th percentile", "a difference claimed", "undecided", "the smallest named", "proven")
	total := Tally{}
	for _, noise := range Noises() {
		x := Simulate("flat", Rules(5, race.Proven), noise, 2**races)
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
	for _, name := range Margins() {
		d.row(append([]any{name}, cellsOf(Simulate(name, Rules(16, race.Proven), Noises()[0], *races/2))...)...)
	}
	d.WriteString("\n")
}

const introduction = `# How often a verdict is right

Simulated sweeps of known curves: how many trials a verdict takes, and how often it is wrong. [How a verdict is reached](../explanation/how-a-verdict-is-reached.md) explains the method.

**Good** is a value whose throughput is at most 5% below the best, and whose p99 is at most 20% longer than the best p99 among those values. A verdict that names any other value is **wrong**. A value that loses more than a tenth of the throughput, or 40% of p99, is **harmful**.

**Proven** and **likely** are as in a report. A proof is looked at after each block, which adds to its error if a value is exactly at the margin: the last table has such curves. A peak that falls entirely between two measured values is missed.

`

const ending = `## Repeat it

    go test ./internal/verdict/contest/race            # a few races of every curve
    PROCFIT_FULL=1 go test ./internal/verdict/contest/race -run VerdictPage -timeout 60m -update      # many; -races 500 for more; writes this page

Seeds are fixed: the same commit gives the same numbers. The model's constants were chosen with other seeds.

The curves: rise-flat, smooth, mild-decline, flat, quota-latency (p99 grows by half for each doubling), latency-wants-more, retrograde, cliff; one-is-best, where each doubling costs 8%; usl, the Universal Scalability Law with coefficients that are drawn; half-the-cpus, which bends at half the CPUs; numa-dip, which loses 15% behind the first NUMA node.

The noises: t3, Student's t with three degrees of freedom; outliers, 5% of trials at 0.6 of the throughput and 2.5 of the p99; hetero, values that vary up to e times as much or as little; drift, 3% per trial; bursts, p99 in waves of 20%; p10 and p60, a p99 that varies by 10% and 60%; t10, a throughput that varies by 10%; bimodal, three trials in ten at 0.88 and 1.6; vm, throughput 5%, p99 40%, drift 2%, outliers 5%, bursts 20%; bad-vm, the same with 10%, 50%, 3%, 10%, 30%.
`
