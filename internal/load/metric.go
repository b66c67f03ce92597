package load

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/pattern"
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
	return notPositive(name, strconv.FormatFloat(v.Value, 'g', -1, 64))
}

func notPositive(name, text string) error {
	return fmt.Errorf("metric %s: %q cannot be compared as a ratio: it must be more than 0", name, phrase.Clip(text, 60))
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
	if !metricName().MatchString(name) {
		return Metric{}, fmt.Errorf("%q: the name %q must be of letters, digits and . _ / - and start with a letter", text, name)
	}
	switch {
	case !directed && lowerNames().MatchString(name) && !paceNames().MatchString(name):
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
	metricName = pattern.Of(`^[A-Za-z][A-Za-z0-9._/-]*$`)
	// Parts of a name between its separators. lowerNames: percentiles, times, errors
	// and the costs per operation of Go benchmarks; paceNames, which win: what is
	// counted per time.
	lowerNames = pattern.Of(`(?i)(^|[._/-])(p\d+|max|mean|min|avg|average|median|latency|lag|time|elapsed|duration|seconds|secs?|ms|us|ns|errors?|failures?|dropped|op|cpu|memory|allocs?)($|[._/-])`)
	paceNames  = pattern.Of(`(?i)(^|[._/-])(throughput|rps|qps|tps|ops|per[._/-]?(s|secs?|seconds?|minutes?))($|[._/-])`)
)

// Output is what a program printed.
type Output struct {
	Head []byte
	// Cut reports that text was left out after Head, amid a line for all that is known.
	// Tail is what is left of the end.
	Cut  bool
	Tail []byte
}

// whole is the output's lines without those that the cut goes through, which are
// the fragments.
func (o Output) whole() (head, tail, fragments []byte) {
	if !o.Cut {
		return o.Head, nil, nil
	}
	i := bytes.LastIndexByte(o.Head, '\n') + 1
	j := cmp.Or(bytes.IndexByte(o.Tail, '\n')+1, len(o.Tail))
	fragments = append(append(append(fragments, o.Head[i:]...), '\n'), o.Tail[:j]...)
	return o.Head[:i], o.Tail[j:], fragments
}

func (o Output) last() []byte {
	if o.Cut && len(o.Tail) > 0 {
		return o.Tail
	}
	return o.Head
}

// Figures beyond these bounds are taken for an error of the program: their
// reciprocals and ratios leave the range of a float64 (and of JSON).
const (
	leastFigure = 1e-300
	mostFigure  = 1e300
)

// positive are the reserved names whose figure is nothing where it is not above 0.
var positive = pattern.Of(`^(throughput|p50|p75|p90|p99|max|mean)$`)

// FindMetrics finds each metric in the output. Where a regular expression
// matches several times the last counts, since programs print their progress
// before their summary. ^ and $ are the ends of a line. A figure is refused
// where it is not certain: where the cut may have shortened it, and
// where it may have taken a later one.
func FindMetrics(output Output, metrics []Metric) (map[string]Value, error) {
	found := map[string]Value{}
	for _, m := range metrics {
		text, err := m.find(output)
		if err != nil {
			return nil, err
		}
		value, unit, ok := figure(text)
		switch abs := math.Abs(value); {
		case !ok:
			return nil, fmt.Errorf("metric %s: %q, found by %q, is neither a number nor a duration", m.Name, phrase.Clip(text, 60), m.expression())
		case math.IsInf(value, 0), abs > mostFigure, abs > 0 && abs < leastFigure, abs == 0 && nonZero().MatchString(text):
			return nil, fmt.Errorf("metric %s: %q, found by %q, is outside the range that can be compared (%g to %g)", m.Name, phrase.Clip(text, 60), m.expression(), leastFigure, mostFigure)
		case value <= 0 && positive().MatchString(m.Name):
			return nil, notPositive(m.Name, text)
		}
		found[m.Name] = Value{Value: value, Unit: unit, Better: m.Better}
	}
	return found, nil
}

// nonZero is a mantissa with a digit above 0, which a value of 0 must not have: 1e-400.
var nonZero = pattern.Of(`^\s*-?[0.,]*[1-9]`)

func (m Metric) find(o Output) (string, error) {
	head, tail, fragments := o.whole()
	if text, n := m.lastIn(tail); n > 0 {
		return text, nil
	}
	// One in a fragment may be cut short, and of several in the head the last may
	// be lost.
	text, n := m.lastIn(head)
	_, cut := m.lastIn(fragments)
	switch {
	case o.Cut && (cut > 0 || n > 1):
		return "", fmt.Errorf("metric %s: the output was too long to keep whole, so the match of %q may be incomplete or not the last one: print less, or print the number at the end", m.Name, m.expression())
	case n == 0:
		return "", fmt.Errorf("metric %s: nothing in the output matches %q; %s", m.Name, m.expression(), QuoteEnd(o.last()))
	}
	return text, nil
}

func (m Metric) lastIn(text []byte) (string, int) {
	all := m.Regexp.FindAllSubmatch(text, -1)
	if len(all) == 0 {
		return "", 0
	}
	return string(all[len(all)-1][1]), len(all)
}

// JoinMetrics finds the metrics in the outputs of several replicas and makes one
// figure of each: paces and counts (throughput, ops_per_sec, requests, errors)
// add up, of max the greatest counts, and of all else the mean. The mean of
// percentiles is not a percentile, but distinguishes equal replicas from
// others. A replica that lacks a metric is an error that names it.
func JoinMetrics(outputs []Output, metrics []Metric) (map[string]Value, error) {
	joined := map[string]Value{}
	for i, o := range outputs {
		found, err := FindMetrics(o, metrics)
		if err != nil {
			if len(outputs) > 1 {
				err = fmt.Errorf("replica %d of %d: %w", i+1, len(outputs), err)
			}
			return nil, err
		}
		for name, v := range found {
			before, ok := joined[name]
			if ok && before.Unit != v.Unit {
				return nil, fmt.Errorf("replica %d of %d: metric %s: the replicas print it in different units", i+1, len(outputs), name)
			}
			switch {
			case !ok:
			case name == "max":
				v.Value = max(v.Value, before.Value)
			default:
				v.Value += before.Value
			}
			joined[name] = v
		}
	}
	for name, v := range joined {
		adds := paceNames().MatchString(name) || name == "requests" || name == "errors"
		if !adds && name != "max" {
			v.Value /= float64(len(outputs))
			joined[name] = v
		}
	}
	return joined, nil
}

func (m Metric) expression() string { return strings.TrimPrefix(m.Regexp.String(), "(?m)") }

// figure reads 1234.5, 1,234.5 and -3e-6 as they are, and 12.3ms and 12.3 ms as seconds.
func figure(text string) (value float64, unit string, ok bool) {
	text = strings.TrimSpace(text)
	if thousands().MatchString(text) {
		text = strings.ReplaceAll(text, ",", "")
	}
	if v, ok := decimal(text); ok {
		return v, "", true
	}
	if v, ok := Seconds(strings.ReplaceAll(text, " ", "")); ok {
		return v, "seconds", true
	}
	return 0, "", false
}

var thousands = pattern.Of(`^-?\d{1,3}(,\d{3})+(\.\d+)?$`)
