package phrase

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestCount(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(1, "trial"), "1 trial"},
		{Count(0, "trial"), "0 trials"},
		{Count(int64(6), "arm"), "6 arms"},
		{CountOf(2, "copy", "copies"), "2 copies"},
		{And(nil), ""},
		{And([]string{"1"}), "1"},
		{And([]string{"1", "2", "4"}), "1, 2 and 4"},
		{And(strings.Split("abcdefgh", "")), "a, b, c, d, e and 3 more"},
		{Semicolons(strings.Split("abcdefghi", "")), "a; b; c; d; e; f; g; and 2 more"},
		{CPUs(1), "1 CPU"},
		{CPUs(2.5), "2.5 CPUs"},
		{Percent(0.032), "3.2 %"},
		{Percent(0.05), "5 %"},
		{Percent(0.456), "46 %"},
		{Share(0), "0 %"},
		{Share(0.001), "<1 %"},
		{Share(0.5), "50 %"},
		{Share(0.999), "99 %"},
		{Share(1), "100 %"},
		{Amount(0), "0"},
		{Amount(0.01), "<0.1"},
		{Amount(2.04), "2"},
		{Amount(9.96), "10"},
		{AmountOf(1, "goroutine"), "1 goroutine"},
		{AmountOf(0.5, "goroutine"), "0.5 goroutines"},
		{Thousands(11840.4), "11,840"},
		{Thousands(-1234567), "-1,234,567"},
		{Thousands(-123), "-123"},
		{Thousands(99.94), "99.9"},
		{Seconds(264e-6), "264 µs"},
		{Seconds(0.0022), "2.2 ms"},
		{Seconds(3), "3 s"},
		{Seconds(0.9999), "1 s"},
		{Seconds(0.00099999), "1 ms"},
		{Seconds(1235.6), "1236 s"},
		{Seconds(0), "0 µs"},
		{Seconds(1e-9), "0.001 µs"},
		{Thousands(0.00001234), "0.0000123"},
		{Thousands(9.999), "10"},
		{Minutes(42 * time.Second), "42s"},
		{Minutes(125 * time.Second), "2 min 5 s"},
		{Clock(65 * time.Second), "1:05"},
		{Clock(time.Hour), "1:00:00"},
		{Clean("a\nb\x1b[31m\u202e\xff\U000e0001"), `a b\x1b[31m\u202e\xff\U000e0001`},
		{Clip("eins", 4), "eins"},
		{Clip("größer", 4), "grö…"},
		{Clip("x", 0), ""},
		{FirstLine("a\nb"), "a"},
		{Capital("über"), "Über"},
		{Capital(""), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("plain")
	f.Add("a\x00\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		c := Clean(s)
		if !Printable(c) {
			t.Errorf("Clean(%q) = %q does not print", s, c)
		}
		if Clean(c) != c {
			t.Errorf("Clean(%q) is not stable", s)
		}
		if clipped := Clip(c, 5); utf8.RuneCountInString(clipped) > 5 {
			t.Errorf("Clip(%q, 5) = %q", c, clipped)
		}
	})
}
