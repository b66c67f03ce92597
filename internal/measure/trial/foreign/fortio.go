package foreign

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/load"
)

// fortio's threads each send when their answer has come, no sooner than -qps asks,
// and its clock starts at the send (periodic/periodic.go): after a stall it catches
// up, but the requests that were late to be sent look fast.

func fitsFortioJSON(o *output) bool {
	return o.with("DurationHistogram", "ActualQPS", "RequestedQPS") != nil
}

// readFortioJSON reads fortio load -json; times are in seconds.
func readFortioJSON(o *output, r *Report) error {
	var v struct {
		ActualQPS         float64
		DurationHistogram struct {
			Count, Max, Avg float64
			Percentiles     []struct{ Percentile, Value float64 }
		}
		ErrorsDurationHistogram struct{ Count float64 }
	}
	if err := json.Unmarshal(o.with("DurationHistogram", "ActualQPS", "RequestedQPS").raw, &v); err != nil {
		return fmt.Errorf("the JSON of fortio: %w", err)
	}
	h := v.DurationHistogram
	for _, p := range h.Percentiles {
		r.setPercentile(p.Percentile, p.Value)
	}
	r.times(1, h.Avg, h.Max)
	setNumber(&r.Throughput, v.ActualQPS)
	setNumber(&r.Requests, h.Count)
	setNumber(&r.Errors, v.ErrorsDurationHistogram.Count)
	return nil
}

func fitsFortio(o *output) bool { return o.contains("Aggregated Function Time", "All done ") }

// readFortio reads what fortio load prints:
//
//	Aggregated Function Time : count 1000 avg 0.00098 +/- 0.0022 min 3.2e-05 max 0.0218 sum 0.98
//	# target 99% 0.0135
//	Error cases : count 100 avg 0.00068 +/- 0.001 min 7.1e-05 max 0.0068 sum 0.068
//	All done 1000 calls (plus 8 warmup) 0.987 ms avg, 499.8 qps
//
// The percentiles of its connections stand further below.
func readFortio(o *output, r *Report) error {
	inside := false
	for line := range strings.Lines(string(o.text)) {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Aggregated Function Time"):
			inside = true
			r.fortioSummary(words)
		case inside && len(words) == 4 && words[0] == "#" && words[1] == "target":
			p, ok := load.Number(strings.TrimSuffix(words[2], "%"))
			if v, fine := load.Number(words[3]); ok && fine {
				r.setPercentile(p, v)
			}
		case strings.HasPrefix(line, "Error cases"):
			inside = false
			n, _ := load.Number(after(words, "count"))
			setNumber(&r.Errors, n)
		case strings.HasPrefix(line, "All done") && len(words) > 2:
			if v, ok := load.Number(words[len(words)-2]); ok {
				r.Throughput = &v
			}
		}
	}
	if r.Requests == nil || r.Throughput == nil {
		return unreadable(Fortio, "All done … qps", o)
	}
	return nil
}

func (f *Figures) fortioSummary(words []string) {
	for name, to := range map[string]**float64{"avg": &f.Mean, "max": &f.Max} {
		if v, ok := load.Number(after(words, name)); ok {
			setPositive(to, v)
		}
	}
	if n, ok := load.Number(after(words, "count")); ok {
		f.Requests = &n
	}
}

// after is the word behind another; empty where there is none.
func after(words []string, word string) string {
	for i := range len(words) - 1 {
		if words[i] == word {
			return words[i+1]
		}
	}
	return ""
}
