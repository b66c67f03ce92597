package number

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestQuantities(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct{ got, want string }{
		{Seconds(0.00123), "1.23 ms"},
		{Seconds(0.00095), "950 µs"},
		{Seconds(2.211), "2.21 s"},
		{Seconds(0.0041), "4.10 ms"},
		{Seconds(264e-6), "264 µs"},
		{Seconds(3.2e-7), "320 ns"},
		{Seconds(0), "0 s"},
		{Seconds(math.Copysign(0, -1)), "0 s"},
		{Seconds(-0.00123), "-1.23 ms"},
		{Seconds(nan), unknown},
		{Seconds(inf), unknown},
		{Seconds(-inf), unknown},
		{Seconds(4e-11), "0.0400 ns"},
		{Seconds(1e-24), "1.00e-15 ns"},
		{Seconds(3600), "3600 s"},
		{Seconds(86400), "86400 s"},
		{Seconds(0.99949), "999 ms"},
		{Seconds(0.9995), "1.00 s"},
		{Seconds(0.99995), "1.00 s"},
		{Seconds(0.00099996), "1.00 ms"},
		{Seconds(9.999e-10), "1.00 ns"},
		{Seconds(9.996), "10.0 s"},
		{Duration(time.Nanosecond), "1.00 ns"},
		{Duration(1500 * time.Microsecond), "1.50 ms"},
		{Short(Seconds(0.02)), "20 ms"},
		{Short(Seconds(20)), "20 s"},
		{Short(Seconds(100)), "100 s"},
		{Short(Seconds(0.0125)), "12.5 ms"},
		{Short(unknown), unknown},
		{Short("-1.50"), "-1.5"},
		{Maybe(nil, Seconds), unknown},
		{Maybe(new(0.5), Seconds), "500 ms"},

		{Rate(11834.2), "11.8k"},
		{Rate(999.6), "1.00k"},
		{Rate(999.4), "999"},
		{Rate(0.01234), "0.0123"},
		{Rate(13650), "13.6k"}, // half to even, before the division
		{Rate(0), "0"},
		{PerSecond("req/s").Value(2.5e9), "2.50G req/s"},
		{PerSecond("req/s").Value(9.996e12), "10.0T req/s"},
		{PerSecond("req/s").Value(-1234), "-1.23k req/s"},
		{PerSecond("req/s").Value(nan), unknown},
		{Plain("CPUs").Value(1.5), "1.50 CPUs"},
		{Plain("").Digits(2).Value(1.93), "1.9"},
		{Figure(1234.5), "1234"},

		{Bytes(0), "0 B"},
		{Bytes(512), "512 B"},
		{Bytes(1536), "1.50 KiB"},
		{Bytes(1000 << 10), "1000 KiB"},
		{Bytes(1<<20 - 1), "1.00 MiB"},
		{Bytes(1<<20 - 1<<9), "1.00 MiB"},
		{Bytes(1<<20 - 1<<11), "1022 KiB"},
		{Bytes(1843 << 20), "1.80 GiB"},
		{Short(Bytes(2 << 30)), "2 GiB"},
		{Bytes(nan), unknown},

		{CPUs(1), "1 CPU"},
		{CPUs(2.5), "2.5 CPUs"},
		{CPUs(1.125), "1.125 CPUs"},
		{CPUs(128), "128 CPUs"},
		{CPUs(5.0 / 3), "1.667 CPUs"},
		{CPUsUsed(0.005461), "0.01 CPUs"},
		{CPUsUsed(0.0049), "less than 0.01 CPUs"},
		{CPUsUsed(0), "0 CPUs"},
		{CPUsUsed(0.999), "1 CPU"},
		{CPUsUsed(1.2345), "1.23 CPUs"},
		{CPUsUsed(63.21), "63.2 CPUs"},
		{BareCPUs(0.5), "0.5"},
		{Hundredths(0.534), "0.53"},
		{Hundredths(9.996), "10.0"},
		{Hundredths(12.34), "12.3"},
		{Hundredths(128), "128"},
		{Hundredths(nan), unknown},
		{Exact(0.5), "0.5"},
		{Exact(1.0 / 3), "0.3333"},

		{Count(11840.4), "11,840"},
		{Count(-1234567), "-1,234,567"},
		{Count(-123), "-123"},
		{Count(99.94), "99.9"},
		{Count(99.96), "100"},
		{Count(9.999), "10"},
		{Count(0), "0"},
		{Count(0.00001234), "0.0000123"},
		{Count(nan), unknown},
		{Amount(0), "0"},
		{Amount(0.01), "<0.1"},
		{Amount(2.04), "2"},
		{Amount(9.96), "10"},
		{AmountOf(1, "goroutine"), "1 goroutine"},
		{AmountOf(1.02, "goroutine"), "1 goroutine"},
		{AmountOf(0.5, "goroutine"), "0.5 goroutines"},
		{Amount(inf), unknown},

		{Percent(0.032), "3.2%"},
		{Percent(0.05), "5%"},
		{Percent(0.456), "46%"},
		{Percent(0.0042), "0.4%"},
		{Ratio().Value(0.0042), "0.42%"},
		{Ratio().Value(0.634), "63%"},
		{Percent(0), "0%"},
		{Percent(1), "100%"},
		{Share(0), "0%"},
		{Share(0.001), "<1%"},
		{Share(0.5), "50%"},
		{Share(0.999), "99%"},
		{Share(1), "100%"},
		{Share(nan), unknown},

		{Chosen(20 * time.Millisecond), "20 ms"},
		{Chosen(1500 * time.Millisecond), "1.5 s"},
		{Chosen(90 * time.Second), "90 s"}, {Chosen(10 * time.Minute), "10 min"},
		{Chosen(3665 * time.Second), "61 min 5 s"}, {Chosen(3 * time.Hour), "3 h"}, {Chosen(3*time.Hour + time.Second), "10801 s"},
		{Chosen(0), "0 s"},
		{Minutes(42 * time.Second), "42 s"},
		{Minutes(59600 * time.Millisecond), "1 min"},
		{Minutes(125 * time.Second), "2 min 5 s"},
		{Minutes(200 * time.Minute), "3 h 20 min"},
		{Clock(65 * time.Second), "1:05"},
		{Clock(time.Hour), "1:00:00"},

		{Time().Range(0.0041, 0.00392, 0.00455), "3.92 ms, 4.55 ms"},
		{Time().Range(0.8, 0.79, 1.2), "790 ms, 1200 ms"},
		{Time().Range(0.8, nan, 1.2), unknown},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// units of times, from the smallest.
var units = []string{"ns", "µs", "ms", "s"}

// read is what a formatted time says, and how many significant digits it has.
func read(t *testing.T, s string) (seconds float64, unit, digits int) {
	t.Helper()
	number, name, ok := strings.Cut(s, " ")
	for i, u := range units {
		if u == name {
			unit = i
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || units[unit] != name {
		t.Fatalf("%q is not a number, a space and a unit", s)
	}
	digits = len(strings.TrimLeft(strings.ReplaceAll(number, ".", ""), "0"))
	return x * math.Pow(1000, float64(unit-3)), unit, digits
}

// TestSecondsOfAnySize holds for times between a picosecond and a month: three digits,
// or all before the point; within half of the last digit; and a longer time has no
// smaller unit, nor a smaller number.
func TestSecondsOfAnySize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		x := math.Pow(10, 18.5*r.Float64()-12)
		y := x * (1 + math.Pow(10, -6*r.Float64()))
		text, later := Seconds(x), Seconds(y)
		seconds, unit, digits := read(t, text)
		if digits != Digits && (x < 999.5 || digits < Digits || strings.Contains(text, ".")) {
			t.Fatalf("%g is %q, of %d significant digits", x, text, digits)
		}
		if off := math.Abs(seconds-x) / x; off > 0.005001 {
			t.Fatalf("%g is %q, which is %.2g of it off", x, text, off)
		}
		more, next, _ := read(t, later)
		if next < unit || more < seconds*(1-1e-12) {
			t.Fatalf("%g is %q, and %g, which is more, is %q", x, text, y, later)
		}
		chosen, _, _ := read(t, Short(text))
		if math.Abs(chosen-seconds) > 1e-12*seconds {
			t.Fatalf("%q is %q when it is short", text, Short(text))
		}
	}
}

// A whole number of CPUs that this machine does not have, and that is a usual number of thousandths,
// lacks its m.
func TestForgottenMilli(t *testing.T) {
	for _, c := range []struct {
		text string
		has  int
		want float64
	}{
		{"500", 2, 0}, {"100", 2, 0}, {"1500", 64, 0}, {"500", 512, 500}, {"500.0", 2, 500}, {"500m", 2, 0.5},
		{"64", 2, 64}, {"96", 2, 96}, {"128", 2, 128}, {"192", 2, 192}, {"2", 2, 2},
	} {
		got, err := parseCPUs(c.text, c.has)
		if got != c.want || (err != nil) != (c.want == 0) || err != nil && (!errors.Is(err, ErrTooManyCPUs) || !strings.Contains(err.Error(), "Did you mean "+c.text+"m?")) {
			t.Errorf("%s on %d: %g, %v", c.text, c.has, got, err)
		}
	}
}
