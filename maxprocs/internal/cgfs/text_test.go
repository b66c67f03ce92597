package cgfs

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// FuzzText holds the functions against those of the standard library.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", " a  b\tc ", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809", "+", "007", "\x00\xff\"\\"} {
		f.Add(s, " ")
	}
	f.Add("a - b", " - ")
	f.Fuzz(func(t *testing.T, s, sep string) {
		want, err := strconv.ParseInt(s, 10, 64)
		if got, ok := ParseInt(s); ok != (err == nil) || ok && got != want {
			t.Errorf("ParseInt(%q): %d, %v; want %d, %v", s, got, ok, want, err)
		}
		if sep != "" {
			a, b, ok := cut(s, sep)
			if wa, wb, wok := strings.Cut(s, sep); a != wa || b != wb || ok != wok {
				t.Errorf("cut(%q, %q): %q, %q, %v", s, sep, a, b, ok)
			}
		}
		ascii := strings.IndexFunc(s, func(r rune) bool { return r > '~' }) < 0
		if ascii {
			var got []string
			for first, rest := field(s); first != ""; first, rest = field(rest) {
				got = append(got, first)
			}
			if want := strings.Fields(s); strings.Join(got, "\x00") != strings.Join(want, "\x00") {
				t.Errorf("fields of %q: %q, want %q", s, got, want)
			}
		}
		if len(s) <= 80 {
			if back, err := strconv.Unquote(Quote(s)); err != nil || back != s {
				t.Errorf("Quote(%q) is %s: %q, %v", s, Quote(s), back, err)
			}
		}
	})
}

func TestItoa(t *testing.T) {
	for _, n := range []int{0, 7, 10, 4096, math.MaxInt32} {
		if got := Itoa(n); got != strconv.Itoa(n) {
			t.Errorf("%d: %s", n, got)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{Parent("/a/b"), "/a"}, {Parent("/a"), "/"}, {Parent("/"), "/"}, {Parent(""), "/"},
		{Join("/", "a"), "/a"}, {Join("/a", "b"), "/a/b"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %s, want %s", tc.got, tc.want)
		}
	}
}

func TestSizeLimit(t *testing.T) {
	for file, want := range map[string]int{
		"/proc/self/mountinfo": 16 << 20, "environ": 16 << 20, "/cg/environ/cpu.max": 1 << 20, "status": 1 << 20, "": 1 << 20,
	} {
		if got := SizeLimit(file); got != want {
			t.Errorf("%q: %d, want %d", file, got, want)
		}
	}
}
