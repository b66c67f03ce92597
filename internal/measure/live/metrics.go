package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
	maxlive "github.com/procfit/procfit/maxprocs/live"
)

// Metrics are the requests of a program and their latency, as the program itself publishes
// them for Prometheus.
type Metrics struct {
	journal.Metrics
	where   string // Metrics.URL with what is secret in it
	headers http.Header
	client  http.Client
	own     string    // the path of the page, whose own requests do not count
	status  string    // the metric whose labels show which requests failed, or some of them; empty: none does
	bounds  []float64 // upper ends of the histogram's buckets in seconds; the last is +Inf
	last    Reading
	good    time.Time // of the last answer
}

const (
	mostPage   = 16 << 20 // bytes of a page
	answerPage = 500 * time.Millisecond
	apart      = time.Second // between the two looks that show which metrics count now
)

// MetricsAt reads :PORT/PATH, or a URL. Behind # may be the names that are to be used.
func MetricsAt(text string, headers http.Header) (*Metrics, error) {
	at := text
	if strings.HasPrefix(at, ":") {
		at = "http://127.0.0.1" + at
	}
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("expected :PORT/PATH or a URL, such as :2112/metrics")
	}
	if u.Path == "" {
		u.Path = "/metrics"
	}
	m := &Metrics{headers: headers, own: u.Path, client: http.Client{
		// The headers are for this server alone, and another one's page would be taken for the program's.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{}, // without a proxy
	}}
	for name := range strings.SplitSeq(u.Fragment, ",") {
		switch {
		case name == "":
		case m.Histogram == "" && !strings.HasSuffix(name, "_total"):
			m.Histogram = name
		default:
			m.Counter = name
		}
	}
	u.Fragment = ""
	m.where, m.URL = u.String(), u.Redacted()
	return m, nil
}

// Find chooses the metrics by their shape, and by which of them count requests now.
func (m *Metrics) Find(ctx context.Context) error {
	before, err := m.page(ctx, 10*time.Second)
	if err != nil {
		return err
	}
	if err := wait.For(ctx, apart); err != nil {
		return err
	}
	after, err := m.page(ctx, 10*time.Second)
	if err != nil {
		return err
	}
	return m.found(before, after)
}

func (m *Metrics) found(before, after map[string]*dto.MetricFamily) (err error) {
	if m.Metrics, err = choose(m.Metrics, before, after, m.own); err != nil {
		return err
	}
	if f := cmp.Or(after[m.Histogram], after[m.Counter]); strings.HasPrefix(f.GetName(), caddy) {
		m.Handler = busiest(before[f.GetName()], f)
		m.ofHandler(before)
		m.ofHandler(after)
	}
	m.status, m.FailuresUnknown = "", true
	for _, name := range []string{m.Counter, m.Histogram} {
		if some, all := hasStatus(before[name], after[name], m.own); m.FailuresUnknown && (all || some && m.status == "") {
			m.status, m.FailuresUnknown = name, !all
		}
	}
	m.last, m.bounds = m.sums(after), nil
	if f := after[m.Histogram]; f != nil {
		m.bounds, _ = boundsOf(f, m.own)
	}
	m.good = time.Now()
	return nil
}

func (m *Metrics) page(ctx context.Context, within time.Duration) (map[string]*dto.MetricFamily, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, m.where, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.URL, err)
	}
	maps.Copy(r.Header, m.headers)
	r.Header.Set("Accept", "text/plain;version=0.0.4")
	a, err := m.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%s does not answer: %w", m.URL, errors.Unwrap(err))
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", m.URL, phrase.Clean(a.Status))
	}
	all, err := parsePage(io.LimitReader(a.Body, mostPage))
	if err != nil {
		return nil, fmt.Errorf("%s is not a page of metrics: %s", m.URL, phrase.Clean(err.Error()))
	}
	m.ofHandler(all)
	return all, nil
}

// caddy begins the names of Caddy's metrics, which count a request in every handler that it
// passes (https://caddyserver.com/docs/metrics): the series of one handler have it once.
const caddy, handlerLabel = "caddy_http_", "handler"

