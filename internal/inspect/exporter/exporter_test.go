package exporter

import (
	"flag"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/test/must"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestExposition(t *testing.T) {
	e := exporterOf(fixture())
	code, text := scrape(t, e.Handler(), "/metrics")
	if code != 200 {
		t.Fatalf("%d: %s", code, text)
	}
	for _, of := range []string{"go_goroutines ", "process_resident_memory_bytes "} {
		if runtime.GOOS == "linux" && !strings.Contains(text, "\n"+of) {
			t.Errorf("no %s: what does the exporter itself cost?", of)
		}
	}
	got := strings.ReplaceAll(ours(text), runtime.Version(), "GOVERSION")
	const golden = "testdata/metrics.txt"
	if *update {
		must.Write(t, golden, got)
	}
	if got != must.Read(t, golden) {
		t.Errorf("not as in %s (-update writes it):\n%s", golden, got)
	}
	for _, f := range families {
		if !strings.Contains(got, "\n# TYPE "+f.Name+" "+f.Type+"\n") && !strings.HasPrefix(got, "# HELP "+f.Name) {
			t.Errorf("the fixture has no %s %s", f.Type, f.Name)
		}
	}
}

func TestLint(t *testing.T) {
	e := exporterOf(fixture())
	must.OK(t, e.refresh(t.Context()))
	problems := must.Get(testutil.CollectAndLint(e))(t)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// On a node of Kubernetes a process is found by its container's identity, also where
// the runtime names a cgroup after more than that.
func TestContainers(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	scan := fixture()
	scan.Processes[2].Facts.Cgroup.Path = "/kubepods/pod1/cri-containerd-" + id + ".scope"
	e := exporterOf(scan)
	e.options.Containers = fstest.MapFS{"api-5f6d-x2_shop_server-" + id + ".log": {}}
	_, body := scrape(t, e.Handler(), "/metrics")
	must.Say(t, body, `namespace="shop",pid="100",pod="api-5f6d-x2"`, `container="server"`, `namespace="",pid="7",pod=""`)
}

// TestHostileNames parses what is served: nothing that a program is named adds a
// sample or a line.
func TestHostileNames(t *testing.T) {
	_, text := scrape(t, exporterOf(fixture()).Handler(), "/metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families := must.Get(parser.TextToMetricFamilies(strings.NewReader(text)))(t)
	pids := map[string]int{}
	for _, m := range families["procfit_process_info"].GetMetric() {
		for _, l := range m.GetLabel() {
			if v := l.GetValue(); !utf8.ValidString(v) || strings.ContainsAny(v, "\n\x1b") || len(v) > longestGroup {
				t.Errorf("label %s has %q", l.GetName(), v)
			}
			if l.GetName() == "pid" {
				pids[l.GetValue()]++
			}
		}
	}
	if len(pids) != 3 || len(families["procfit_process_gomaxprocs"].GetMetric()) != 2 {
		t.Errorf("processes %v, GOMAXPROCS of %v", pids, families["procfit_process_gomaxprocs"].GetMetric())
	}
}

// TestSeveralOfOneRule: two findings of one rule are one series, since a second
// would make the whole scrape fail.
func TestSeveralOfOneRule(t *testing.T) {
	snap := fixture()
	twice := rule.Finding{Rule: "PF009", Severity: rule.Info}
	snap.Processes[0].Findings = []rule.Finding{twice, twice, {Rule: "PF009", Severity: rule.Warning}}
	code, text := scrape(t, exporterOf(snap).Handler(), "/metrics")
	if n := strings.Count(text, `rule="PF009"`); code != 200 || n != 2 {
		t.Errorf("code %d, %d series", code, n)
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"api": "api", "": "", "a b": "a b", "\xff\xfe": "\uFFFD", "a\x00b\tc": "a\uFFFDb\uFFFDc", "日本": "日本",
		"0123456789abcdef": "0123456789abcdef", "0123456789abcdefg": "0123456789abc…", "éééééééééé": "éééééé…",
	} {
		if got := clean(in, 16); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("api", 16)
	f.Add("\xff\xc3\x28é\u202e", 5)
	f.Fuzz(func(t *testing.T, s string, longest int) {
		if longest < 4 || longest > 1000 {
			return
		}
		if got := clean(s, longest); len(got) > longest || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x00") {
			t.Errorf("%q: %q", s, got)
		}
	})
}

// many is a scan of n processes, each with more CPU time than the one before.
func many(n int) observe.Snapshot {
	snap := observe.Snapshot{At: still()}
	for i := range n {
		p := observe.Process{Started: 1, Total: observe.Counts{CPU: time.Duration(i) * time.Second}}
		p.PID, p.Name = i+1, fmt.Sprintf("p%d", i+1)
		for range 3 * mostGroups { // a hostile depth, and names that are the same when clipped
			p.Total.Groups = append(p.Total.Groups, rule.Throttling{Dir: "/" + strings.Repeat("x", 2*longestGroup)})
		}
		for g := range 3 * mostGroups {
			p.Total.Groups = append(p.Total.Groups, rule.Throttling{Dir: fmt.Sprint("/", g)})
		}
		snap.Processes = append(snap.Processes, p)
	}
	return snap
}

func TestBounds(t *testing.T) {
	e := exporterOf(many(1500))
	_, text := scrape(t, e.Handler(), "/metrics")
	if got := strings.Count(text, "\nprocfit_process_info{"); got != 1000 {
		t.Errorf("%d processes, want 1000", got)
	}
	if got := strings.Count(text, "\nprocfit_process_cgroup_periods_total{"); got != 1000*mostGroups {
		t.Errorf("%d groups, want %d", got, 1000*mostGroups)
	}
	must.Say(t, text, "\nprocfit_exporter_processes 1500", "\nprocfit_exporter_processes_dropped 500", "\n"+`procfit_process_threads{name="p501",pid="501"}`)
	if strings.Contains(text, `pid="500"`) {
		t.Error("process 500 of 1500 is not among the thousand that use the most CPU, and is exported")
	}

	e = exporterOf(many(30))
	e.options.Name = regexp.MustCompile("^p1")
	_, text = scrape(t, e.Handler(), "/metrics")
	if got := strings.Count(text, "\nprocfit_process_info{"); got != 11 || !strings.Contains(text, "\nprocfit_exporter_processes_filtered 19\n") {
		t.Errorf("%d of p1, p10 to p19", got)
	}
}
