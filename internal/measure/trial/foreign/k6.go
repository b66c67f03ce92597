package foreign

import (
	"strings"

	"github.com/procfit/procfit/internal/load"
)

// clockK6: k6 starts an iteration when it is due, if its executor has an arrival rate
// and a virtual user is free; else it counts a dropped iteration (its documentation,
// "Open and closed models"). Its clock starts at the send, after the connection is
// made. Which executor ran stands above the summary, without --quiet.
func clockK6(_ string, o *output) Clock {
	if o.contains(" iterations/s ") && !o.contains(" looping VUs") && !o.contains("\n    dropped_iterations") && !o.contains(" shared among ") {
		return ClockPaced
	}
	return ClockSend
}

func fitsK6(o *output) bool { return o.contains("http_reqs.", "http_req_duration.") }

// readK6 reads k6's summary:
//
//	http_req_duration..............: avg=711.65µs min=170.56µs med=390.72µs max=26.16ms p(90)=517.05µs p(99)=7.78ms
//	http_req_failed................: 9.97% 40 out of 401
//	http_reqs......................: 401   200.327273/s
//
// A p99 is there with summaryTrendStats: ['avg','min','med','max','p(90)','p(99)'].
func readK6(o *output, r *Report) error {
	for line := range strings.Lines(string(o.text)) {
		name, values, ok := strings.Cut(line, ": ")
		words := strings.Fields(values)
		if !ok || len(words) == 0 {
			continue
		}
		switch strings.Trim(name, " .") {
		case "http_req_duration":
			r.k6Times(words)
		case "http_req_failed":
			if n, ok := load.Number(before(words, "out")); ok {
				r.Errors = &n
			}
		case "http_reqs":
			n, ok := load.Number(words[0])
			v, fine := load.Number(strings.TrimSuffix(words[len(words)-1], "/s"))
			if ok && fine && len(words) == 2 {
				r.Requests, r.Throughput = &n, &v
			}
		}
	}
	if r.Throughput == nil {
		return unreadable(K6, "http_reqs", o)
	}
	return nil
}

func (f *Figures) k6Times(words []string) {
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "avg":
			setSeconds(&f.Mean, value)
		case "max":
			setSeconds(&f.Max, value)
		case "med":
			setSeconds(&f.P50, value)
		default:
			p, ok := load.Number(strings.TrimSuffix(strings.TrimPrefix(name, "p("), ")"))
			if v, fine := load.Seconds(value); ok && fine {
				f.setPercentile(p, v)
			}
		}
	}
}
