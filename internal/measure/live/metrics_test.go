package live

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
	maxlive "github.com/procfit/procfit/maxprocs/live"
	"github.com/procfit/procfit/test/must"
)

// page is one with counters and histograms that have counted so much.
func page(t *testing.T, n string, text string) map[string]*dto.MetricFamily {
	t.Helper()
	return must.Get(parsePage(strings.NewReader(strings.ReplaceAll(text, "N", n))))(t)
}

// histogram is a family with N events, of which one took more than 0.1.
func histogram(name, labels string) string {
	with := func(le string) string { return strings.TrimPrefix(labels+`,le="`+le+`"`, ",") }
	return "# TYPE " + name + " histogram\n" +
		name + `_bucket{` + with("0.01") + "} 1\n" + name + `_bucket{` + with("0.1") + "} N\n" + name + `_bucket{` + with("+Inf") + "} 1N\n" +
		name + `_sum{` + labels + "} 5\n" + name + `_count{` + labels + "} 1N\n"
}

func counter(name, labels string) string {
	return "# TYPE " + name + " counter\n" + name + "{" + labels + "} N\n"
}

// many is a counter that counts 101 times as much as the others.
func many(name, labels string) string {
	return strings.Replace(counter(name, labels), "} N", "} NN", 1)
}

// TestFailures: which requests failed is known by the metric that has their status.
func TestFailures(t *testing.T) {
	const h, c = "http_request_duration_seconds", "http_requests_total"
	for name, tc := range map[string]struct {
		text, status string
		failed       uint64
		unknown      bool
	}{
		"both have it":              {histogram(h, `code="500"`) + counter(c, `code="500"`), c, 20, false},
		"the counter has it":        {histogram(h, `method="get"`) + counter(c, `code="5xx"`), c, 20, false},
		"the histogram has it":      {histogram(h, `code="503"`) + counter(c, ""), h, 120, false},
		"the histogram, of a cache": {histogram(h, `code="503"`) + many("cache_requests_total", `code="200"`), h, 120, false},
		"none failed":               {histogram(h, `code="200"`), h, 0, false},
		"gRPC by names":             {histogram("grpc_server_handling_seconds", `grpc_code="Unavailable"`), "grpc_server_handling_seconds", 120, false},
		"gRPC by numbers":           {histogram("rpc_server_duration_milliseconds", `rpc_grpc_status_code="14"`), "rpc_server_duration_milliseconds", 120, false},
		"no number of gRPC":         {histogram(h, `code="14"`), "", 0, true},
		"no label":                  {histogram(h, "") + counter(c, ""), "", 0, true},
		"a label of a few":          {histogram(h, "") + counter(c, `code=""`) + c + "{code=\"200\"} 7\n", c, 0, true},
		"a label of half":           {counter(c, `code="503"`) + c + "{code=\"\"} N\n", c, 20, true},
		"a label of all that count": {histogram(h, "") + counter(c, `code="503"`) + c + "{code=\"\"} 7\n", c, 27, false},
		"all have the histogram's":  {histogram(h, `code="200"`) + counter(c, `code="503"`) + c + "{code=\"\"} 0.N\n", h, 0, false},
		"a label that is not known": {histogram(h, `result="error"`), "", 0, true},
		"another status":            {histogram(h, `status="hit"`), "", 0, true},
	} {
		m := &Metrics{own: "/metrics"}
		if err := m.found(page(t, "10", tc.text), page(t, "20", tc.text)); err != nil || m.status != tc.status || m.FailuresUnknown != tc.unknown || m.last.Failed != tc.failed {
			t.Errorf("%s: by %q, %+v, %v; expected %d failed by %q, unknown %t", name, m.status, m.last, err, tc.failed, tc.status, tc.unknown)
		}
	}
}

