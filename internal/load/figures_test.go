package load

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// text is a figure for comparison: nil is "-".
func text(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.7g", *v)
}

func (f *Figures) String() string {
	return fmt.Sprintf("requests=%s errors=%s throughput=%s p50=%s p75=%s p90=%s p99=%s max=%s mean=%s",
		text(f.Requests), text(f.Errors), text(f.Throughput), text(f.P50), text(f.P75), text(f.P90), text(f.P99), text(f.Max), text(f.Mean))
}

// The files are what wrk 4.1.0 and hey 0.1.4 printed against a small server.
func TestParseGenerators(t *testing.T) {
	for file, want := range map[string]string{
		"wrk_latency.txt":        "requests=47856 errors=0 throughput=47341.77 p50=0.00098 p75=0.00117 p90=0.00178 p99=0.00497 max=0.02919 mean=0.00116",
		"wrk_one_connection.txt": "requests=31758 errors=0 throughput=28874.74 p50=2.8e-05 p75=3.6e-05 p90=5.1e-05 p99=0.0012 max=0.00407 mean=5.992e-05",
		"wrk_plain.txt":          "requests=50163 errors=0 throughput=45610.23 p50=- p75=- p90=- p99=- max=0.00543 mean=0.00021241",
		"wrk_socket_errors.txt":  "requests=15333 errors=3834 throughput=14886.64 p50=0.000228 p75=0.000326 p90=0.0034 p99=0.07236 max=0.08794 mean=0.00397",
		"wrk_status.txt":         "requests=49074 errors=4907 throughput=44612.81 p50=0.000125 p75=0.00015 p90=0.00024 p99=0.00271 max=0.00846 mean=0.00020721",
		"wrk_timeouts.txt":       "requests=32 errors=32 throughput=6.37 p50=- p75=- p90=- p99=- max=- mean=-",
		"hey_plain.txt":          "requests=25178 errors=0 throughput=25158.25 p50=0.0017 p75=0.0024 p90=0.0032 p99=0.0057 max=0.012 mean=0.002",
		"hey_status.txt":         "requests=200 errors=20 throughput=17177.6 p50=0.0005 p75=0.0007 p90=0.0008 p99=0.0011 max=0.0012 mean=0.0005",
		"hey_errors.txt":         "requests=196 errors=4 throughput=5850.746 p50=0.0007 p75=0.0012 p90=0.0042 p99=0.0102 max=0.0102 mean=0.0013",
		"hey_timeouts.txt":       "requests=0 errors=20 throughput=0 p50=- p75=- p90=- p99=- max=- mean=-",
		"hey_refused.txt":        "requests=0 errors=20 throughput=0 p50=- p75=- p90=- p99=- max=- mean=-",
		"hey_slow.txt":           "requests=20 errors=0 throughput=8.3237 p50=1.201 p75=1.2011 p90=1.2013 p99=- max=1.2014 mean=1.2008",
		"wrk_slow.txt":           "requests=24 errors=0 throughput=5.87 p50=1.21 p75=1.24 p90=1.24 p99=1.28 max=1.28 mean=1.22",
	} {
		t.Run(file, func(t *testing.T) {
			out, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			g := Recognise(nil, out)
			if string(g) != file[:3] {
				t.Fatalf("recognised as %q", g)
			}
			f, err := g.Parse(out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, f.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseNothing(t *testing.T) {
	refused, err := os.ReadFile(filepath.Join("testdata", "wrk_refused.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseWrk(refused); err == nil || !strings.Contains(err.Error(), "Connection refused") {
		t.Errorf("error %v does not quote what wrk said", err)
	}
	if _, err := ParseHey(nil); err == nil || !strings.Contains(err.Error(), "printed nothing") {
		t.Errorf("error %v", err)
	}
}

func TestParseWrk2(t *testing.T) {
	const out = `  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.02s   500.00ms   1.50m    65.00%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    1.00s
 75.000%    1.10s
 90.000%    1.20s
 99.000%    1.00m
 99.900%    1.10m
  1000 requests in 10.00s, 1.00MB read
Requests/sec:    100.00
`
	f, err := ParseWrk([]byte(out))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.String(), "requests=1000 errors=0 throughput=100 p50=1 p75=1.1 p90=1.2 p99=60 max=90 mean=1.02"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestRecognise(t *testing.T) {
	for _, tt := range []struct {
		argv string
		out  string
		want Generator
	}{
		{"wrk -c1 http://a", "", GeneratorWrk},
		{"/usr/local/bin/wrk2 -R1", "", GeneratorWrk},
		{"ssh box taskset -c 3 wrk -d1s", "", GeneratorWrk},
		{"hey.exe -c 1", "", GeneratorHey},
		{"./load.sh wrkx", "Thread Stats\nRequests/sec: 1\n", GeneratorWrk},
		{"./load.sh", "Summary:\nStatus code distribution:\n", GeneratorHey},
		{"vegeta attack", "Requests [total]", GeneratorOther},
	} {
		if got := Recognise(strings.Fields(tt.argv), []byte(tt.out)); got != tt.want {
			t.Errorf("%q, %q: %q, want %q", tt.argv, tt.out, got, tt.want)
		}
	}
	f, err := GeneratorOther.Parse([]byte("anything"))
	if err != nil || *f != (Figures{}) {
		t.Errorf("%v, %v", f, err)
	}
}

// fuzzFigures: whatever is read is finite and not negative.
func fuzzFigures(f *testing.F, prefix string, parse func([]byte) (*Figures, error)) {
	files, err := filepath.Glob(filepath.Join("testdata", prefix+"*.txt"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		out, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(out)
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		got, err := parse(out)
		if err != nil {
			return
		}
		for _, v := range []*float64{got.Requests, got.Errors, got.Throughput, got.P50, got.P75, got.P90, got.P99, got.Max, got.Mean} {
			if v != nil && (!(*v >= 0) || math.IsInf(*v, 0)) {
				t.Fatalf("%s", got)
			}
		}
	})
}

func FuzzParseWrk(f *testing.F) { fuzzFigures(f, "wrk", ParseWrk) }
func FuzzParseHey(f *testing.F) { fuzzFigures(f, "hey", ParseHey) }