// ofHandler removes Caddy's series of other handlers.
func (m *Metrics) ofHandler(all map[string]*dto.MetricFamily) {
	for name, f := range all {
		if m.Handler != "" && strings.HasPrefix(name, caddy) {
			f.Metric = slices.DeleteFunc(f.Metric, func(one *dto.Metric) bool { return handlerOf(one) != m.Handler })
		}
	}
}

func handlerOf(m *dto.Metric) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == handlerLabel {
			return l.GetValue()
		}
	}
	return ""
}

// busiest is the handler that most requests passed between two pages: of several the one that
// took longest, which is the outermost.
func busiest(before, after *dto.MetricFamily) (handler string) {
	type passed struct{ requests, seconds float64 }
	all := map[string]passed{}
	count := func(f *dto.MetricFamily, sign float64) {
		for _, one := range f.GetMetric() {
			p := all[handlerOf(one)]
			p.requests += sign * (one.GetCounter().GetValue() + float64(one.GetHistogram().GetSampleCount()))
			p.seconds += sign * one.GetHistogram().GetSampleSum()
			all[handlerOf(one)] = p
		}
	}
	count(before, -1)
	count(after, 1)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p, most := all[name], all[handler]
		if cmp.Or(cmp.Compare(p.requests, most.requests), cmp.Compare(p.seconds, most.seconds)) > 0 {
			handler = name
		}
	}
	return handler
}

func parsePage(r io.Reader) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(r)
}

// The shapes of names: of histograms of how long requests take, best first, and of counters
// of requests.
var (
	latencyNames = []func() *regexp.Regexp{
		pattern.Of(`(^|_)(http|grpc|rpc)(_server)?_?(requests?|handling|handled)?(_(duration|latency))?_(milli)?seconds$`),
		pattern.Of(`(request|handling|rpc).*_(milli)?seconds$`),
	}
	counterName = pattern.Of(`(^|_)(requests|requests_handled|server_handled|rpcs|calls)_total$`)
	// notOurs are of requests that the program sends, of what serves its metrics and its own
	// administration, and of bodies.
	notOurs = pattern.Of(`^(go|process|promhttp|scrape|net_conntrack)_|_?(client|admin|outgoing|upstream|sent)_|_size_`)
)

// choose is the histogram and the counter of requests. What is named is taken, if it has the
// kind; of several the one that counts now.
func choose(named journal.Metrics, before, after map[string]*dto.MetricFamily, own string) (journal.Metrics, error) {
	if f := after[named.Histogram]; f != nil && f.GetType() == dto.MetricType_COUNTER { // whose name does not end in _total
		named.Histogram, named.Counter = named.Counter, named.Histogram
	}
	out := named
	if err := checkNamed(named, after); err != nil {
		return named, err
	}
	if out.Histogram == "" && named.Counter == "" {
		for _, shape := range latencyNames {
			list := counting(before, after, own, func(f *dto.MetricFamily) bool {
				_, known := boundsOf(f, own)
				return f.GetType() == dto.MetricType_HISTOGRAM && known && shape().MatchString(f.GetName()) && !notOurs().MatchString(f.GetName())
			})
			if len(list) > 1 {
				return named, ambiguous("histograms of request latency", list, named.URL)
			}
			if len(list) == 1 {
				out.Histogram = list[0]
				break
			}
		}
	}
	if out.Counter == "" {
		list := counting(before, after, own, func(f *dto.MetricFamily) bool {
			return f.GetType() == dto.MetricType_COUNTER && counterName().MatchString(f.GetName()) && !notOurs().MatchString(f.GetName()) &&
				(out.Histogram == "" || together(before, after, own, out.Histogram, f.GetName()))
		})
		switch {
		case len(list) == 1:
			out.Counter = list[0]
		case len(list) > 1 && out.Histogram == "":
			return named, ambiguous("counters of requests", list, named.URL)
		}
	}
	if out.Histogram == "" && out.Counter == "" {
		return named, fmt.Errorf("%s has neither a histogram of request latency in seconds that counts now, nor a counter …requests_total; name one: --metrics '%s#NAME'", named.URL, named.URL)
	}
	return out, nil
}

