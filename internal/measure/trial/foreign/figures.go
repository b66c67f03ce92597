package foreign

import (
	"math"

	"github.com/procfit/procfit/internal/load"
)

// percentile is where the figure for a percentile belongs, or nil.
func (f *Figures) percentile(p float64) **float64 {
	switch p {
	case 50:
		return &f.P50
	case 75:
		return &f.P75
	case 90:
		return &f.P90
	case 99:
		return &f.P99
	case 99.9:
		return &f.P999
	}
	return nil
}

// setPercentile sets the figure of a percentile that is kept, once.
func (f *Figures) setPercentile(p, seconds float64) {
	if to := f.percentile(p); to != nil && *to == nil {
		setPositive(to, seconds)
	}
}

// setPositive sets a time or a pace, unless it is 0, which is for want of any: no
// request takes none. What no float64 of a generator can be is none either.
func setPositive(to **float64, v float64) {
	if v > 0 && !math.IsInf(v, 0) {
		*to = &v
	}
}

// setSeconds sets a time that was printed with its unit.
func setSeconds(to **float64, text string) {
	if v, ok := load.Seconds(text); ok {
		setPositive(to, v)
	}
}

// setNumber sets a count, which may be 0.
func setNumber(to **float64, v float64) {
	if v >= 0 && v <= 1e18 {
		*to = &v
	}
}

// times are figures of a summary in JSON, in one unit.
func (f *Figures) times(unit, mean, most float64) {
	setPositive(&f.Mean, mean*unit)
	setPositive(&f.Max, most*unit)
}

// goodStatus tells a status that is no error.
func goodStatus(status float64) bool { return status >= 200 && status < 400 }

// Fill puts the metrics of reserved names where the figures of generators are and
// returns the others. A plain number for a time is in seconds.
func (f *Figures) Fill(found map[string]load.Value) map[string]load.Value {
	reserved := map[string]**float64{
		"requests": &f.Requests, "errors": &f.Errors, "throughput": &f.Throughput,
		"p50": &f.P50, "p75": &f.P75, "p90": &f.P90, "p99": &f.P99, "max": &f.Max, "mean": &f.Mean,
	}
	rest := map[string]load.Value{}
	for name, value := range found {
		if to, ok := reserved[name]; ok {
			*to = &value.Value
			continue
		}
		rest[name] = value
	}
	return rest
}
