package metrics

import (
	"fmt"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/internal/must"
)

// recorded is a world with what its groups count.
func recorded(t *testing.T) facts.Facts {
	t.Helper()
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	return must.Get(facts.ReadFS(fstest.MapFS{
		"proc/self/cgroup":                   text("0::/pod/app\n"),
		"proc/self/mountinfo":                text("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
		"proc/self/status":                   text("Cpus_allowed_list:\t0-63\n"),
		"proc/self/environ":                  text(""),
		"sys/devices/system/cpu/online":      text("0-63\n"),
		"sys/fs/cgroup/pod/app/cgroup.procs": text(""),
		"sys/fs/cgroup/pod/app/cpu.max":      text("2000000 100000\n"),
		"sys/fs/cgroup/pod/app/cpu.stat":     text("nr_periods 100\nnr_throttled 0\nthrottled_usec 0\n"),
		"sys/fs/cgroup/pod/cpu.max":          text("150000 100000\n"),
		"sys/fs/cgroup/pod/cpu.stat":         text("nr_periods 100\nnr_throttled 25\nthrottled_usec 1500000\nnr_bursts 7\nburst_usec 250000\n"),
		"sys/fs/cgroup/cpu.max":              text("6400000 100000\n"), // and no cpu.stat
	}, 0))(t)
}

func TestRender(t *testing.T) {
	got := string(render(reading(20, recorded(t))))
	for _, want := range []string{
		"# TYPE process_gomaxprocs gauge\nprocess_gomaxprocs 20\n",
		"\nmaxprocs_affinity_cpus 64\n",
		`maxprocs_limit_cpus{source="/sys/fs/cgroup/pod/cpu.max"} 1.5` + "\n",
		"\nmaxprocs_limits_unknown 0\n",
		`maxprocs_cfs_periods_total{cgroup="/sys/fs/cgroup/pod/app"} 100` + "\n" + `maxprocs_cfs_periods_total{cgroup="/sys/fs/cgroup/pod"} 100` + "\n#",
		`maxprocs_cfs_throttled_periods_total{cgroup="/sys/fs/cgroup/pod/app"} 0` + "\n" + `maxprocs_cfs_throttled_periods_total{cgroup="/sys/fs/cgroup/pod"} 25` + "\n",
		`maxprocs_cfs_throttled_seconds_total{cgroup="/sys/fs/cgroup/pod"} 1.5` + "\n",
		`maxprocs_cfs_bursts_total{cgroup="/sys/fs/cgroup/pod/app"} 0` + "\n" + `maxprocs_cfs_bursts_total{cgroup="/sys/fs/cgroup/pod"} 7` + "\n",
		`maxprocs_cfs_burst_seconds_total{cgroup="/sys/fs/cgroup/pod"} 0.25` + "\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	valid(t, got)
}

// TestNames: client_golang's process collector has the prefix process_, and its Go
// collector go_; what is ours does not look like theirs.
func TestNames(t *testing.T) {
	for _, line := range strings.Split(string(render(reading(20, recorded(t)))), "\n") {
		name, isType := strings.CutPrefix(line, "# TYPE ")
		if isType && !strings.HasPrefix(name, "maxprocs_") && name != "process_gomaxprocs gauge" {
			t.Errorf("a name with another's prefix: %s", name)
		}
	}
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
