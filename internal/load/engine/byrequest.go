package engine

import (
	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/load"
)

// newCoarse holds 1 ns to maxLatency in two digits, about 40 KB: a mix has one for
// each name and thread.
func newCoarse() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(maxLatency), 2)
}

// byRequest makes the counts of a mix; nil without one.
func (m *mix) byRequest() []load.RequestResult {
	if m == nil {
		return nil
	}
	list := make([]load.RequestResult, len(m.names))
	for i, name := range m.names {
		list[i] = load.RequestResult{Name: name, Latency: newCoarse()}
	}
	return list
}

// addRequest adds what one thread counted.
func addRequest(r, o *load.RequestResult) {
	r.Answered += o.Answered
	r.Errors += o.Errors
	r.Unanswered += o.Unanswered
	r.Dropped += o.Dropped
	r.Latency.Merge(o.Latency)
}

// byName is the counts of an exchange's request; nil without a mix.
func (l *lane) byName(request int32) *load.RequestResult {
	if l.mix == nil {
		return nil
	}
	return &l.perRequest[l.mix.of[request]]
}
