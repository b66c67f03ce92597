package metrics

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/maxprocs/facts"
)

func TestRender(t *testing.T) {
	f, err := facts.ReadFS(os.DirFS("../facts/testdata/worlds/v2-tighter-parent"), 0)
	if err != nil {
		t.Fatal(err)
	}
	got := string(render(20, f, func(l facts.Limit) (facts.Throttling, error) {
		switch l.Dir {
		case "/sys/fs/cgroup/pod/app":
			return facts.Throttling{Periods: 100}, nil
		case "/sys/fs/cgroup/pod":
			return facts.Throttling{Periods: 100, ThrottledPeriods: 25, Throttled: 1500 * time.Millisecond}, nil
		}
		return facts.Throttling{}, errors.New("no such file")
	}))
	for _, want := range []string{
		"# TYPE process_gomaxprocs gauge\nprocess_gomaxprocs 20\n",
		"\nprocess_cpu_affinity_cpus 64\n",
		`process_cpu_limit_cpus{source="/sys/fs/cgroup/pod/cpu.max"} 1.5` + "\n",
		"\nprocess_cpu_limits_unknown 0\n",
		`process_cpu_throttled_periods_total{cgroup="/sys/fs/cgroup/pod/app"} 0` + "\n" + `process_cpu_throttled_periods_total{cgroup="/sys/fs/cgroup/pod"} 25` + "\n",
		`process_cpu_throttled_seconds_total{cgroup="/sys/fs/cgroup/pod"} 1.5` + "\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	valid(t, got)
}

// valid holds the text against the format: a family's type once, then samples.
func valid(t *testing.T, text string) {
	t.Helper()
	sample := regexp.MustCompile(`^([a-z_]+)(\{[a-z]+="(\\.|[^"\\])*"\})? [0-9.e+-]+$`)
	typed := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, _, _ := strings.Cut(rest, " ")
			if typed[name] {
				t.Errorf("%s is typed twice", name)
			}
			typed[name] = true
		} else if !strings.HasPrefix(line, "# HELP ") {
			if m := sample.FindStringSubmatch(line); m == nil || !typed[m[1]] {
				t.Errorf("no sample of a typed family: %q", line)
			}
		}
	}
}

func TestHandler(t *testing.T) {
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	want := fmt.Sprintf("\nprocess_gomaxprocs %d\n", runtime.GOMAXPROCS(0))
	if w.Code != 200 || !strings.Contains(w.Body.String(), want) || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Errorf("%d, %v, no %q in\n%s", w.Code, w.Header(), want, w.Body)
	}
	valid(t, w.Body.String())
}

func ExampleHandler() {
	mux := http.NewServeMux()
	mux.Handle("/metrics/procs", Handler())

	// Whoever uses client_golang has go_sched_gomaxprocs_threads from its Go
	// collector, and gets the name process_gomaxprocs by one line:
	//
	//	prometheus.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "process_gomaxprocs"}, func() float64 { return float64(runtime.GOMAXPROCS(0)) }))

	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/metrics/procs", nil))
	line, _, _ := strings.Cut(w.Body.String(), "\n")
	fmt.Println(line)
	// Output: # HELP process_gomaxprocs GOMAXPROCS of the Go runtime.
}
