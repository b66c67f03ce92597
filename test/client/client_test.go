package client

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/testutil"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/metrics"
)

// pod is a program in a pod of 1.5 CPUs.
var pod = metrics.Reading{
	Procs: 2, Affinity: 64, Limit: 1.5, File: "/sys/fs/cgroup/pod/cpu.max",
	Groups: []metrics.Group{{Dir: "/sys/fs/cgroup/pod", CPUs: 1.5, Throttling: facts.Throttling{Periods: 100, ThrottledPeriods: 25, Throttled: 1500 * time.Millisecond}}},
}

// TestBesideTheirs: the Collector and client_golang's own two share a registry, and
// GOMAXPROCS is there once.
func TestBesideTheirs(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), NewCollector())
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var procs []string
	ours := 0
	for _, f := range families {
		if strings.Contains(f.GetName(), "gomaxprocs") {
			procs = append(procs, f.GetName())
		}
		if strings.HasPrefix(f.GetName(), "maxprocs_") {
			ours++
		}
	}
	if len(procs) != 1 || procs[0] != "go_sched_gomaxprocs_threads" || ours == 0 {
		t.Errorf("GOMAXPROCS is in %q, and %d families are ours", procs, ours)
	}
}

// fixed sends one reading.
type fixed struct {
	*Collector
	r metrics.Reading
}

func (f fixed) Collect(ch chan<- prometheus.Metric) { f.send(ch, f.r) }

// TestSameNames: the Collector and the handler without a client library say the
// same by the same names, and only the handler has bursts.
func TestSameNames(t *testing.T) {
	const want = `
# HELP maxprocs_affinity_cpus CPUs that the process may run on.
# TYPE maxprocs_affinity_cpus gauge
maxprocs_affinity_cpus 64
# HELP maxprocs_cfs_periods_total Periods in which the cgroup wanted to run.
# TYPE maxprocs_cfs_periods_total counter
maxprocs_cfs_periods_total{cgroup="/sys/fs/cgroup/pod"} 100
# HELP maxprocs_cfs_throttled_periods_total Periods in which the cgroup was throttled.
# TYPE maxprocs_cfs_throttled_periods_total counter
maxprocs_cfs_throttled_periods_total{cgroup="/sys/fs/cgroup/pod"} 25
# HELP maxprocs_cfs_throttled_seconds_total Time that the cgroup was throttled, summed over CPUs.
# TYPE maxprocs_cfs_throttled_seconds_total counter
maxprocs_cfs_throttled_seconds_total{cgroup="/sys/fs/cgroup/pod"} 1.5
# HELP maxprocs_limit_cpus Tightest CPU limit of the cgroup of the process and its parent cgroups, in CPUs.
# TYPE maxprocs_limit_cpus gauge
maxprocs_limit_cpus{source="/sys/fs/cgroup/pod/cpu.max"} 1.5
# HELP maxprocs_limits_unknown CPU limits that could not be read or found.
# TYPE maxprocs_limits_unknown gauge
maxprocs_limits_unknown 0
`
	if err := testutil.CollectAndCompare(fixed{NewCollector(), pod}, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	var live strings.Builder
	if err := metrics.Write(&live); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(live.String(), "\n") {
		name, help := strings.CutPrefix(line, "# HELP ")
		if help && strings.HasPrefix(name, "maxprocs_") && !strings.HasPrefix(name, "maxprocs_cfs_burst") && !strings.Contains(want, line+"\n") {
			t.Errorf("the handler has a family that the Collector has not: %s", line)
		}
	}
}

func TestObserve(t *testing.T) {
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	if _, err := observe(provider.Meter("test"), func() metrics.Reading { return pod }); err != nil {
		t.Fatal(err)
	}
	var got metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &got); err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, scope := range got.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Gauge[float64]:
				values[m.Name] = d.DataPoints[0].Value
			case metricdata.Sum[float64]:
				values[m.Name] = d.DataPoints[0].Value
			}
		}
	}
	if len(values) != 2 || values["maxprocs.limit"] != 1.5 || values["maxprocs.cfs.throttled"] != 1.5 {
		t.Errorf("%v", values)
	}
}
