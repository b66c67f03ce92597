package cli

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/measure/kube/prometheus"
	"github.com/procfit/procfit/internal/measure/live"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/secret"
	judge "github.com/procfit/procfit/internal/verdict/live"
)

type liveOptions struct {
	measurement
	queries                 prometheus.Queries
	slice, burnIn, baseline time.Duration
	budget                  liveBudget
	same, yes, unsafe       bool
	metrics                 string // where the program's own metrics are; empty: they are not used
}

// liveBudget is what an experiment may cost: a number of requests, or a share of those that
// an objective of 99.9% allows to fail in 30 days.
type liveBudget struct{ requests, share float64 }

func newLiveOptions() *liveOptions {
	o := newTrying("live")
	header := field.Take(o.spec.Fields(), field.Field{Name: "header", Help: "a header to send, also to --metrics and --prometheus; may be repeated"})
	queries := field.In(field.Compare, o.queries.Fields("$slice is filled in, four fifths of --slice: at least two scrapes of the Prometheus must fit into it. A query that is proven above that of the value at start ends the experiment.", judge.ParseQuery)...)
	o.Fields = slices.Concat(o.trying(), header, queries, o.offered(), o.ofBlocks("live"), field.In(field.Output, toggle("yes", &o.yes, "do not ask")))
	return o
}

func parseBudget(text string) (liveBudget, error) {
	number, share := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || !(v > 0) || v > 1e12:
		return liveBudget{}, &field.Mistake{Text: text, Reason: "expected a number of requests, or a share", Example: "500 or 0.1%"}
	case share && v > 100:
		return liveBudget{}, &field.Mistake{Text: text, Reason: "expected at most 100%", Example: "0.1%"}
	case share:
		return liveBudget{share: v / 100}, nil
	}
	return liveBudget{requests: v}, nil
}

const (
	shortestSlice  = time.Second
	shortestBurnIn = 100 * time.Millisecond
	usualBaseline  = time.Minute
)

// resolve settles what is done with a program. Nothing is changed yet.
func (o *liveOptions) resolve(std stdio, c valueChange) (*liveRun, error) {
	run := &liveRun{share: o.budget.share, change: c}
	if err := o.liveHeader(std, &run.header); err != nil {
		return nil, err
	}
	known, err := o.spec.Filled(std.secrets.Variable)
	if err != nil {
		return nil, asUsage(err)
	}
	if err := o.tryQueries(std, known.Load.Headers); err != nil {
		return nil, err
	}
	if err := o.findMetrics(std, run, known.Load.Headers); err != nil {
		return nil, err
	}
	s, h := c.subject, &run.header
	l := h.Live
	l.PID, l.Unit, l.Start, l.Uncounted, l.SizedAtStart = s.PID, "request", c.before.Procs, l.Metrics == nil && !c.counted, c.sized
	switch slow, failed := judge.Harmed(l); {
	case o.Has("budget") && !slow && !failed:
		return nil, usageError("--budget needs to know which requests are slow or fail: name a page of metrics that show it, with --metrics")
	case o.Has("slo") && !slow:
		return nil, usageError("--slo needs the latency of the program's requests: name a page of metrics that has a histogram of it, with --metrics")
	}
	if limit, ok := s.Facts.Tightest(); ok {
		l.LimitCPUs = limit.CPUs
	}
	values, err := o.values(l.Start, l.LimitCPUs, c.most)
	if err != nil {
		return nil, err
	}
	h.Plan.Settings = judge.Settings(l.Start, values, o.same)
	h.Target.GoVersion, h.Target.MainModule = s.Facts.GoVersion, c.module
	h.TargetHost = session.ThisHost()
	if n := s.Facts.AffinityCPUs(); n > 0 {
		h.TargetHost.AffinityCPUs, h.TargetHost.EffectiveCPUs = n, float64(n)
	}
	h.Name = cmp.Or(o.spec.Name, fmt.Sprintf("process %d", s.PID))
	if err := h.Check(); err != nil {
		return nil, usageError("%w", err)
	}
	run.dir, err = o.blocksDir(h.Name, "live", h.Started)
	return run, err
}