// TestShrank: what only grows is not less than it was, each bucket of it.
func TestShrank(t *testing.T) {
	was := Reading{Requests: 30, Failed: 2, Handler: maxlive.Histogram{Counts: []uint64{20, 10}, Sum: 3}}
	for name, c := range map[string]struct {
		change func(*Reading)
		want   bool
	}{
		"nothing":               {func(*Reading) {}, false},
		"another bucket":        {func(r *Reading) { r.Requests, r.Handler = 31, maxlive.Histogram{Counts: []uint64{20, 10, 1}, Sum: 4} }, false},
		"fewer slow ones":       {func(r *Reading) { r.Requests, r.Handler = 50, maxlive.Histogram{Counts: []uint64{41, 9}, Sum: 4} }, true},
		"fewer buckets":         {func(r *Reading) { r.Requests, r.Handler = 50, maxlive.Histogram{Counts: []uint64{50}, Sum: 4} }, true},
		"less time":             {func(r *Reading) { r.Handler.Sum = 2 }, true},
		"fewer failed":          {func(r *Reading) { r.Requests, r.Failed = 50, 1 }, true},
		"less from the arrival": {func(r *Reading) { r.Arrival.Counts = []uint64{0, 2} }, true},
	} {
		is, was := was, was
		was.Arrival.Counts = []uint64{0, 3}
		is.Arrival.Counts = was.Arrival.Counts
		if c.change(&is); is.shrank(was) != c.want {
			t.Errorf("%s: %t, expected %t", name, !c.want, c.want)
		}
	}
}