func checkNamed(named journal.Metrics, all map[string]*dto.MetricFamily) error {
	for name, kind := range map[string]dto.MetricType{named.Histogram: dto.MetricType_HISTOGRAM, named.Counter: dto.MetricType_COUNTER} {
		if f := all[name]; name != "" && (f == nil || f.GetType() != kind) {
			return fmt.Errorf("%s has no %s %q", named.URL, strings.ToLower(kind.String()), name)
		}
	}
	return nil
}

func ambiguous(what string, list []string, at string) error {
	return fmt.Errorf("%s has %d %s that count now: %s; name one: --metrics '%s#%s'", at, len(list), what, phrase.And(list), at, list[0])
}

// counting are the names of those of a kind that counted something between two pages.
func counting(before, after map[string]*dto.MetricFamily, own string, is func(*dto.MetricFamily) bool) (list []string) {
	for name, f := range after {
		if is(f) && countOf(f, own) > countOf(before[name], own) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// together reports that two metrics may count the same requests: between two pages they counted as
// many, but for what was on its way. A counter of queries or of a cache grows by others.
func together(before, after map[string]*dto.MetricFamily, own, a, b string) bool {
	x, y := countOf(after[a], own)-countOf(before[a], own), countOf(after[b], own)-countOf(before[b], own)
	return math.Abs(x-y) <= max(2, 0.1*max(x, y))
}

// series are those of a family, without those of the requests for the page itself.
func series(f *dto.MetricFamily, own string) (list []*dto.Metric) {
	for _, m := range f.GetMetric() {
		if !slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetValue() == own }) {
			list = append(list, m)
		}
	}
	return list
}

// countOf is how many events there were, of all series.
func countOf(f *dto.MetricFamily, own string) (n float64) {
	for _, m := range series(f, own) {
		n += m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
	}
	return n
}

// statusLabels are those that have the status of an answer.
var statusLabels = []string{"code", "status", "status_code", "http_status", "http_status_code", "http_response_status_code", "grpc_code", "rpc_grpc_status_code"}

// grpcFaults are the codes of gRPC that are the server's fault, as number and as name.
var grpcFaults = []string{"2", "Unknown", "4", "DeadlineExceeded", "8", "ResourceExhausted", "13", "Internal", "14", "Unavailable", "15", "DataLoss"}

// failing reports whether the requests of a series failed by the server's fault, as its labels have
// it. It is not known where no label has the status of an answer: another one, such as a cache's
// status="hit", may have the same name.
func failing(m *dto.Metric) (failed, known bool) {
	for _, l := range m.GetLabel() {
		name, v := l.GetName(), l.GetValue()
		switch {
		case !slices.Contains(statusLabels, name):
		case len(v) == 3 && '1' <= v[0] && v[0] <= '5': // 503 or 5xx
			return v[0] == '5', true
		case strings.Contains(name, "grpc"), len(v) > 3 && slices.Contains(grpcFaults, v):
			return slices.Contains(grpcFaults, v), true
		}
	}
	return false, false
}

// hasStatus reports whether a family shows of some requests whether they failed, and whether it shows
// that of all requests between two pages.
func hasStatus(before, after *dto.MetricFamily, own string) (some, all bool) {
	some = slices.ContainsFunc(series(after, own), func(m *dto.Metric) bool { _, known := failing(m); return known })
	_, was := failures(before, own)
	_, is := failures(after, own)
	return some, some && is == was
}

// failures is how many requests of a family failed by the server's fault, and of how many others
// nobody knows whether they did.
func failures(f *dto.MetricFamily, own string) (failed, unknown float64) {
	for _, m := range series(f, own) {
		n := m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		switch yes, known := failing(m); {
		case yes:
			failed += n
		case !known:
			unknown += n
		}
	}
	return failed, unknown
}