// tryQueries has every query tried: the program runs already, so that it must have a value.
func (o *liveOptions) tryQueries(std stdio, headers []string) error {
	of := judge.Asked(o.slice)
	return refusal(o.queries.Try(std.ctx, std.fill, headers, of, func(name string, v *float64) error {
		if v == nil {
			return usageError("--query %s has no value over the last %s: two scrapes must fit into it, for example with --slice 40s; a query of what may be missing, as errors are, needs 'or vector(0)'", name, number.Chosen(of))
		}
		return nil
	}))
}

func (o *liveOptions) findMetrics(std stdio, run *liveRun, lines []string) error {
	if o.metrics == "" {
		return nil
	}
	headers := http.Header{}
	for _, h := range lines {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return usageError("--header %q: expected a name, a colon and a value", secret.Text(h))
		}
		headers.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	address := o.metrics
	if err := std.fill(&address); err != nil {
		return err
	}
	m, err := live.MetricsAt(address, headers)
	if err != nil {
		return usageError("--metrics %q: %w", secret.Text(o.metrics), err)
	}
	if err := m.Find(std.ctx); err != nil {
		return fmt.Errorf("--metrics: %w", err)
	}
	run.metrics = m
	run.header.Live.Metrics = new(m.Metrics)
	run.header.Live.Metrics.URL = secret.Text(run.header.Live.Metrics.URL)
	return nil
}

// liveHeader is what the flags say by themselves.
func (o *liveOptions) liveHeader(std stdio, h *judge.Header) error {
	spec := o.spec.Spec
	switch {
	case o.slice < shortestSlice:
		return usageError("--slice %s: expected %s or more, since a shorter slice is mostly what a change costs", number.Typed(o.slice), shortestSlice)
	case o.burnIn < shortestBurnIn:
		return usageError("--burn-in %s: expected %s or more", number.Typed(o.burnIn), shortestBurnIn)
	case o.baseline < 2*o.slice:
		return usageError("--baseline %s: expected at least two slices of %s, for example --baseline %s", number.Typed(o.baseline), number.Chosen(o.slice), number.Typed(2*o.slice))
	}
	*h = judge.NewHeader(o.slice, o.burnIn, o.baseline, spec.Load.Duration)
	h.Live.Budget, h.Live.Same = o.budget.requests, o.same
	if spec.Load.SLO != nil {
		h.Live.SlowSeconds = spec.Load.SLO.Seconds
	}
	var err error
	h.Spec = o.asked(std)
	if h.Live.Queries, err = o.queries.Recorded(h.Spec); err != nil {
		return refusal(err)
	}
	h.Live.Prometheus, h.Tool = o.queries.Address(), session.Tool(version())
	h.Plan.Margin, h.Plan.MarginP99, h.Plan.Seed = spec.Margin, spec.MarginP99, uint64(h.Started.UnixNano())
	if o.spec.Seed != nil {
		h.Plan.Seed = *o.spec.Seed
	}
	return nil
}

// values are those that are tried, but for the one at start.
func (o *liveOptions) values(start int, limit float64, most int) (values []int, err error) {
	cpus := float64(start)
	if limit > 0 {
		cpus = min(cpus, limit)
	}
	for _, v := range o.spec.Procs.For(cpus) {
		switch {
		case v == nil || *v == start: // which is always compared
		case o.spec.Procs.Auto && float64(*v) > math.Ceil(cpus): // for a sweep to try, and not for users
		case most > 0 && *v > most:
			return nil, usageError("--procs %d: the program allows 1 to %d; live.Max in its code allows more", *v, most)
		case *v > steer.Most:
			return nil, usageError("--procs %d: expected at most %d", *v, steer.Most)
		default:
			values = append(values, *v)
		}
	}
	if len(values) == 0 && !o.same {
		return nil, usageError("--procs: expected at least one value other than the one at start, %d, for example --procs 1,%d", start, max(start, 2))
	}
	return values, nil
}
