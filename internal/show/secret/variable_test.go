package secret

import (
	"slices"
	"strings"
	"testing"
)

func TestVariables(t *testing.T) {
	for in, want := range map[string]string{
		"STRIPE_KEY=S3CR3T":               "STRIPE_KEY=REDACTED",
		"MODE=S3CR3T":                     "MODE=REDACTED",
		"DATABASE=postgres://u:S3CR3T@h/": "DATABASE=REDACTED",
		"PIN=1234":                        "PIN=REDACTED",
		"ID=12345678901":                  "ID=REDACTED",
		"ADDRESS=S3CR3T:{port}":           "ADDRESS=REDACTED",
		"S3CR3T":                          "REDACTED",
		// And what must stay.
		"GODEBUG=schedtrace=20,x=1": "GODEBUG=schedtrace=20,x=1",
		"GOMEMLIMIT=512MiB":         "GOMEMLIMIT=512MiB",
		"WORKERS=8":                 "WORKERS=8",
		"TIMEOUT=1.5s":              "TIMEOUT=1.5s",
		"CACHE=off":                 "CACHE=off",
		"EMPTY=":                    "EMPTY=",
		"PORT={port}":               "PORT={port}",
		"ADDRESS=:{port}":           "ADDRESS=:{port}",
		"LISTEN=127.0.0.1:{port}":   "LISTEN=127.0.0.1:{port}",
	} {
		if got := Variables([]string{in}); got[0] != want {
			t.Errorf("%q: got %q, want %q", in, got[0], want)
		}
	}
}

// A variable of --env is hidden; what is after -- belongs to the program.
func TestFind(t *testing.T) {
	h := find([]string{"sweep", "--env", "MODE=S3CR3T1", "--env=MODE=S3CR3T2", "--env", "WORKERS=8", "--header", "X: S3CR3T3", "--", "docker", "run", "--env", "MODE=faster"}, nil)
	if got := h.Replace("S3CR3T1 S3CR3T2 8 S3CR3T3 faster"); got != "REDACTED REDACTED 8 REDACTED faster" {
		t.Error(got)
	}
}

func FuzzVariable(f *testing.F) {
	f.Add("MODE", "hunter2")
	f.Add("GOGC", "50")
	f.Fuzz(func(t *testing.T, name, value string) {
		word := name + "=" + value
		once := Variables([]string{word})
		if twice := Variables(once); !slices.Equal(once, twice) {
			t.Errorf("%q: once %q, twice %q", word, once, twice)
		}
		if len(value) > 16 && !strings.HasSuffix(value, ":{port}") && !strings.Contains(name, value) && !slices.Contains(plainVariables, name) && !strings.Contains(name, "=") && strings.Contains(once[0], value) {
			t.Errorf("%q is in %q", value, once[0])
		}
	})
}

// The name of a variable that holds a credential is none.
func TestNamesOfVariablesStay(t *testing.T) {
	words := []string{
		"sweep", "--header", "Authorization: Bearer {env:TOKEN}", "--header=Cookie: {env:COOKIE}", "--env", "MODE={env:MODE}", "--url", "http://u:{env:PW}@h/?token={env:T}",
		"--ready", "curl -H 'Authorization: Bearer {env:TOKEN}' http://h", "--", "./x", "--token", "{env:TOKEN}", "--password={env:PW}",
	}
	if got := Words(words); !slices.Equal(got, words) {
		t.Errorf("got  %q\nwant %q", got, words)
	}
	if got := Header("Authorization: S3CR3T{env:TOKEN}"); got != "Authorization: REDACTED" {
		t.Error(got)
	}
	if got := find(nil, []string{"S3CR3T77"}).Replace("has S3CR3T77"); got != "has REDACTED" {
		t.Error(got)
	}
}
