// Package client shows what package metrics is for where a client library is in
// use: a Collector of client_golang, and instruments of OpenTelemetry. Copy the
// one that you need; the library itself depends on neither.
//
// Both leave GOMAXPROCS to the client library, which has it already
// (go_sched_gomaxprocs_threads, go.processor.limit), and add what it has not: the
// CPU limit, the file that holds it, and the throttling. The Collector also has the
// affinity, which the rules and the dashboard in deploy need.
package client

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/procfit/procfit/maxprocs/metrics"
)

// Collector is a prometheus.Collector of the affinity, the CPU limit and the throttling
// of this process.
type Collector struct {
	affinity, limit, unknown, periods, throttled, seconds *prometheus.Desc
}

// NewCollector is for prometheus.MustRegister.
func NewCollector() *Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("maxprocs_"+name, help, labels, nil)
	}
	return &Collector{
		affinity:  desc("affinity_cpus", "CPUs that the process may run on."),
		limit:     desc("limit_cpus", "Tightest CPU limit of the cgroup of the process and its parent cgroups, in CPUs.", "source"),
		unknown:   desc("limits_unknown", "CPU limits that could not be read or found."),
		periods:   desc("cfs_periods_total", "Periods in which the cgroup wanted to run.", "cgroup"),
		throttled: desc("cfs_throttled_periods_total", "Periods in which the cgroup was throttled.", "cgroup"),
		seconds:   desc("cfs_throttled_seconds_total", "Time that the cgroup was throttled, summed over CPUs.", "cgroup"),
	}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.affinity, c.limit, c.unknown, c.periods, c.throttled, c.seconds} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) { c.send(ch, metrics.Read()) }

func (c *Collector) send(ch chan<- prometheus.Metric, r metrics.Reading) {
	send := func(d *prometheus.Desc, t prometheus.ValueType, value float64, label ...string) {
		ch <- prometheus.MustNewConstMetric(d, t, value, label...)
	}
	if r.Affinity > 0 {
		send(c.affinity, prometheus.GaugeValue, float64(r.Affinity))
	}
	if r.Limit > 0 {
		send(c.limit, prometheus.GaugeValue, r.Limit, r.File)
	}
	send(c.unknown, prometheus.GaugeValue, float64(len(r.Unknown)))
	for _, g := range r.Groups {
		send(c.periods, prometheus.CounterValue, float64(g.Periods), g.Dir)
		send(c.throttled, prometheus.CounterValue, float64(g.ThrottledPeriods), g.Dir)
		send(c.seconds, prometheus.CounterValue, g.Throttled.Seconds(), g.Dir)
	}
}

// Observe registers the CPU limit and the throttling of this process with a meter.
func Observe(meter metric.Meter) (metric.Registration, error) { return observe(meter, metrics.Read) }

func observe(meter metric.Meter, read func() metrics.Reading) (metric.Registration, error) {
	limit, err := meter.Float64ObservableGauge("maxprocs.limit", metric.WithUnit("{cpu}"),
		metric.WithDescription("Tightest CPU limit of the process's cgroups."))
	if err != nil {
		return nil, err
	}
	seconds, err := meter.Float64ObservableCounter("maxprocs.cfs.throttled", metric.WithUnit("s"),
		metric.WithDescription("Time that the cgroup was throttled, summed over CPUs."))
	if err != nil {
		return nil, err
	}
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		r := read()
		if r.Limit > 0 {
			o.ObserveFloat64(limit, r.Limit, metric.WithAttributes(attribute.String("source", r.File)))
		}
		for _, g := range r.Groups {
			o.ObserveFloat64(seconds, g.Throttled.Seconds(), metric.WithAttributes(attribute.String("cgroup", g.Dir)))
		}
		return nil
	}, limit, seconds)
}
