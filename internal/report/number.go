package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/axis"
	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/stat"
)

// digits are the significant ones shown.
const digits = 3

// unit words the values of one dimension.
type unit struct {
	steps  []step // by factor, largest first
	name   string // after the number and its suffix, for a single value
	digits int
	trim   bool // without trailing zeros: for figures that are round by nature
	tight  bool // no space between number and suffix
}

type step struct {
	factor float64
	suffix string
}

func perSecond(name string) unit {
	return unit{steps: []step{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}, name: name, digits: digits, tight: true}
}

func duration() unit {
	return unit{steps: []step{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}, digits: digits}
}

func percentage() unit {
	return unit{steps: []step{{0.01, "%"}}, digits: 2, trim: true}
}

func plain(name string) unit {
	return unit{steps: []step{{1, ""}}, name: name, digits: digits, tight: true}
}

// number is a value without the unit's name.
func (u unit) number(x float64) string {
	x = round(x, u.digits)
	s := u.step(x)
	text := significant(x/s.factor, u.digits, u.trim)
	if s.suffix == "" || u.tight {
		return text + s.suffix
	}
	return text + " " + s.suffix
}

// value is a value with all that it needs to stand alone.
func (u unit) value(x float64) string {
	if u.name == "" {
		return u.number(x)
	}
	return u.number(x) + " " + u.name
}

// maybe words a value that may be absent.
func (u unit) maybe(x *float64) string {
	if x == nil {
		return absent
	}
	return u.number(*x)
}

// brackets is an interval in the scale of its median, "[3.92 ms, 4.55 ms]", or empty.
func (u unit) brackets(i stat.Interval) string {
	if i.Median == nil || i.Low == nil || i.High == nil {
		return ""
	}
	s := u.step(round(*i.Median, u.digits))
	suffix := s.suffix
	if suffix != "" && !u.tight {
		suffix = " " + suffix
	}
	return "[" + significant(*i.Low/s.factor, u.digits, u.trim) + suffix +
		", " + significant(*i.High/s.factor, u.digits, u.trim) + suffix + "]"
}

// tick is an axis label: round numbers, no trailing zeros.
func (u unit) tick(x float64) string {
	if x == 0 {
		return "0"
	}
	u.trim = true
	return u.number(x)
}

// ticks are those of an axis, labelled.
func (u unit) ticks(a axis.Axis) []Tick {
	var out []Tick
	for _, x := range a.Ticks() {
		out = append(out, Tick{At: a.At(x), Label: u.tick(x)})
	}
	return out
}

func (u unit) step(x float64) step {
	for _, s := range u.steps {
		if math.Abs(x) >= s.factor {
			return s
		}
	}
	if x == 0 && !u.tight {
		return u.steps[0] // 0 s, where ns would pretend to a precision
	}
	return u.steps[len(u.steps)-1]
}

// absent stands for what was not measured.
const absent = "–"

func round(x float64, n int) float64 {
	if x == 0 {
		return 0
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', n-1, 64), 64)
	if err != nil {
		return x
	}
	return r
}

// significant writes x with n significant digits; digits before the point are kept, so
// 1234.5 at 3 is "1234". An exponent has only what no machine measures.
func significant(x float64, n int, trim bool) string {
	switch size := math.Abs(x); {
	case x == 0:
		return "0"
	case size < 1e-12 || size > 1e18:
		return strconv.FormatFloat(x, 'e', n-1, 64)
	}
	if r := round(x, n); math.Abs(x) < math.Pow10(n) {
		x = r
	}
	decimals := max(0, n-1-int(math.Floor(math.Log10(math.Abs(x)))))
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if trim && strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// nameRoom is the length, in characters, of the names that are not ours to
// choose: units, variants, metrics.
const nameRoom = 24

// throughputUnit names what is counted a second. A metric's name is its own unit;
// "throughput" says nothing beyond the figure.
func throughputUnit(name string) string {
	switch name {
	case "requests", "":
		return "req/s"
	case unitRuns:
		return "runs/s"
	case "operations":
		return "op/s"
	case stat.MetricThroughput:
		return ""
	}
	return phrase.Clip(phrase.Clean(name), nameRoom)
}

func cpus(x float64) string {
	if x == 1 {
		return "1 CPU"
	}
	return significant(x, digits, true) + " CPUs"
}
