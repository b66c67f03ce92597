package load

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/phrase"
)

// Metric is a figure to be found in a program's output.
type Metric struct {
	Text   string // as it was given
	Name   string
	Better string // lower, higher
	Regexp *regexp.Regexp
}

// Value is a metric found.
type Value struct {
	Value  float64
	Unit   string // seconds where the output had a duration, else empty
	Better string
}

// CheckRatio refuses a figure that cannot be compared with others as a ratio, as
// what a verdict rests on must be: one that is 0 or less.
func (v Value) CheckRatio(name string) error {
	if v.Value > 0 {
		return nil
	}
	return &metricError{Metric: name, Code: metricNotPositive, Text: strconv.FormatFloat(v.Value, 'g', -1, 64)}
}

const (
	BetterLower  = "lower"
	BetterHigher = "higher"
)

// ParseMetric reads NAME[:lower|:higher]=REGEXP. The figure is the first group
// of the regular expression. Without a direction, less is better where the name
// speaks of time, cost or failure (p99, latency, seconds, ns_op, errors), else
// more (throughput, ops_per_sec).
func ParseMetric(text string) (Metric, error) {
	left, pattern, ok := strings.Cut(text, "=")
	if !ok || pattern == "" {
		return Metric{}, fmt.Errorf("%q: write NAME[:lower|:higher]=REGEXP", text)
	}
	name, better, directed := strings.Cut(left, ":")
	if !metricName.MatchString(name) {
		return Metric{}, fmt.Errorf("%q: the name %q must be of letters, digits and . _ / - and start with a letter", text, name)
	}
	switch {
	case !directed && lowerNames.MatchString(name) && !paceNames.MatchString(name):
		better = BetterLower
	case !directed:
		better = BetterHigher
	case better != BetterLower && better != BetterHigher:
		return Metric{}, fmt.Errorf("%q: direction %q is neither lower nor higher", text, better)
	}
	re, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		return Metric{}, fmt.Errorf("%q: %w", text, err)
	}
	if re.NumSubexp() == 0 {
		return Metric{}, fmt.Errorf("%q: the regular expression needs a group around the number, such as %s=([0-9.]+)", text, name)
	}
	return Metric{Text: text, Name: name, Better: better, Regexp: re}, nil
}

var (
	metricName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._/-]*$`)
	// Parts of a name between its separators. lowerNames: percentiles, times, errors
	// and the costs per operation of Go benchmarks; paceNames, which win: what is
	// counted per time.
	lowerNames = regexp.MustCompile(`(?i)(^|[._/-])(p\d+|max|mean|min|avg|average|median|latency|lag|time|elapsed|duration|seconds|secs?|ms|us|ns|errors?|failures?|dropped|op|cpu|memory|allocs?)($|[._/-])`)
	paceNames  = regexp.MustCompile(`(?i)(^|[._/-])(throughput|rps|qps|tps|ops|per[._/-]?(s|secs?|seconds?|minutes?))($|[._/-])`)
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
		return fmt.Sprintf("metric %s: %s, found by %q, is outside the range that can be compared (%g to %g)", e.Metric, text, e.Pattern, leastFigure, mostFigure)
	case metricNotPositive:
		return fmt.Sprintf("metric %s: %s cannot be compared as a ratio: it must be more than 0", e.Metric, text)
	case metricCut:
		return fmt.Sprintf("metric %s: the output was too long to keep whole, so the match of %q may be incomplete or not the last one: print less, or print the number at the end", e.Metric, e.Pattern)
	}
	return fmt.Sprintf("metric %s: the replicas print it in different units", e.Metric)
}
