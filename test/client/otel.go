package client

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/procfit/procfit/maxprocs/metrics"
)

// Observe registers the CPU limit and the throttling of this process with a meter.
func Observe(meter metric.Meter) (metric.Registration, error) { return observe(meter, metrics.Read) }

func observe(meter metric.Meter, read func() metrics.Reading) (metric.Registration, error) {
	limit, err := meter.Float64ObservableGauge("maxprocs.limit", metric.WithUnit("{cpu}"),
		metric.WithDescription("Tightest CPU limit of the process's cgroups."))
	if err != nil {
		return nil, err
	}
	seconds, err := meter.Float64ObservableCounter("maxprocs.cfs.throttled", metric.WithUnit("s"),
		metric.WithDescription("Time that the group was held back, summed over CPUs."))
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