// TestChoose: the metrics are found by their shape, and where that leaves several, they are
// listed.
func TestChoose(t *testing.T) {
	noise := counter("go_gc_cycles_total", "") + counter("promhttp_metric_handler_requests_total", `code="200"`) + histogram("http_client_request_duration_seconds", "") + histogram("myapp_disk_fsync_duration_seconds", "") + histogram("http_response_size_bytes", "")
	for name, c := range map[string]struct {
		text, named string
		want        journal.Metrics
		says        string // in the error
	}{
		"the usual":            {histogram("http_request_duration_seconds", `code="200"`) + counter("http_requests_total", `code="200"`), "", journal.Metrics{Histogram: "http_request_duration_seconds", Counter: "http_requests_total"}, ""},
		"OpenTelemetry":        {histogram("http_server_request_duration_seconds", ""), "", journal.Metrics{Histogram: "http_server_request_duration_seconds"}, ""},
		"older OpenTelemetry":  {histogram("http_server_duration_milliseconds", ""), "", journal.Metrics{Histogram: "http_server_duration_milliseconds"}, ""},
		"gRPC":                 {histogram("grpc_server_handling_seconds", "") + counter("grpc_server_handled_total", ""), "", journal.Metrics{Histogram: "grpc_server_handling_seconds", Counter: "grpc_server_handled_total"}, ""},
		"with a prefix":        {histogram("caddy_http_request_duration_seconds", "") + histogram("caddy_http_response_duration_seconds", "") + counter("caddy_http_requests_total", "") + counter("caddy_admin_http_requests_total", ""), "", journal.Metrics{Histogram: "caddy_http_request_duration_seconds", Counter: "caddy_http_requests_total"}, ""},
		"another word":         {histogram("apiserver_request_duration_seconds", ""), "", journal.Metrics{Histogram: "apiserver_request_duration_seconds"}, ""},
		"a counter alone":      {counter("etcd_server_handled_total", ""), "", journal.Metrics{Counter: "etcd_server_handled_total"}, ""},
		"two histograms":       {histogram("http_request_duration_seconds", "") + histogram("grpc_server_handling_seconds", ""), "", journal.Metrics{}, "2 histograms of request latency that count now: grpc_server_handling_seconds and http_request_duration_seconds; name one: --metrics 'http://x/metrics#grpc_server_handling_seconds'"},
		"one of two":           {histogram("http_request_duration_seconds", "") + histogram("grpc_server_handling_seconds", ""), "#http_request_duration_seconds", journal.Metrics{Histogram: "http_request_duration_seconds"}, ""},
		"two counters":         {counter("a_requests_total", "") + counter("b_requests_total", ""), "", journal.Metrics{}, "2 counters of requests"},
		"one of two counters":  {counter("a_requests_total", "") + counter("b_requests_total", ""), "#b_requests_total", journal.Metrics{Counter: "b_requests_total"}, ""},
		"and one of a cache":   {histogram("http_request_duration_seconds", "") + counter("http_requests_total", "") + many("cache_requests_total", ""), "", journal.Metrics{Histogram: "http_request_duration_seconds", Counter: "http_requests_total"}, ""},
		"only one of a cache":  {histogram("http_request_duration_seconds", "") + many("cache_requests_total", ""), "", journal.Metrics{Histogram: "http_request_duration_seconds"}, ""},
		"one that is named":    {histogram("http_request_duration_seconds", "") + many("cache_requests_total", ""), "#cache_requests_total", journal.Metrics{Counter: "cache_requests_total"}, ""},
		"none":                 {"", "", journal.Metrics{}, "has neither a histogram of request latency in seconds that counts now, nor a counter"},
		"only its own page":    {counter("http_requests_total", `handler="/metrics"`), "", journal.Metrics{}, "has neither"},
		"what is not there":    {"", "#nothing_seconds", journal.Metrics{}, `has no histogram "nothing_seconds"`},
		"what is another kind": {histogram("http_requests_total", ""), "#http_requests_total", journal.Metrics{}, `has no counter "http_requests_total"`},
		"a counter by kind":    {counter("http_requests", ""), "#http_requests", journal.Metrics{Counter: "http_requests"}, ""},
		"both by kind":         {counter("http_requests", "") + histogram("api_seconds", ""), "#http_requests,api_seconds", journal.Metrics{Histogram: "api_seconds", Counter: "http_requests"}, ""},
	} {
		m := must.Get(MetricsAt("http://x/metrics"+c.named, nil))(t)
		got, err := choose(m.Metrics, page(t, "10", noise+c.text), page(t, "20", noise+c.text), m.own)
		c.want.URL = "http://x/metrics"
		switch {
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v; expected %q", name, err, c.says)
		case c.says == "" && (err != nil || got != c.want):
			t.Errorf("%s: %+v, %v; expected %+v", name, got, err, c.want)
		}
	}
	// Of two the one that counts is meant.
	two := counter("a_requests_total", "") + "# TYPE b_requests_total counter\nb_requests_total 7\n"
	if got, err := choose(journal.Metrics{}, page(t, "10", two), page(t, "20", two), ""); err != nil || got.Counter != "a_requests_total" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestMetricsAt: what addresses there are.
func TestMetricsAt(t *testing.T) {
	for text, want := range map[string]string{
		":2112/metrics": "http://127.0.0.1:2112/metrics", ":2112": "http://127.0.0.1:2112/metrics", "https://api/m#x_seconds": "https://api/m",
		"http://u:p@h/metrics": "http://u:xxxxx@h/metrics", "2112": "", "/metrics": "", "ftp://h/": "",
	} {
		m, err := MetricsAt(text, nil)
		if (err != nil) != (want == "") || err == nil && m.URL != want {
			t.Errorf("%q: %+v, %v; expected %q", text, m, err, want)
		}
	}
}

// What a server writes in its status line reaches no terminal as it is.
func TestStatusLine(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 503 \x1b[2Jno\r\nContent-Length: 0\r\n\r\n")
	}))
	defer s.Close()
	_, err := must.Get(MetricsAt(s.URL, nil))(t).page(t.Context(), time.Minute)
	if err == nil || !strings.Contains(err.Error(), "503") || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("%q", err)
	}
}

// TestRedirect: a page that leads to another server is not followed, with an API key among the headers.
func TestRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the other server got %v", r.Header) }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer server.Close()
	m := must.Get(MetricsAt(server.URL, http.Header{"X-Api-Key": {"k"}}))(t)
	if _, err := m.page(t.Context(), 10*time.Second); err == nil || !strings.HasSuffix(err.Error(), "/metrics: 302 Found") {
		t.Error(err)
	}
}