// unitOf is that of a histogram's times in seconds.
func unitOf(f *dto.MetricFamily) float64 {
	if strings.HasSuffix(f.GetName(), "_milliseconds") {
		return 1e-3
	}
	return 1
}

// boundsOf are the upper ends of a histogram's buckets in seconds, without the last. False:
// it has none, or its series differ in them.
func boundsOf(f *dto.MetricFamily, own string) (bounds []float64, known bool) {
	unit := unitOf(f)
	for i, m := range series(f, own) {
		var list []float64
		for _, b := range m.GetHistogram().GetBucket() {
			if x := b.GetUpperBound(); !math.IsInf(x, 1) {
				list = append(list, x*unit)
			}
		}
		if i == 0 {
			bounds = list
		}
		if len(list) == 0 || !slices.Equal(list, bounds) || !slices.IsSorted(list) {
			return nil, false
		}
	}
	return bounds, len(bounds) > 0
}

func (m *Metrics) sums(all map[string]*dto.MetricFamily) Reading {
	count := func(x float64) uint64 { return uint64(max(0, min(x, math.MaxInt64))) }
	h, c := all[m.Histogram], all[m.Counter]
	failed, unknown := failures(all[m.status], m.own)
	if !m.FailuresUnknown { // a series without a status counts only now
		failed += unknown
	}
	r := Reading{Requests: count(countOf(cmp.Or(h, c), m.own)), Failed: count(failed)}
	bounds, known := boundsOf(h, m.own)
	if h == nil || !known {
		return r
	}
	r.Handler.Counts = make([]uint64, len(bounds)+1)
	for _, one := range series(h, m.own) {
		below := uint64(0)
		for i, b := range one.GetHistogram().GetBucket() {
			if i < len(bounds) && b.GetCumulativeCount() >= below {
				r.Handler.Counts[i] += b.GetCumulativeCount() - below
				below = b.GetCumulativeCount()
			}
		}
		if all := one.GetHistogram().GetSampleCount(); all > below {
			r.Handler.Counts[len(bounds)] += all - below
		}
		if sum := one.GetHistogram().GetSampleSum() * unitOf(h); sum > 0 {
			r.Handler.Sum += sum
		}
	}
	return r
}

// read adds the requests to what was seen from outside. Where the page does not answer in
// time, nothing has ended since the last answer, as far as can be seen.
func (m *Metrics) read(ctx context.Context, r *Reading) error {
	all, err := m.page(ctx, answerPage)
	switch {
	case err == nil:
		now := m.sums(all)
		if now.shrank(m.last) || len(now.Handler.Counts) != len(m.last.Handler.Counts) {
			return endFor(journal.EndFailed, "%s: its counters began again: several programs answer, or the metrics were reset", m.URL)
		}
		m.last, m.good = now, time.Now()
	case ctx.Err() != nil:
		return ctx.Err()
	case time.Since(m.good) > longestAnswer:
		return endFor(journal.EndFailed, "%v", err)
	default:
		r.Stale = true
	}
	r.Requests, r.Failed, r.Handler = m.last.Requests, m.last.Failed, m.last.Handler
	return nil
}

// bucketEnd is the upper end of a bucket of the histogram.
func (m *Metrics) bucketEnd(i int) time.Duration {
	if i >= len(m.bounds) {
		return math.MaxInt64
	}
	return time.Duration(m.bounds[i] * float64(time.Second))
}

// quantile is interpolated in its bucket. 0: it is in the first one, and not known. In the last
// one it is more than all bounds, and the end of that bucket stands for it.
func (m *Metrics) quantile(h maxlive.Histogram, q float64) time.Duration {
	want, below := q*float64(h.Count()), 0.0
	for i, n := range h.Counts {
		if below+float64(n) < want || n == 0 {
			below += float64(n)
			continue
		}
		switch {
		case i >= len(m.bounds):
			return m.bucketEnd(i)
		case i == 0:
			return 0
		}
		from, to := m.bucketEnd(i-1), m.bucketEnd(i)
		return from + time.Duration((want-below)/float64(n)*float64(to-from))
	}
	return 0
}
