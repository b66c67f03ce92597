package phrase

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAbove(t *testing.T) {
	for n, want := range map[int]string{1: "2,3,5", 2: "3,4,6,10", 6: "9,12,18,30", 2000: "3000,4000", 4000: ""} {
		if got := strings.Join(Above(n), ","); got != want {
			t.Errorf("above %d: %s", n, got)
		}
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(1, "trial"), "1 trial"},
		{Count(0, "trial"), "0 trials"},
		{Count(int64(6), "arm"), "6 arms"},
		{Count(2, "copy"), "2 copies"}, {Count(2, "day"), "2 days"}, {Count(1, "process"), "1 process"}, {Count(2, "Go process"), "2 Go processes"}, {Count(2, "search"), "2 searches"},
		{CountOf(2, "line of it", "lines of it"), "2 lines of it"},
		{And(nil), ""},
		{And([]string{"1"}), "1"},
		{And([]string{"1", "2", "4"}), "1, 2 and 4"},
		{And(strings.Split("abcdefgh", "")), "a, b, c, d, e and 3 more"},
		{Semicolons(strings.Split("abcdefghi", "")), "a; b; c; d; e; f; g; and 2 more"},
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
		if !printable(c) {
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