// TestSums: requests, failures and latency of all series, without those for the page itself.
func TestSums(t *testing.T) {
	const h = "http_request_duration_seconds"
	text := histogram(h, `code="200",handler="/"`) + strings.ReplaceAll(histogram(h, `code="500",handler="/"`), "# TYPE "+h+" histogram\n", "") +
		strings.ReplaceAll(histogram(h, `code="200",handler="/metrics"`), "# TYPE "+h+" histogram\n", "")
	m := &Metrics{Metrics: journal.Metrics{Histogram: h}, own: "/metrics", status: h}
	is := m.sums(page(t, "20", text))
	if is.Requests != 240 || is.Failed != 120 || is.Handler.Sum != 10 || len(is.Handler.Counts) != 3 || is.Handler.Counts[0] != 2 || is.Handler.Counts[1] != 38 || is.Handler.Counts[2] != 200 {
		t.Errorf("%+v", is)
	}
	m.bounds = []float64{0.01, 0.1}
	if got := m.quantile(is.Handler, 0.1); got < 10*time.Millisecond || got > 100*time.Millisecond {
		t.Errorf("a quantile of %v in the bucket from 10 to 100 ms", got)
	}
	// What is in the first bucket is not known, and what is in the last one is more than all bounds.
	for q, want := range map[float64]time.Duration{0.001: 0, 0.99: math.MaxInt64} {
		if got := m.quantile(is.Handler, q); got != want {
			t.Errorf("a quantile of %v at %g", got, q)
		}
	}
	// A journal has no number for that.
	e := &Experiment{BucketEnd: m.bucketEnd, Quantile: m.quantile}
	e.Header.Live = &journal.Live{LatencyBy: judge.ByMetrics}
	trial := &journal.Trial{Live: &journal.Slice{}}
	e.counted(trial, Reading{}, Reading{}, Reading{Handler: is.Handler})
	if got := trial.Metrics[judge.FigureLatencyP99]; got != (journal.Metric{Value: 0.1, Better: "lower", AtLeast: true}) {
		t.Errorf("%+v", got)
	}
}

// Caddy counts a request in every handler that it passes: it is one request.
func TestHandlersOfCaddy(t *testing.T) {
	const h = "caddy_http_request_duration_seconds"
	text := histogram(h, `handler="vars"`)
	for _, inner := range []string{"file_server", "metrics"} {
		text += strings.ReplaceAll(histogram(h, `handler="`+inner+`"`), "# TYPE "+h+" histogram\n", "")
	}
	text = strings.Replace(text, `_sum{handler="vars"} 5`, `_sum{handler="vars"} N`, 1) // it has the others within it
	before, after := page(t, "10", text), page(t, "20", text)
	if got := busiest(before[h], after[h]); got != "vars" {
		t.Errorf("the outermost handler is %q", got)
	}
	m := &Metrics{Metrics: journal.Metrics{Histogram: h, Handler: "vars"}}
	m.ofHandler(after)
	if got := m.sums(after); got.Requests != 120 || got.Handler.Sum != 20 {
		t.Errorf("%+v", got)
	}
	// Others have a handler for each route: their sum counts.
	routes := page(t, "20", histogram("http_request_duration_seconds", `handler="a"`))
	m.ofHandler(routes)
	if n := countOf(routes["http_request_duration_seconds"], ""); n != 120 {
		t.Errorf("%g requests", n)
	}
}

// FuzzMetrics: a page is anybody's text. Whatever it has, requests do not run backwards by
// what one page says of itself.
func FuzzMetrics(f *testing.F) {
	f.Add(histogram("http_request_duration_seconds", `code="500"`) + counter("http_requests_total", ""))
	f.Add("# TYPE http_request_duration_seconds histogram\nhttp_request_duration_seconds_bucket{le=\"NaN\"} NaN\nhttp_request_duration_seconds_sum -Inf\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parsePage(strings.NewReader(text))
		if err != nil {
			return
		}
		chosen, err := choose(journal.Metrics{}, nil, all, "/metrics")
		if err != nil {
			return
		}
		m := &Metrics{Metrics: chosen, own: "/metrics"}
		r := m.sums(all)
		m.bounds, _ = boundsOf(all[chosen.Histogram], m.own)
		if math.IsNaN(r.Handler.Sum) || r.Handler.Sum < 0 || r.Handler.Counts != nil && len(r.Handler.Counts) != len(m.bounds)+1 {
			t.Errorf("%+v", r)
		}
		m.quantile(r.Handler, 0.99)
	})
}
