package drift

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/verdict/eprocess"
	"github.com/procfit/procfit/test/chance"
	"github.com/procfit/procfit/test/need"
)

var update = flag.Bool("update", false, "write docs/evidence/drift.md")

// world is a service over 30 days. Its load follows the day between low and high, as shares
// of the highest measured load. Its CPU time per request changes with the load by slope over
// the measured range, strays by noise that lasts (an AR(1) process of steps of ten minutes),
// and is another than on the machine of the measurement by up to bias.
type world struct {
	name        string
	low, high   float64
	slope, bias float64
	noise, last float64 // standard deviation; correlation of a step with the next
}

var worlds = []world{
	{"steady load, noise of 2%", 0.6, 0.7, 0, 0, 0.02, 0.5},
	{"load by the day, noise of 3%, machine within 2%", 0.4, 0.9, 0.06, 0.02, 0.03, 0.8},
	{"the same, noise of 3% that lasts for hours", 0.4, 0.9, 0.06, 0.02, 0.03, 0.95},
	{"noise of 6%, machine within 3%", 0.4, 0.9, 0.06, 0.03, 0.06, 0.8},
	{"the same, noise of 6% that lasts for hours", 0.4, 0.9, 0.06, 0.03, 0.06, 0.95},
	{"noise of 4% that lasts for hours, machine within 5%", 0.4, 0.9, 0.06, 0.05, 0.04, 0.95},
	{"half of the day below the measured load, noise of 3%", 0.1, 0.9, 0.06, 0.02, 0.03, 0.9},
}

const (
	days    = 30
	seconds = 600 // of a step
)

// run is the hour of the first alarm after a change of the CPU time per request by the ratio
// at the hour; 0: none.
func (w world) run(seed uint64, ratio, at float64) (alarm float64) {
	r := rand.New(rand.NewPCG(seed, 99))
	// The measurement: trials at half of the highest load, and at the highest.
	at1 := func(load float64) float64 { return 0.001 * (1 + w.slope*(load-0.5)/0.5) }
	var open, all []float64
	for range 10 {
		open = append(open, at1(0.5)*math.Exp(0.01*r.NormFloat64()))
		all = append(all, at1(1)*math.Exp(0.01*r.NormFloat64()))
	}
	all = append(all, open...)
	slices.Sort(open)
	s := &service{above: eprocess.Shift{Starts: starts}, below: eprocess.Shift{Starts: starts}}
	s.expected = rule.Expected{
		Requests:      &rule.ExpectedRange{Min: 500, Max: 1000},
		CPUPerRequest: &rule.ExpectedSpread{Median: open[5], Min: slices.Min(all), Max: slices.Max(all)},
	}
	bias := w.bias * (2*r.Float64() - 1)
	x := r.NormFloat64() * w.noise
	phase := 24 * r.Float64()
	for from := 0; from < days*24*3600; from += sliceSeconds {
		requests, cpu := 0.0, 0.0
		for step := 0; step < sliceSeconds; step += seconds {
			hour := float64(from+step) / 3600
			t := hour + phase
			load := (w.low+w.high)/2 + (w.high-w.low)/2*math.Sin(2*math.Pi*t/24)
			x = w.last*x + math.Sqrt(1-w.last*w.last)*w.noise*r.NormFloat64()
			n := 1000 * load * seconds
			each := at1(load) * math.Exp(bias+x)
			if ratio != 1 && hour >= at {
				each *= ratio
			}
			requests, cpu = requests+n, cpu+n*each
		}
		s.slice(requests/sliceSeconds, cpu/requests)
		if s.proven() != 0 {
			return float64(from+sliceSeconds) / 3600
		}
	}
	return 0
}

// changes are those of the CPU time per request that the page shows, as ratios.
var changes = []float64{1.15, 1.2, 1.3, 0.85, 0.8}

// TestDrift: of services that do not change, at most one in 20 has an alarm in 30 days, and
// a change of 15% and more is found. PROCFIT_FULL=1 has all runs, of which -update writes the page.
func TestDrift(t *testing.T) {
	still, changed := 100, 20
	if need.Whole() || *update {
		still, changed = 1000, 200
	}
	rows := make([]string, len(worlds))
	t.Run("worlds", func(t *testing.T) {
		for i, w := range worlds {
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				rows[i] = w.row(t, still, changed)
			})
		}
	})
	page := fmt.Sprintf(pageHead, still, changed) + strings.Join(rows, "")
	t.Log(page)
	const file = "../../../docs/evidence/drift.md"
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := page
	if still < 1000 {
		want = fmt.Sprintf(pageHead, 1000, 200) // there is a tenth of the rows' runs
	}
	if got, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(got), want) {
		t.Errorf("%s is stale (%v): go test ./internal/measure/drift -run TestDrift -update", file, err)
	}
}

// row simulates one world.
func (w world) row(t *testing.T, still, changed int) string {
	alarms := 0
	for seed := range still {
		if w.run(uint64(seed), 1, 0) > 0 {
			alarms++
		}
	}
	if alarms > chance.Most(still, alpha) {
		t.Errorf("%d alarms in %d services", alarms, still)
	}
	row := fmt.Sprintf("| %s | %d |", w.name, alarms)
	for _, ratio := range changes {
		const at = 240 // hours
		var days []float64
		for seed := range changed {
			if a := w.run(uint64(seed), ratio, at); a > at {
				days = append(days, (a-at)/24)
			}
		}
		// A false alarm before the change ends a run, too.
		if len(days) < changed*8/10 {
			t.Errorf("%.2f: found in %d of %d", ratio, len(days), changed)
		}
		slices.Sort(days)
		row += fmt.Sprintf(" %.1f (%.0f%%) |", days[len(days)/2], 100*float64(len(days))/float64(changed))
	}
	return row + "\n"
}

const pageHead = `# How soon a changed CPU time per request is found

The exporter compares the CPU time per request of a program that has a Meter with the one that its [expected value](../how-to/keep-a-verdict.md) was measured at. A finding needs a proof: procfit bets on each stretch of three hours, as in ` + "`procfit live`" + `, with one more bettor for each stretch, so that a change is found whenever it begins. The tolerance is 7.2%%, or as far as the trials of the measurement were apart.

A simulation of services over 30 days. In each world the load follows the day, the CPU time per request changes with the load, strays by noise that lasts (an AR(1) process in steps of ten minutes), and is on its machine another one than in the measurement. A test holds these numbers, and fails if more than one in 20 services that do not change has an alarm. Of each cell: the median time to the finding in days, and in brackets the share of the services in which the change, on the tenth day, was found within the other twenty.

| world | false alarms in %d services | +15%% (%d services) | +20%% | +30%% | -15%% | -20%% |
|---|---|---|---|---|---|---|
`
