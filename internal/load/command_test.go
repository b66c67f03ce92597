package load

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
		err  string
	}{
		{in: "", want: nil},
		{in: " wrk  -t2\t-c64\n", want: []string{"wrk", "-t2", "-c64"}},
		{in: `a 'b c' "d e"f`, want: []string{"a", "b c", "d ef"}},
		{in: `'' ""`, want: []string{"", ""}},
		{in: `a\ b \"c\" d\\`, want: []string{"a b", `"c"`, `d\`}},
		{in: `'a\b' "a\b" "a\"b" "a\\b"`, want: []string{`a\b`, `a\b`, `a"b`, `a\b`}},
		{in: `-H 'A: "b"' -d "it's"`, want: []string{"-H", `A: "b"`, "-d", "it's"}},
		{in: `a ü *.go ~/x a? {url} http://h/?a={b} {"a":1}`, want: []string{"a", "ü", "*.go", "~/x", "a?", "{url}", "http://h/?a={b}", `{a:1}`}},
		{in: `a '|&;$x' "|>" \| a$ "\$x" 1=2 '#'`, want: []string{"a", "|&;$x", "|>", "|", "a$", "$x", "1=2", "#"}},
		{in: "a \\\n b", want: []string{"a", "b"}},
		{in: "if_x while a-if if", want: []string{"if_x", "while", "a-if", "if"}},
		{in: `a 'b`, err: "without closing quote `'`"},
		{in: `a "b`, err: "without closing quote `\"`"},
		{in: "a | b", err: "| needs a shell, but procfit runs the command without one: quote it if it is text, or use sh -c '…'"},
		{in: "a|b", err: "| needs a shell"},
		{in: "a && b", err: "&& needs a shell"},
		{in: "a; b", err: "several commands"},
		{in: "a;", err: "; needs a shell"},
		{in: "a\nb", err: "several commands"},
		{in: "a &", err: "& needs a shell"},
		{in: "a http://h/?x=1&y=2", err: "sh -c '…'"},
		{in: "a > b", err: "> needs a shell"},
		{in: "a 2>&1", err: ">& needs a shell"},
		{in: "a $b", err: "$ needs a shell"},
		{in: `a "$b"`, err: "$ needs a shell"},
		{in: "a $(b)", err: "$ needs a shell"},
		{in: "a `b`", err: "$ needs a shell"},
		{in: "a # b", err: "# needs a shell"},
		{in: "! a", err: "! needs a shell"},
		{in: "{ a; }", err: "sh -c '…'"},
		{in: "A=b c", err: "write 'env A=… command'"},
		{in: `a \`, err: "backslash"},
		{in: `a \$'b'`, want: []string{"a", "$b"}},
		{in: `a $'b\nc'`, err: "$'…' needs a shell"},
		{in: `a b\\$'c'`, err: "$'…' needs a shell"},
	} {
		got, err := Split(tt.in)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: error %v, want one with %q", tt.in, err, tt.err)
			}
			continue
		}
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
}

// FuzzSplit: words that are quoted come back.
func FuzzSplit(f *testing.F) {
	f.Add(`wrk -H 'A: b' "c\"d" e\ f`)
	f.Add("sh -c 'it'\\''s\n\ta $\\x' if A=b")
	f.Fuzz(func(t *testing.T, in string) {
		words, err := Split(in)
		if err != nil || !utf8.ValidString(in) {
			return
		}
		again, err := Split(Join(words))
		if err != nil || !slices.Equal(words, again) {
			t.Fatalf("%q became %q (%v)", words, again, err)
		}
	})
}

func TestExpand(t *testing.T) {
	values := Values{URLs: []string{"http://a/x y", "http://b/"}, Duration: 2500 * time.Millisecond, Connections: 64, Rate: 1500}
	closed := values
	closed.Rate, closed.Duration = 0, 10*time.Millisecond
	for _, tt := range []struct {
		in   string
		v    Values
		want []string
		err  string
	}{
		{in: "wrk -t2 -c{connections} -d{duration} --latency {url}", v: values,
			want: []string{"wrk", "-t2", "-c64", "-d3s", "--latency", "http://a/x y"}},
		{in: "wrk2 -R{rate} {urls}", v: values, want: []string{"wrk2", "-R1500", "http://a/x y", "http://b/"}},
		{in: "x --to={urls}", v: values, want: []string{"x", "--to=http://a/x y,http://b/"}},
		{in: "x {duration}", v: closed, want: []string{"x", "1s"}},
		{in: `hey -d '{"a":1}' {url}`, v: closed, want: []string{"hey", "-d", `{"a":1}`, "http://a/x y"}},
		{in: "awk '{{print}}'", v: closed, want: []string{"awk", "{print}"}},
		{in: "x {threads}", v: values, err: "unknown placeholder {threads}; use one of {url}, {urls}, {host}, {port}, {duration}, {connections}, {rate}"},
		{in: "ghz {host}:{port}", v: closed, want: []string{"ghz", "a:80"}},
		{in: "x {port}", v: Values{URLs: []string{"redis://a"}}, err: "{port} has no value: redis://a has no port"},
		{in: "x -R{rate}", v: closed, err: "without --rate"},
		{in: "x 'y", v: values, err: "without closing quote"},
		{in: "  ", v: values, err: "empty"},
		{in: "x {url}", v: Values{}, err: "no URL"},
	} {
		got, err := Expand(tt.in, tt.v)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: error %v, want one with %q", tt.in, err, tt.err)
			}
			continue
		}
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
}
