package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
)

// parseRates reads one rate or several; 0 stands for a closed loop.
func parseRates(text string) ([]float64, error) {
	if text == "" {
		return []float64{0}, nil
	}
	var rates []float64
	for item := range strings.SplitSeq(text, ",") {
		rate, err := field.Above("a number above zero")(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		if !slices.Contains(rates, rate) {
			rates = append(rates, rate)
		}
	}
	return rates, nil
}

// curve offers one rate after the other and prints a line for each. It goes on past
// rates that the server does not carry: how its latency grows there is what a curve is
// for.
func (o *loadOptions) curve(ctx context.Context, std stdio) error {
	heads := []string{"req/s", "carried", "p50", "p90", "p99", "p99.9", "max", "failed", "sent late"}
	if !o.out.json() {
		fmt.Fprintf(std.out, "open loop, %s, %s each\n", phrase.Count(o.options.Connections, "connection"), number.Short(number.Duration(o.options.Duration)))
		printLine(std.out, heads)
	}
	var worst error
	for _, rate := range o.rates {
		o.options.Rate = rate
		r, err := o.offer(ctx, std)
		if err != nil && (r == nil || !errors.Is(err, context.Canceled)) {
			return err
		}
		if perr := o.point(std.out, r); perr != nil {
			return perr
		}
		if err != nil {
			return interrupted(err)
		}
		if err := o.judge(r); err != nil && worst == nil {
			worst = fmt.Errorf("at %g req/s: %w", rate, err)
			if code := (*exitError)(nil); errors.As(err, &code) {
				worst = &exitError{code.code, worst}
			}
		}
	}
	return worst
}

// point is one rate of the curve.
func (o *loadOptions) point(out io.Writer, r *load.Result) error {
	p, err := trial.Phase(r)
	if err != nil {
		return err
	}
	if o.out.json() {
		return json.NewEncoder(out).Encode(offered(r, p))
	}
	cells := []string{fmt.Sprintf("%g", r.Rate), carried(r), "-", "-", "-", "-", "-", fmt.Sprint(r.Errors + r.Unanswered), seconds(trial.Cost(r).SendLagP99Seconds)}
	if l := p.LatencySeconds; l != nil {
		for i, v := range []*float64{l.P50, l.P90, l.P99, l.P999, l.Max} {
			cells[2+i] = seconds(v)
		}
	}
	printLine(out, cells)
	return nil
}

// carried is the share of the offered rate that was answered well; from what a sweep
// calls carried on, all of it.
func carried(r *load.Result) string {
	share := r.AchievedPerSecond / r.Rate
	if share >= trial.Carried {
		return "all"
	}
	return fmt.Sprintf("%.3g%%", 100*share)
}

const curveColumn = 10 // characters

func printLine(out io.Writer, cells []string) {
	var line strings.Builder
	for _, c := range cells {
		line.WriteString(" " + terminal.Pad(c, curveColumn, false))
	}
	fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
}

// barRoom is the length of the longest bar of a distribution.
const barRoom = 40

// distribution draws how latencies are spread, in steps of 1, 2 and 5.
func distribution(out io.Writer, h *hdrhistogram.Histogram) {
	var counts []int64
	var bounds []time.Duration
	for _, bar := range h.Distribution() {
		if bar.Count == 0 {
			continue
		}
		for len(bounds) == 0 || time.Duration(bar.To) > bounds[len(bounds)-1] {
			if len(bounds) == 0 {
				bounds = append(bounds, above(time.Duration(bar.To)))
			} else {
				bounds = append(bounds, above(bounds[len(bounds)-1]+1))
			}
			counts = append(counts, 0)
		}
		counts[len(counts)-1] += bar.Count
	}
	if len(counts) == 0 {
		return
	}
	most, all := slices.Max(counts), h.TotalCount()
	for i, n := range counts {
		bar := strings.Repeat("█", int((n*barRoom+most-1)/most))
		fmt.Fprintf(out, "  %s  %s %s\n", terminal.Pad("≤ "+number.Short(number.Duration(bounds[i])), 10, false), terminal.Pad(bar, barRoom, true), number.Share(float64(n)/float64(all)))
	}
}

// above is the least of 1, 2 and 5 times a power of ten nanoseconds that is not below.
func above(d time.Duration) time.Duration {
	for power := time.Duration(1); ; power *= 10 {
		for _, step := range []time.Duration{1, 2, 5} {
			if step*power >= d {
				return step * power
			}
		}
	}
}
