package number

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Maybe is a quantity that may not be known.
func Maybe(x *float64, write func(float64) string) string {
	if x == nil {
		return unknown
	}
	return write(*x)
}

// Seconds is a measured time in the unit that suits it: "264 µs", "4.10 ms".
func Seconds(x float64) string { return Time().Value(x) }

// Duration is Seconds of a measured d.
func Duration(d time.Duration) string { return Seconds(d.Seconds()) }

// Chosen is a time that somebody chose, without rounding: "20 ms", "1.5 s", "90 s", "10 min".
func Chosen(d time.Duration) string {
	if d >= 2*time.Minute && d%time.Second == 0 && (d < 2*time.Hour || d%time.Minute == 0) {
		return Minutes(d)
	}
	return Short(Time().Digits(9).Value(d.Seconds()))
}

// Typed is a time as one types it, without zeros at its end: 1m, 1h30m.
func Typed(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"0s", "0m"} {
		if rest, ok := strings.CutSuffix(text, zero); ok && strings.ContainsAny(rest[max(0, len(rest)-1):], "mh") {
			text = rest
		}
	}
	return text
}

// Rate is how much there is in a second, for tables and charts: "11.8k".
func Rate(x float64) string { return PerSecond("").Value(x) }

// Bytes is an amount of memory: "1.50 GiB".
func Bytes(x float64) string { return Memory().Value(x) }

// Figure has three significant digits and no unit: "1.50".
func Figure(x float64) string { return Significant(x, Digits) }

// CPUs is a number of CPUs with its noun: "1 CPU", "2.5 CPUs". Limits are written in
// thousandths of a CPU, which take four digits.
func CPUs(x float64) string {
	return counted(BareCPUs(x), "CPU")
}

func counted(s, noun string) string {
	if s == "1" {
		return "1 " + noun
	}
	return s + " " + noun + "s"
}

// CPUsUsed are CPUs that were measured, in hundredths: "0.53 CPUs". What is less is not
// nothing.
func CPUsUsed(x float64) string {
	s := Short(Hundredths(x))
	if s == "0" && x > 0 {
		return "less than 0.01 CPUs"
	}
	return counted(s, "CPU")
}

// Limit is a CPU limit with its burst, the part of a period's CPU time that it saves up:
// "2 CPUs", "2 CPUs with a burst of 0.5".
func Limit(cpus, burst float64) string {
	if burst > 0 {
		return CPUs(cpus) + " with a burst of " + BareCPUs(burst)
	}
	return CPUs(cpus)
}

// MostCPUs are more than any machine has; the kernel's own bound of a limit is near it.
const MostCPUs = 1e5

// ErrTooManyCPUs is in the chain of the error of ParseCPUs where that is what is wrong.
var ErrTooManyCPUs = fmt.Errorf("expected at most %g CPUs", MostCPUs)

// forgottenMilli says that an m is missing: a whole multiple of 50 from 100 on, which is a usual number
// of thousandths, and more CPUs than this machine has. Who means it writes 500.0.
type forgottenMilli struct {
	text string
	cpus int
}

func (e *forgottenMilli) Error() string {
	return fmt.Sprintf("%q: this machine has %s. Did you mean %sm? For %[3]s CPUs write %[3]s.0", e.text, CPUs(float64(e.cpus)), e.text)
}

func (*forgottenMilli) Is(err error) bool { return err == ErrTooManyCPUs }

// ParseCPUs reads a number of CPUs as manifests write it: 0.5, 2 or 500m.
func ParseCPUs(text string) (float64, error) { return parseCPUs(text, runtime.NumCPU()) }

func parseCPUs(text string, has int) (float64, error) {
	if n, err := strconv.Atoi(text); err == nil && n >= 100 && n%50 == 0 && n <= MostCPUs && n > has {
		return 0, &forgottenMilli{text, has}
	}
	digits, milli := strings.CutSuffix(text, "m")
	cpus, err := strconv.ParseFloat(digits, 64)
	if milli {
		cpus /= 1000
	}
	if err == nil && cpus > MostCPUs {
		return 0, fmt.Errorf("%q: %w", text, ErrTooManyCPUs)
	}
	if err != nil || !(cpus > 0) {
		return 0, fmt.Errorf("%q: expected a number of CPUs above zero, such as 0.5 or 500m", text)
	}
	return cpus, nil
}

// BareCPUs is CPUs without the noun.
func BareCPUs(x float64) string { return Short(Significant(x, 4)) }

// BareLimit is Limit for a table whose heading names CPUs: "2", "2+0.5".
func BareLimit(cpus, burst float64) string {
	if burst > 0 {
		return BareCPUs(cpus) + "+" + BareCPUs(burst)
	}
	return BareCPUs(cpus)
}

// Hundredths is how many CPUs or threads there are on average, in a column: "0.53", and
// no more than three digits of what is larger.
func Hundredths(x float64) string {
	if !finite(x) {
		return unknown
	}
	decimals := 2
	switch size := math.Abs(x); {
	case size >= 99.95:
		decimals = 0
	case size >= 9.995:
		decimals = 1
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}

// Exact is a number as a command or a file has it, with four decimals at most.
func Exact(x float64) string {
	return strconv.FormatFloat(math.Round(x*1e4)/1e4, 'f', -1, 64)
}

// Count is a number with its thousands separated, for sentences: "11,840". Below 100 it
// has three significant digits.
func Count(x float64) string {
	switch {
	case !finite(x):
		return unknown
	case math.Abs(x) < 99.95:
		return Short(Figure(x))
	}
	s := strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	first := 0
	if s[0] == '-' {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Amount is a mean of things that are counted: with one decimal below 10, none
// where it is whole. A small amount is never written as 0.
func Amount(x float64) string {
	switch {
	case !finite(x):
		return unknown
	case x > 0 && x < 0.05:
		return "<0.1"
	case x < 9.95:
		return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// AmountOf is an Amount with its noun: "1 goroutine", "2.5 goroutines".
func AmountOf(x float64, noun string) string { return counted(Amount(x), noun) }

// Percent of a ratio, for sentences: "3.2%", "46%"; from 10% on without a decimal.
func Percent(ratio float64) string {
	if !finite(ratio) {
		return unknown
	}
	decimals := 1
	if math.Abs(ratio) >= 0.0995 {
		decimals = 0
	}
	return Short(strconv.FormatFloat(100*ratio, 'f', decimals, 64)) + "%"
}

// Share is a part of a whole in percent, without decimals. It does not say 0 or 100
// of what is only close to it.
func Share(ratio float64) string {
	p := int(ratio*100 + 0.5)
	switch {
	case !finite(ratio):
		return unknown
	case p >= 100 && ratio < 1:
		p = 99
	case p <= 0 && ratio > 0:
		return "<1%"
	}
	return strconv.Itoa(p) + "%"
}

// Minutes is how long something takes, to the second: "42 s", "2 min", "2 min 5 s". From
// two hours on it is to the minute: "3 h 20 min".
func Minutes(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < 2*time.Hour && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	if d = d.Round(time.Minute); d%time.Hour == 0 {
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}

// Clock is a time as a clock shows it: "1:05" for 65 seconds, "1:00:00".
func Clock(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
