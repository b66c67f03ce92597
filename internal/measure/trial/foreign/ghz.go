package foreign

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/load"
)

// clockGhz: a worker of ghz sends when its answer has come; with --async when --rps
// says so, whatever still waits (runner/worker.go). Its clock starts at the send.
func clockGhz(command string, _ *output) Clock {
	if has(command, "--async") && has(command, "--rps", "-r") {
		return ClockPaced
	}
	return ClockSend
}

func fitsGhzJSON(o *output) bool {
	return o.with("latencyDistribution", "statusCodeDistribution", "rps") != nil
}

// readGhzJSON reads ghz -O json; times are in nanoseconds.
func readGhzJSON(o *output, r *Report) error {
	var v struct {
		Count, Average, Slowest, RPS float64
		Codes                        map[string]float64                      `json:"statusCodeDistribution"`
		Latencies                    []struct{ Percentage, Latency float64 } `json:"latencyDistribution"`
	}
	if err := json.Unmarshal(o.with("latencyDistribution", "statusCodeDistribution", "rps").raw, &v); err != nil {
		return fmt.Errorf("the JSON of ghz: %w", err)
	}
	for _, p := range v.Latencies {
		r.setPercentile(p.Percentage, p.Latency*1e-9)
	}
	r.times(1e-9, v.Average, v.Slowest)
	setNumber(&r.Throughput, v.RPS)
	setNumber(&r.Requests, v.Count)
	setNumber(&r.Errors, v.Count-v.Codes["OK"])
	return nil
}

func fitsGhz(o *output) bool {
	return o.contains("Summary:", "\n  Count:", "Requests/sec:", "Status code distribution:")
}

// readGhz reads what ghz prints:
//
//	Summary:
//	  Count:	18600
//	  Slowest:	16.15 ms
//	  Average:	0.81 ms
//	  Requests/sec:	9198.94
//	Latency distribution:
//	  99 % in 4.63 ms
//	Status code distribution:
//	  [OK]            18593 responses
//
// What was under way at the end of -z counts as failed: Unavailable or Canceled.
func readGhz(o *output, r *Report) error {
	var failed float64
	sections(o.text, func(section string, words []string) {
		switch section {
		case "Summary":
			r.ghzSummary(words)
		case "Latency distribution":
			if len(words) == 5 && words[1] == "%" && words[2] == "in" {
				p, ok := load.Number(words[0])
				if v, fine := load.Seconds(words[3] + words[4]); ok && fine {
					r.setPercentile(p, v)
				}
			}
		case "Status code distribution":
			n, ok := load.Number(words[1])
			if ok && strings.HasPrefix(words[0], "[") && words[0] != "[OK]" {
				failed += n
			}
		}
	})
	if r.Requests == nil || r.Throughput == nil {
		return unreadable(Ghz, "Requests/sec", o)
	}
	setNumber(&r.Errors, failed)
	return nil
}

func (f *Figures) ghzSummary(words []string) {
	n, ok := load.Number(words[1])
	switch {
	case !ok:
	case words[0] == "Count:":
		f.Requests = &n
	case words[0] == "Requests/sec:":
		f.Throughput = &n
	case len(words) == 3 && words[0] == "Slowest:":
		setSeconds(&f.Max, words[1]+words[2])
	case len(words) == 3 && words[0] == "Average:":
		setSeconds(&f.Mean, words[1]+words[2])
	}
}
