package foreign

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/load"
)

// clockVegeta: vegeta sends when a request is due and starts another worker where all
// are busy, so that none waits, unless -max-workers bounds them (lib/attack.go); its
// clock starts at the send.
func clockVegeta(command string, _ *output) Clock {
	if has(command, "-max-workers", "--max-workers") {
		return ClockSend
	}
	return ClockPaced
}

func fitsVegetaJSON(o *output) bool {
	return o.with("latencies", "status_codes", "throughput", "requests") != nil
}

// readVegetaJSON reads vegeta report -type json; times are in nanoseconds.
func readVegetaJSON(o *output, r *Report) error {
	var v struct {
		Latencies  map[string]float64 `json:"latencies"`
		Throughput float64            `json:"throughput"`
		Codes      map[string]float64 `json:"status_codes"`
	}
	raw := o.with("latencies", "status_codes", "throughput", "requests").raw
	if err := json.Unmarshal(raw, &v); err != nil {
		return fmt.Errorf("the report of vegeta: %w", err)
	}
	for name, p := range map[string]float64{"50th": 50, "90th": 90, "99th": 99} {
		r.setPercentile(p, v.Latencies[name]*1e-9)
	}
	r.times(1e-9, v.Latencies["mean"], v.Latencies["max"])
	setNumber(&r.Throughput, v.Throughput)
	r.codes(v.Codes)
	return nil
}

// codes counts answers and errors by status; 0 is a request without an answer.
func (f *Figures) codes(codes map[string]float64) {
	var answered, failed float64
	for code, n := range codes {
		status, _ := load.Number(code)
		if status > 0 {
			answered += n
		}
		if !goodStatus(status) {
			failed += n
		}
	}
	setNumber(&f.Requests, answered)
	setNumber(&f.Errors, failed)
}

func fitsVegeta(o *output) bool { return o.contains("[total, rate, throughput]", "[code:count]") }

// readVegeta reads vegeta report:
//
//	Requests      [total, rate, throughput]         1000, 501.13, 501.02
//	Latencies     [min, mean, 50, 90, 95, 99, max]  103.823µs, 2.812ms, …
//	Status Codes  [code:count]                      200:900  503:100
//
// The throughput is of good answers.
func readVegeta(o *output, r *Report) error {
	for line := range strings.Lines(string(o.text)) {
		head, rest, ok := strings.Cut(line, "]")
		what, names, isTable := strings.Cut(head, "[")
		if !ok || !isTable {
			continue
		}
		values := strings.Split(rest, ",")
		switch strings.TrimSpace(what) {
		case "Requests":
			if v, ok := load.Number(strings.TrimSpace(values[len(values)-1])); ok && len(values) == 3 {
				r.Throughput = &v
			}
		case "Latencies":
			r.vegetaTimes(strings.Split(names, ","), values)
		case "Status Codes":
			codes := map[string]float64{}
			for _, word := range strings.Fields(rest) {
				code, count, _ := strings.Cut(word, ":")
				if n, ok := load.Number(count); ok {
					codes[code] = n
				}
			}
			r.codes(codes)
		}
	}
	if r.Throughput == nil || r.Requests == nil {
		return unreadable(Vegeta, "Requests [total, rate, throughput]", o)
	}
	return nil
}

// vegetaTimes reads times by their names: mean, 50, 99, max.
func (f *Figures) vegetaTimes(names, values []string) {
	for i := range min(len(names), len(values)) {
		text := strings.TrimSpace(values[i])
		switch name := strings.TrimSpace(names[i]); name {
		case "mean":
			setSeconds(&f.Mean, text)
		case "max":
			setSeconds(&f.Max, text)
		default:
			p, ok := load.Number(name)
			if v, fine := load.Seconds(text); ok && fine {
				f.setPercentile(p, v)
			}
		}
	}
}
