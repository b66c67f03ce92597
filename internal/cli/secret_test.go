package cli

import "testing"

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"--header=cookie: a=b":                   "--header=cookie: REDACTED",
		"--header=X-Thing: a":                    "--header=X-Thing: REDACTED",
		"--header=Accept: text/plain":            "--header=Accept: text/plain",
		"--url=http://h/?a=b":                    "--url=http://h/?a=b",
		"-token=abc":                             "-token=REDACTED",
		"API_KEY=abc":                            "API_KEY=REDACTED",
		"--procs":                                "--procs",
		`wrk -H "Authorization: Bearer x" {url}`: `wrk -H "Authorization: REDACTED" {url}`,
		`wrk -H 'X-Auth-Token: y' -c8`:           `wrk -H 'X-Auth-Token: REDACTED' -c8`,
	} {
		if got := redact([]string{in})[0]; got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	if got := redact([]string{"--header", "Api: s", "Api: s"}); got[1] != "Api: REDACTED" || got[2] != "Api: s" {
		t.Errorf("%q: want the word after --header redacted, and no other", got)
	}
}
