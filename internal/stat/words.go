package stat

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// percent of a ratio: "3.2 %", "46 %".
func percent(ratio float64) string {
	digits := 1
	if math.Abs(ratio) >= 0.0995 {
		digits = 0
	}
	return strings.TrimSuffix(strconv.FormatFloat(100*ratio, 'f', digits, 64), ".0") + " %"
}

// count with thousands separated: "11,840"; below 100 three digits are kept.
func count(x float64) string {
	if x < 100 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	s := strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func perSecond(x float64, unit string) string {
	switch unit {
	case "requests", "":
		return count(x) + " req/s"
	case "runs":
		return count(x) + " runs/s"
	case "operations":
		return count(x) + " op/s"
	case MetricThroughput: // a metric of that name says no more than the figure
		return count(x)
	}
	return count(x) + " " + unit
}

func seconds(x float64) string {
	switch {
	case x < 1e-3:
		return strconv.FormatFloat(x*1e6, 'g', 3, 64) + " µs"
	case x < 1:
		return strconv.FormatFloat(x*1e3, 'g', 3, 64) + " ms"
	}
	return strconv.FormatFloat(x, 'g', 3, 64) + " s"
}

func cpus(x float64) string {
	s := strconv.FormatFloat(x, 'g', 4, 64)
	if s == "1" {
		return "1 CPU"
	}
	return s + " CPUs"
}

// some of n nouns: "1 arm", "6 arms".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// and joins at most that many items and counts the rest.
func and(items []string) string {
	const most = 6
	if len(items) > most {
		items = append(items[:most-1:most-1], fmt.Sprintf("%d more", len(items)-most+1))
	}
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}

// semicolons joins at most that many clauses and counts the rest.
func semicolons(items []string) string {
	const most = 8
	if len(items) > most {
		items = append(items[:most-1:most-1], fmt.Sprintf("and %d more", len(items)-most+1))
	}
	return strings.Join(items, "; ")
}

// change of a rate, given as a logarithm: "46 % slower", "3 % faster".
func change(log float64) string { return differs(log, "faster", "slower") }

// shift of a latency, given as a logarithm: "30 % higher", "4 % lower".
func shift(log float64) string { return differs(log, "higher", "lower") }

// same is a difference that rounds to none.
const same = "the same"

func differs(log float64, more, less string) string {
	r := expm1(log)
	text := percent(math.Abs(r))
	switch {
	case text == "0 %":
		return same
	case r > 0:
		return text + " " + more
	}
	return text + " " + less
}

// expm1 is a logarithm as a change of ratio, kept within what JSON can hold: two
// wild values have an interval beyond it.
func expm1(x float64) float64 { return math.Expm1(min(x, 700)) }
