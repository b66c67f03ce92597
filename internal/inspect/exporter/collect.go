package exporter

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
)

// collect sends the metrics of a view.
func (v *view) collect(send func(prometheus.Metric)) {
	send(scanDuration.metric(v.took.Seconds()))
	send(processes.metric(float64(v.processes)))
	send(others.metric(float64(v.others)))
	for _, reason := range []string{reasonPermission, reasonDamaged, reasonTime, reasonOther} {
		send(unreadable.metric(float64(v.unreadable[reason]), reason))
	}
	send(inferred.metric(float64(v.inferred)))
	send(dropped.metric(float64(v.dropped)))
	send(filtered.metric(float64(v.filtered)))
	send(counterInfo.metric(1, v.source))
	for i := range v.rows {
		v.rows[i].collect(send)
	}
}

func (r *row) collect(send func(prometheus.Metric)) {
	of := func(f Family, value float64, labels ...string) {
		send(f.metric(value, append([]string{r.pid, r.name}, labels...)...))
	}
	of(info, 1, r.goVersion, r.setBy, r.source, r.procs, r.cgroup, r.container.Namespace, r.container.Pod, r.container.Container)
	if r.gomaxprocs != nil {
		of(gomaxprocs, float64(*r.gomaxprocs))
	}
	if r.recommended != nil {
		of(recommended, float64(*r.recommended))
	}
	if r.numCPU > 0 {
		of(numCPU, float64(r.numCPU))
	}
	if r.affinity > 0 {
		of(affinityCPUs, float64(r.affinity))
	}
	if r.limit != nil {
		of(limitCPUs, *r.limit, r.limitGroup)
	}
	of(threads, float64(r.threads))
	of(cpuSeconds, r.sums.CPU.Seconds())
	if r.sums.Counted {
		of(switches, float64(r.sums.Voluntary), "voluntary")
		of(switches, float64(r.sums.Involuntary), "involuntary")
		of(waitSeconds, r.sums.Wait.Seconds())
	}
	for _, g := range r.groups {
		of(periods, float64(g.Periods), g.Dir)
		of(throttled, float64(g.ThrottledPeriods), g.Dir)
		of(throttledSec, g.Throttled.Seconds(), g.Dir)
	}
	if r.latency != nil {
		buckets := map[float64]uint64{}
		for _, b := range r.latency.Buckets() {
			if !math.IsInf(b.UpTo, 1) { // the client adds that one
				buckets[b.UpTo] = b.Count
			}
		}
		send(prometheus.MustNewConstHistogram(schedLatency.desc, r.latency.Count(), r.latency.Sum(), buckets, r.pid, r.name))
	}
	for _, f := range r.findings {
		of(findings, 1, f.rule, string(f.severity))
	}
}
