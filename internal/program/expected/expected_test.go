package expected

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/program/rule"
)

const whole = `{"schema":"procfit.expected/v1","program":"api","procs":2,"limit_cpus":2,"cpus":8,"go_version":"go1.26.1",` +
	`"requests_per_second":{"min":400,"max":2100},` +
	`"measured":"2026-01-31","commit":"4f2a91c","again":["sweep","--limit","2","--","./api"]}`

const least = `{"schema":"procfit.expected/v1","procs":2,"limit_cpus":null,"cpus":8,"measured":"2026-01-31"}`

func TestParse(t *testing.T) {
	for _, text := range []string{whole, least} {
		e, err := Parse([]byte(text))
		if err != nil || string(Text(*e)) != text {
			t.Errorf("%v: %s, want %s", err, Text(*e), text)
		}
	}
	for _, tc := range []struct{ old, new, want string }{
		{whole, "", "not valid JSON"},
		{`/v1`, `/v2`, `schema "procfit.expected/v2": expected procfit.expected/v1`},
		{`"procs":2`, `"procs":"2"`, "procs: invalid value string"},
		{`"procs":2`, `"procs":0`, "procs 0: expected 1 to 4096"},
		{`"procs":2`, `"procs":4097`, "procs 4097: expected 1 to 4096"},
		{`"limit_cpus":2`, `"limit_cpus":-1`, "limit_cpus -1"},
		{`"limit_cpus":2`, `"limit_cpu":2`, "limit_cpus is missing"},
		{`"cpus":8`, `"cpus":0`, "cpus 0"},
		{`go1.26.1`, `banana`, `go_version "banana"`},
		{`"min":400`, `"min":4000`, "requests_per_second 4000 to 2100"},
		{`2026-01-31`, `yesterday`, `measured "yesterday"`},
		{`4f2a91c`, `\u001b[2J`, "not printable"},
		{`4f2a91c`, strings.Repeat("a", 201), "longer than 200"},
		{`./api`, strings.Repeat("a", 9000), "again: longer"},
		{`./api`, strings.Repeat("a", MostBytes), "longer than 16384"},
	} {
		if _, err := Parse([]byte(strings.Replace(whole, tc.old, tc.new, 1))); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.new[:min(len(tc.new), 40)], err, tc.want)
		}
	}
}

// FuzzParse: what is read is valid, and reads the same once it is written.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(least))
	f.Add([]byte(`{"procs":1e99,"limit_cpus":1e-320,"again":[null]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(Text(*e))
		if err != nil || string(Text(*again)) != string(Text(*e)) {
			t.Errorf("%v: %+v, then %+v", err, e, again)
		}
		rule.Judge(rule.NewSubject(rule.Observed{Expected: e}))
	})
}
