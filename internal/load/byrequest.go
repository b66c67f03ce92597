package load

import "github.com/HdrHistogram/hdrhistogram-go"

// RequestResult is what became of the requests of one name in a mix.
type RequestResult struct {
	Name       string
	Answered   int64 // whatever the status
	Errors     int64 // bad statuses, and requests that failed
	Unanswered int64 // under way when the run ended
	Dropped    int64 // intended and never sent, by a sample of them
	// Latency is as Result.Latency, in two digits.
	Latency *hdrhistogram.Histogram
}

// newCoarse holds 1 ns to maxLatency in two digits, about 40 KB: a mix has one for
// each name and thread.
func newCoarse() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(maxLatency), 2)
}

// byRequest makes the counts of a mix; nil without one.
func (m *mix) byRequest() []RequestResult {
	if m == nil {
		return nil
	}
	list := make([]RequestResult, len(m.names))
	for i, name := range m.names {
		list[i] = RequestResult{Name: name, Latency: newCoarse()}
	}
	return list
}

func (r *RequestResult) add(o *RequestResult) {
	r.Answered += o.Answered
	r.Errors += o.Errors
	r.Unanswered += o.Unanswered
	r.Dropped += o.Dropped
	r.Latency.Merge(o.Latency)
}

// of is the counts of an exchange's request; nil without a mix.
func (l *lane) byName(request int32) *RequestResult {
	if l.mix == nil {
		return nil
	}
	return &l.perRequest[l.mix.of[request]]
}
