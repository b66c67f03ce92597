package foreign

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/load"
)

// clockOha: a worker of oha sends when its answer has come, at most so often as -q
// says, and its clock starts at the send; with --latency-correction, which needs -q, it
// starts when the send was due (README.md).
func clockOha(command string, _ *output) Clock {
	if has(command, "--latency-correction") && has(command, "-q") {
		return ClockIntended
	}
	return ClockSend
}

func fitsOhaJSON(o *output) bool {
	return o.with("summary", "latencyPercentiles", "statusCodeDistribution") != nil
}

// cutByDeadline is what oha calls requests that were under way at the end of -z: the
// end is no failure.
const cutByDeadline = "aborted due to deadline"

// readOhaJSON reads oha --output-format json, in older versions -j, by the schema that
// its project publishes (schema.json); times are in seconds.
func readOhaJSON(o *output, r *Report) error {
	var v struct {
		Summary struct {
			Slowest, Average, RequestsPerSec float64
		}
		Percentiles map[string]float64 `json:"latencyPercentiles"`
		Codes       map[string]float64 `json:"statusCodeDistribution"`
		Errors      map[string]float64 `json:"errorDistribution"`
	}
	if err := json.Unmarshal(o.with("summary", "latencyPercentiles", "statusCodeDistribution").raw, &v); err != nil {
		return fmt.Errorf("the JSON of oha: %w", err)
	}
	for name, seconds := range v.Percentiles {
		if p, ok := load.Number(strings.TrimPrefix(name, "p")); ok {
			r.setPercentile(p, seconds)
		}
	}
	r.times(1, v.Summary.Average, v.Summary.Slowest)
	setNumber(&r.Throughput, v.Summary.RequestsPerSec)
	r.codes(v.Codes)
	for what, n := range v.Errors {
		if what != cutByDeadline && r.Errors != nil {
			setNumber(&r.Errors, *r.Errors+n)
		}
	}
	return nil
}
