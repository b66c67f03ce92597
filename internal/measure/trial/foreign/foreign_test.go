package foreign

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// text is a figure for comparison: nil is "-".
func text(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.7g", *v)
}

func (f Figures) String() string {
	var words []string
	for _, name := range []string{"requests", "errors", "throughput", "p50", "p75", "p90", "p99", "p99.9", "max", "mean"} {
		words = append(words, strings.ReplaceAll(name, ".", "")+"="+text(f.Get(name)))
	}
	return strings.Join(words, " ")
}

// readFile reads what a generator printed, whose command was not seen.
func readFile(t testing.TB, file, command string) (*Report, error) {
	t.Helper()
	out := must.Get(os.ReadFile(filepath.Join("testdata", file)))(t)
	return Read(strings.Fields(command), load.Output{Head: out})
}

// The files are what wrk 4.1.0, hey 0.1.4, vegeta 12.12.0 and k6 1.8.1 printed against a
// small server; wrk2's is from https://github.com/giltene/wrk2/blob/master/README.md, of its
// spectrum three lines. k6_full and k6_legacy are made by k6's js/summary.js and by the
// documentation of k6 0.48.
func TestRead(t *testing.T) {
	for file, want := range map[string]string{
		"hey_errors.txt":         "requests=196 errors=4 throughput=5850.746 p50=0.0007 p75=0.0012 p90=0.0042 p99=0.0102 p999=- max=0.0102 mean=0.0013",
		"hey_plain.txt":          "requests=25178 errors=0 throughput=25158.25 p50=0.0017 p75=0.0024 p90=0.0032 p99=0.0057 p999=- max=0.012 mean=0.002",
		"hey_refused.txt":        "requests=0 errors=20 throughput=0 p50=- p75=- p90=- p99=- p999=- max=- mean=-",
		"hey_slow.txt":           "requests=20 errors=0 throughput=8.3237 p50=1.201 p75=1.2011 p90=1.2013 p99=- p999=- max=1.2014 mean=1.2008",
		"hey_status.txt":         "requests=200 errors=20 throughput=17177.6 p50=0.0005 p75=0.0007 p90=0.0008 p99=0.0011 p999=- max=0.0012 mean=0.0005",
		"hey_timeouts.txt":       "requests=0 errors=20 throughput=0 p50=- p75=- p90=- p99=- p999=- max=- mean=-",
		"k6_dropped.txt":         "requests=529 errors=0 throughput=264.4434 p50=0.00254 p75=- p90=0.00265 p99=0.00381 p999=- max=0.0065 mean=0.00257",
		"k6_full.txt":            "requests=501 errors=40 throughput=250.2841 p50=0.00039072 p75=- p90=0.00051705 p99=- p999=- max=0.02616 mean=0.00071165",
		"k6_legacy.txt":          "requests=401 errors=40 throughput=200.3273 p50=0.00039072 p75=- p90=0.00051705 p99=0.00778 p999=- max=0.02616 mean=0.00071165",
		"k6_looping.txt":         "requests=23226 errors=0 throughput=11611.9 p50=0.00019189 p75=- p90=0.00046158 p99=- p999=- max=0.10845 mean=0.00030426",
		"k6_quiet.txt":           "requests=401 errors=40 throughput=200.3273 p50=0.00039072 p75=- p90=0.00051705 p99=0.00778 p999=- max=0.02616 mean=0.00071165",
		"k6_rate.txt":            "requests=400 errors=0 throughput=199.8879 p50=0.00254 p75=- p90=0.00275 p99=0.01107 p999=- max=0.02248 mean=0.00288",
		"vegeta_json.txt":        "requests=1000 errors=0 throughput=501.02 p50=0.00033872 p75=- p90=0.005714373 p99=0.05511407 p999=- max=0.07739534 mean=0.002811873",
		"vegeta_plain.txt":       "requests=1000 errors=0 throughput=501.02 p50=0.00033872 p75=- p90=0.005714 p99=0.055114 p999=- max=0.077395 mean=0.002812",
		"vegeta_refused.txt":     "requests=0 errors=50 throughput=0 p50=0.000399993 p75=- p90=0.000532594 p99=0.004058 p999=- max=0.004058 mean=0.000533494",
		"vegeta_status.txt":      "requests=1000 errors=100 throughput=450.41 p50=0.000308554 p75=- p90=0.000548177 p99=0.004492 p999=- max=0.019167 mean=0.000463791",
		"wrk2_readme.txt":        "requests=60018 errors=0 throughput=2000.28 p50=0.00667 p75=0.00778 p90=0.00914 p99=0.01118 p999=0.0123 max=0.0125 mean=0.0066",
		"wrk_latency.txt":        "requests=47856 errors=0 throughput=47341.77 p50=0.00098 p75=0.00117 p90=0.00178 p99=0.00497 p999=- max=0.02919 mean=0.00116",
		"wrk_one_connection.txt": "requests=31758 errors=0 throughput=28874.74 p50=2.8e-05 p75=3.6e-05 p90=5.1e-05 p99=0.0012 p999=- max=0.00407 mean=5.992e-05",
		"wrk_plain.txt":          "requests=50163 errors=0 throughput=45610.23 p50=- p75=- p90=- p99=- p999=- max=0.00543 mean=0.00021241",
		"wrk_slow.txt":           "requests=24 errors=0 throughput=5.87 p50=1.21 p75=1.24 p90=1.24 p99=1.28 p999=- max=1.28 mean=1.22",
		"wrk_socket_errors.txt":  "requests=15333 errors=3834 throughput=14886.64 p50=0.000228 p75=0.000326 p90=0.0034 p99=0.07236 p999=- max=0.08794 mean=0.00397",
		"wrk_status.txt":         "requests=49074 errors=4907 throughput=44612.81 p50=0.000125 p75=0.00015 p90=0.00024 p99=0.00271 p999=- max=0.00846 mean=0.00020721",
		"wrk_timeouts.txt":       "requests=32 errors=32 throughput=6.37 p50=- p75=- p90=- p99=- p999=- max=- mean=-",
	} {
		t.Run(file, func(t *testing.T) {
			r := must.Get(readFile(t, file, ""))(t)
			if name, _, _ := strings.Cut(file, "_"); string(r.Generator) != name {
				t.Fatalf("recognised as %q", r.Generator)
			}
			if got := r.Figures.String(); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// What decides whether a latency is judged is what it counts from.
func TestClock(t *testing.T) {
	for _, tt := range []struct {
		file, command string
		want          Clock
		judged        bool
	}{
		{"wrk_latency.txt", "wrk --latency", ClockSend, false},
		{"wrk2_readme.txt", "wrk -R2000", ClockIntended, true},
		{"hey_plain.txt", "hey -q 10", ClockSend, false},
		{"vegeta_plain.txt", "sh -c 'vegeta attack -rate 500 | vegeta report'", ClockPaced, true},
		{"vegeta_json.txt", "sh -c 'vegeta attack -max-workers=16 -rate 500|vegeta report -type json'", ClockSend, false},
		{"k6_rate.txt", "k6 run", ClockPaced, true},
		{"k6_dropped.txt", "k6 run", ClockSend, false},
		{"k6_full.txt", "k6 run --summary-mode full", ClockPaced, true},
		{"k6_legacy.txt", "k6 run", ClockSend, false}, // it dropped iterations
		{"k6_looping.txt", "k6 run", ClockSend, false},
		{"k6_quiet.txt", "k6 run --quiet", ClockSend, false},
	} {
		r := must.Get(readFile(t, tt.file, tt.command))(t)
		if r.Clock != tt.want || r.Clock.Judged() != tt.judged {
			t.Errorf("%s of %q: %s, judged %v", tt.file, tt.command, r.Clock, r.Clock.Judged())
		}
	}
	if !ClockUnknown.Judged() {
		t.Error("a figure that --metric names is its user's word")
	}
}

func TestReadNothing(t *testing.T) {
	if _, err := readFile(t, "wrk_refused.txt", "ssh box taskset -c 3 wrk -d1s"); err == nil || !strings.Contains(err.Error(), "Connection refused") {
		t.Errorf("error %v does not quote what wrk said", err)
	}
	for _, command := range []string{"hey.exe -c 1", "/usr/local/bin/vegeta attack"} {
		if _, err := Read(strings.Fields(command), load.Output{}); err == nil || !strings.Contains(err.Error(), "printed nothing") {
			t.Errorf("%q: error %v", command, err)
		}
	}
	for _, printed := range []string{"", "anything", "{", "{}\n{\"summary\":1}"} {
		r, err := Read([]string{"./load.sh", "procfit"}, load.Output{Head: []byte(printed)})
		if err != nil || r.Generator != unknown || r.Clock != ClockUnknown || len(r.Figures) > 0 || r.Offered != nil {
			t.Errorf("%q: %+v, %v", printed, r, err)
		}
	}
	for _, broken := range []string{
		`{"latencies":[],"status_codes":{},"throughput":1,"requests":1}`, `{"mode":"open","achieved_per_second":-1,"latency_seconds":null,"load":{}}`,
		"Summary:\nTotal: 1.0 secs\nStatus code distribution:\n", "Thread Stats\nRequests/sec: x", "[total, rate, throughput] [code:count]",
	} {
		if r, err := Read([]string{"x"}, load.Output{Head: []byte(broken)}); err == nil {
			t.Errorf("%q: %+v", broken, r)
		}
	}
}

// The JSON is found among logs, and behind what was left out of a long output.
func TestReadAmongLogs(t *testing.T) {
	ours := `{
  "mode": "open", "rate_per_second": 1000, "duration_seconds": 3, "achieved_per_second": 999.5, "requests": 3000, "errors": 2, "unanswered": 1,
  "latency_seconds": {"p50": 0.001, "p90": 0.002, "p99": 0.003, "p999": 0.004, "max": 0.005, "mean": 0.0015},
  "load": {"cpu_seconds": 0.2, "send_lag_p99_seconds": 0.0001, "dropped": 4, "thread_busiest_ratio": 0.1}
}`
	log := "{\"level\":\"info\"}\nWarning: Permanently added 'box'\n"
	r, err := Read([]string{"ssh", "box", "procfit"}, load.Output{Head: []byte(log + "{torn"), Cut: true, Tail: []byte("x\n" + log + ours + "\nprocfit: done\n")})
	must.OK(t, err)
	l := r.Offered.LatencySeconds
	got := []float64{float64(r.Offered.Requests), float64(r.Offered.Errors), r.Offered.AchievedPerSecond, *l.P50, *l.P90, *l.P99, *l.P999, *l.Max, *l.Mean}
	if want := []float64{3000, 2, 999.5, 0.001, 0.002, 0.003, 0.004, 0.005, 0.0015}; !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if o := r.Offered; r.Clock != ClockIntended || o.Mode != journal.ModeOpen || o.Unanswered != 1 || o.Load.Dropped != 4 {
		t.Errorf("%+v", r)
	}
	if r, err = Read(nil, load.Output{Head: []byte(strings.Replace(ours, `"open"`, `"closed"`, 1))}); err != nil || r.Clock != ClockSend {
		t.Errorf("a closed loop: %+v, %v", r, err)
	}
}

// Of several summaries none is chosen, and they are not mixed.
func TestReadRepeated(t *testing.T) {
	for _, file := range []string{"wrk_latency.txt", "wrk2_readme.txt", "hey_plain.txt", "vegeta_plain.txt", "vegeta_json.txt", "k6_rate.txt", "k6_quiet.txt", "k6_legacy.txt"} {
		out := must.Get(os.ReadFile(filepath.Join("testdata", file)))(t)
		name, _, _ := strings.Cut(file, "_")
		twice := load.Output{Head: []byte(string(out) + "\n" + string(out))}
		if r, err := Read(nil, twice); err == nil || !strings.Contains(err.Error(), "the summaries of several runs of "+name+", and procfit reads one") {
			t.Errorf("%s: %+v, %v", file, r, err)
		}
	}
	ours := `{"mode":"closed","achieved_per_second":1,"duration_seconds":1,"latency_seconds":{},"load":{}}` + "\n"
	if _, err := Read(nil, load.Output{Head: []byte(ours + ours)}); err == nil || !strings.Contains(err.Error(), "several runs of procfit") {
		t.Errorf("%v", err)
	}
}

// documented are a generator's row of the page, and its patterns.
var (
	documentedRow = regexp.MustCompile(`(?m)^\| (\w+) \|.*--metric.*$`)
	documented    = regexp.MustCompile("`--metric '([^']+)'`")
)

// The outputs are what fortio 1.66.2, ghz 0.93.0 and h2load 1.52.0 printed; oha's is made by
// the schema that its project publishes, https://github.com/hatoo/oha/blob/master/schema.json.
func TestDocumentedMetrics(t *testing.T) {
	page := must.Get(os.ReadFile("../../../../docs/how-to/use-wrk-k6-vegeta.md"))(t)
	got := map[string]string{}
	for _, row := range documentedRow.FindAllStringSubmatch(string(page), -1) {
		out := must.Get(os.ReadFile(filepath.Join("testdata", "metrics", row[1]+".txt")))(t)
		printed := load.Output{Head: out}
		if r, err := Read([]string{row[1]}, printed); err != nil || r.Generator != unknown || len(r.Figures) > 0 {
			t.Errorf("%s is read as %+v, %v", row[1], r, err)
		}
		var metrics []load.Metric
		for _, pattern := range documented.FindAllStringSubmatch(row[0], -1) {
			m := must.Get(load.ParseMetric(pattern[1]))(t)
			metrics = append(metrics, m)
		}
		found, err := load.FindMetrics(printed, metrics)
		if err != nil {
			t.Fatalf("%s: %v", row[1], err)
		}
		f := Figures{}
		if rest := f.Fill(found); len(rest) > 0 {
			t.Errorf("%s: not reserved names: %v", row[1], rest)
		}
		got[row[1]] = f.String()
	}
	want := map[string]string{
		"fortio": "requests=1000 errors=100 throughput=499.7 p50=- p75=- p90=- p99=- p999=- max=- mean=-",
		"ghz":    "requests=- errors=- throughput=9198.94 p50=0.00069 p75=- p90=- p99=0.00463 p999=- max=- mean=-",
		"h2load": "requests=5000 errors=500 throughput=35363.43 p50=- p75=- p90=- p99=- p999=- max=- mean=-",
		"oha":    "requests=- errors=- throughput=502.9 p50=0.0006 p75=- p90=- p99=0.0118 p999=- max=- mean=-",
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestFill(t *testing.T) {
	f := Figures{"p90": 3}
	rest := f.Fill(map[string]load.Value{
		"throughput": {Value: 10}, "p50": {Value: 1}, "p75": {Value: 2}, "p99": {Value: 4},
		"max": {Value: 5}, "mean": {Value: 6}, "errors": {Value: 7}, "requests": {Value: 8}, "own": {Value: 9},
	})
	if got, want := f.String(), "requests=8 errors=7 throughput=10 p50=1 p75=2 p90=3 p99=4 p999=- max=5 mean=6"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if len(rest) != 1 || rest["own"].Value != 9 {
		t.Errorf("left over: %v", rest)
	}
}

// FuzzRead: whatever is read is finite and not negative.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		out := must.Get(os.ReadFile(file))(f)
		f.Add(out)
	}
	f.Add([]byte(`{"mode":"open","rate_per_second":1,"duration_seconds":1,"achieved_per_second":1,"requests":1,"latency_seconds":{"p50":-1},"load":{}}`))
	f.Fuzz(func(t *testing.T, out []byte) {
		r, err := Read([]string{"x", "-max-workers"}, load.Output{Head: out})
		if err != nil {
			return
		}
		if o := r.Offered; o != nil && (o.Requests < 0 || o.Errors < 0 || !(o.AchievedPerSecond >= 0) || math.IsInf(o.AchievedPerSecond, 0)) {
			t.Fatalf("%+v", o)
		}
		for _, v := range r.Figures {
			if !(v >= 0) || math.IsInf(v, 0) {
				t.Fatalf("%s", r.Figures)
			}
		}
	})
}
