package load

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/phrase"
)

// MetricCode is why a metric could not be taken.
type MetricCode string

const (
	MetricAbsent      MetricCode = "absent"       // nothing matches
	MetricNoNumber    MetricCode = "no_number"    // what matches is neither a number nor a duration
	MetricOutOfRange  MetricCode = "out_of_range" // beyond what ratios can be made of
	MetricNotPositive MetricCode = "not_positive" // 0 or less, where only more has a ratio
	MetricCut         MetricCode = "cut"          // the output was cut where it matters
	MetricUnits       MetricCode = "units"        // replicas print it in different units
)

// MetricError is a metric that could not be taken.
type MetricError struct {
	Metric  string
	Code    MetricCode
	Pattern string // the regular expression, if it was searched for
	Text    string // what was found in place of the figure
	Output  string // the end of the output, where nothing was found
}

func (e *MetricError) Error() string {
	text := fmt.Sprintf("%q", phrase.Clip(e.Text, 60))
	switch e.Code {
	case MetricAbsent:
		return fmt.Sprintf("metric %s: nothing in the output matches %q; %s", e.Metric, e.Pattern, e.Output)
	case MetricNoNumber:
		return fmt.Sprintf("metric %s: %s, found by %q, is neither a number nor a duration", e.Metric, text, e.Pattern)
	case MetricOutOfRange:
		return fmt.Sprintf("metric %s: %s, found by %q, is beyond what can be compared (%g to %g)", e.Metric, text, e.Pattern, leastFigure, mostFigure)
	case MetricNotPositive:
		return fmt.Sprintf("metric %s: %s cannot be compared as a ratio: it must be more than 0", e.Metric, text)
	case MetricCut:
		return fmt.Sprintf("metric %s: the output was too long to be kept whole, and what matches %q may be cut short or not the last: print less, or print it at the end", e.Metric, e.Pattern)
	}
	return fmt.Sprintf("metric %s: the replicas print it in different units", e.Metric)
}
