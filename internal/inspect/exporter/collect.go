package exporter

import (
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
	for _, r := range v.rows {
		for _, m := range r.metrics {
			send(m)
		}
	}
}
