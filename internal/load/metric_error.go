package load

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/phrase"
)

// metricCode is why a metric could not be taken.
type metricCode string

const (
	metricAbsent      metricCode = "absent"       // nothing matches
	metricNoNumber    metricCode = "no_number"    // what matches is neither a number nor a duration
	metricOutOfRange  metricCode = "out_of_range" // beyond what ratios can be made of
	metricNotPositive metricCode = "not_positive" // 0 or less, where only more has a ratio
	metricCut         metricCode = "cut"          // the output was cut where it matters
	metricUnits       metricCode = "units"        // replicas print it in different units
)

// metricError is a metric that could not be taken.
type metricError struct {
	Metric  string
	Code    metricCode
	Pattern string // the regular expression, if it was searched for
	Text    string // what was found in place of the figure
	Output  string // the end of the output, where nothing was found
}

func (e *metricError) Error() string {
	text := fmt.Sprintf("%q", phrase.Clip(e.Text, 60))
	switch e.Code {
	case metricAbsent:
		return fmt.Sprintf("metric %s: nothing in the output matches %q; %s", e.Metric, e.Pattern, e.Output)
	case metricNoNumber:
		return fmt.Sprintf("metric %s: %s, found by %q, is neither a number nor a duration", e.Metric, text, e.Pattern)
	case metricOutOfRange:
		return fmt.Sprintf("metric %s: %s, found by %q, is beyond what can be compared (%g to %g)", e.Metric, text, e.Pattern, leastFigure, mostFigure)
	case metricNotPositive:
		return fmt.Sprintf("metric %s: %s cannot be compared as a ratio: it must be more than 0", e.Metric, text)
	case metricCut:
		return fmt.Sprintf("metric %s: the output was too long to be kept whole, and what matches %q may be cut short or not the last: print less, or print it at the end", e.Metric, e.Pattern)
	}
	return fmt.Sprintf("metric %s: the replicas print it in different units", e.Metric)
}
