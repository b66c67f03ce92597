package secret

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// In each form S3CR3T must go, and what is not secret must stay.
func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"http://h/?token=S3CR3T":                          "http://h/?token=REDACTED",
		"http://h/?a=1&api_key=S3CR3T&b=2":                "http://h/?a=1&api_key=REDACTED&b=2",
		"TOKEN='S3CR3T' ./server -addr :1":                "TOKEN='REDACTED' ./server -addr :1",
		`API_KEY="S3CR3T S3CR3T" x`:                       `API_KEY="REDACTED" x`,
		"API_KEY=S3CR3T ./server":                         "API_KEY=REDACTED ./server",
		`{"password":"S3CR3T","user":"ann"}`:              `{"password":"REDACTED","user":"ann"}`,
		`{"password": "S3\"CR3T","user":"ann"}`:           `{"password": "REDACTED","user":"ann"}`,
		`{\"password\":\"S3CR3T\",\"user\":\"ann\"}`:      `{\"password\":\"REDACTED\",\"user\":\"ann\"}`,
		"PASS=S3CR3T":                                     "PASS=REDACTED",
		"DB_PASS=S3CR3T":                                  "DB_PASS=REDACTED",
		"DBPASS=S3CR3T":                                   "DBPASS=REDACTED",
		"PRIVATE_KEY=S3CR3T":                              "PRIVATE_KEY=REDACTED",
		"GOOGLE_CREDENTIALS=S3CR3T":                       "GOOGLE_CREDENTIALS=REDACTED",
		"AUTH=S3CR3T":                                     "AUTH=REDACTED",
		"DSN=postgres://u:S3CR3T@h/db":                    "DSN=REDACTED",
		"DATABASE=postgres://u:S3CR3T@h/db":               "DATABASE=postgres://u:REDACTED@h/db",
		"postgres://u:S3/CR3T@h/db":                       "postgres://u:REDACTED@h/db",
		"redis://:S3CR3T@h:1/0":                           "redis://:REDACTED@h:1/0",
		"-token=S3CR3T":                                   "-token=REDACTED",
		"--client-secret=S3CR3T":                          "--client-secret=REDACTED",
		"clientSecret: S3CR3T":                            "clientSecret: REDACTED",
		"curl -H 'Authorization: Bearer S3CR3T' http://h": "curl -H 'Authorization: REDACTED' http://h",
		"wrk -H \"Cookie: a=S3CR3T; b=S3CR3T\" {url}":     "wrk -H \"Cookie: REDACTED\" {url}",
		"AWS_SECRET_ACCESS_KEY=S3CR3T":                    "AWS_SECRET_ACCESS_KEY=REDACTED",
		// Flags within a command, and commands within commands.
		"true --token S3CR3T -v":                           "true --token REDACTED -v",
		"./server --password 'S3CR3T S3CR3T' :1":           "./server --password 'REDACTED' :1",
		`sh -c "server --api-key \"S3CR3T\" | tee log"`:    `sh -c "server --api-key \"REDACTED\" | tee log"`,
		"sh -c 'a; sh -c '\\''b --token S3CR3T'\\'' && c'": "sh -c 'a; sh -c '\\''b --token REDACTED'\\'' && c'",
		"ssh box 'server --pw S3CR3T'":                     "ssh box 'server --pw REDACTED'",
		"gen -H 'X-Any: S3CR3T S3CR3T' {url}":              "gen -H 'X-Any: REDACTED' {url}",
		"don't --token S3CR3T":                             "'dont --token REDACTED'",
		// By place.
		"http://h/?key=S3CR3T&code=S3CR3T#x":            "http://h/?key=REDACTED&code=REDACTED",
		"u:S3CR3T@tcp(h:3306)/db":                       "u:REDACTED@tcp(h:3306)/db",
		"u:S3CR3T@h:5432/db":                            "u:REDACTED@h:5432/db",
		"https://S3CR3T@h/":                             "https://REDACTED@h/",
		"http://u:S3CR3T@h/?token=S3CR3T":               "http://u:REDACTED@h/?token=REDACTED",
		"--user=me:S3CR3T":                              "--user=me:REDACTED",
		"curl -u me:S3CR3T http://h":                    "curl -u me:REDACTED http://h",
		"curl -ume:S3CR3T http://h":                     "curl -ume:REDACTED http://h",
		"hey -a me:S3CR3T -c 4 {url}":                   "hey -a REDACTED -c 4 {url}",
		"oha -a me:S3CR3T {url}":                        "oha -a REDACTED {url}",
		"http://u:S3CR3T@S3CR3T@h:1/a@b":                "http://u:REDACTED@h:1/a@b",
		"mysql -pS3CR3T db":                             "mysql -pREDACTED db",
		"https://hooks.slack.com/services/T0/B0/S3CR3T": "https://hooks.slack.com/REDACTED",
		"<a><token>S3CR3T</token></a>":                  "<a><token>REDACTED</token></a>",
		`{"tokens": ["a", "S3CR3T"], "b": 1}`:           `{"tokens": [REDACTED], "b": 1}`,
		"?next=http%3A%2F%2Fh%2F%3Ftoken%3DS3CR3T&b=1":  "?next=http%3A%2F%2Fh%2F%3Ftoken%3DREDACTED&b=1",
		// By shape.
		"use ghp_S3CR3TS3CR3T now": "use REDACTED now",
		"AKIAS3CR3TS3CR3T":         "REDACTED",
		"a -----BEGIN RSA PRIVATE KEY-----\nS3CR3T\n-----END RSA PRIVATE KEY----- b": "a REDACTED b",
		// And what must stay.
		"sh -c 'exec ./server -addr :{port} | tee log'": "sh -c 'exec ./server -addr :{port} | tee log'",
		"docker run -u 1000:1000 app:v1@sha256:abc":     "docker run -u 1000:1000 app:v1@sha256:abc",
		"gen -a 127.0.0.1:8080 -u http://h:8080/?key":   "gen -a 127.0.0.1:8080 -u http://h:8080/?key",
		"gen -upstream=web:8080 -a web:8080":            "gen -upstream=web:8080 -a web:8080",
		"git clone ssh://git@h/a git@h:a/b":             "git clone ssh://git@h/a git@h:a/b",
		"--sort-key name --tls-key server.pem":          "--sort-key name --tls-key server.pem",
		"a > b && c < d":                                "a > b && c < d",
		"go test -bench 'Parse|Print' ./...":            "go test -bench 'Parse|Print' ./...",
		"http://127.0.0.1:{port}/?n=1&page=2":           "http://127.0.0.1:{port}/?n=1&page=2",
		"AUTHOR=ann":                                    "AUTHOR=ann",
		"--compass=north":                               "--compass=north",
		"GOGC=50":                                       "GOGC=50",
		"--key=value":                                   "--key=value",
		"throughput=([\\d.]+) rows/s":                   "throughput=([\\d.]+) rows/s",
		"token":                                         "token",
		"TOKEN=":                                        "TOKEN=",
		"":                                              "",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	in := []string{"sweep", "--header", "Authorization: Bearer S3CR3T", "--header=X-Thing: S3CR3T", "--header", "Accept: text/html",
		"--body", `{"password":"S3CR3T"}`, "--", "./server", "--api-token=S3CR3T S3CR3T;S3CR3T)", "-secret=", `-d{"password":"S3CR3T=S3CR3T"}`, "--token", "S3CR3T", "-pass", "-v", "S"}
	want := []string{"sweep", "--header", "Authorization: REDACTED", "--header=X-Thing: REDACTED", "--header", "Accept: text/html",
		"--body", `{"password":"REDACTED"}`, "--", "./server", "--api-token=REDACTED", "-secret=", `-d{"password":"REDACTED"}`, "--token", "REDACTED", "-pass", "-v", "S"}
	if got := Words(in); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if in[2] != "Authorization: Bearer S3CR3T" {
		t.Error("the words themselves are changed")
	}
}

// Redacting twice is redacting once, and no form lets a value through.
func FuzzText(f *testing.F) {
	f.Add("TOKEN", "=", "'", "x y")
	f.Add("password", `": "`, "", "x")
	f.Add("Authorization", ": ", "", "Basic x")
	f.Fuzz(func(t *testing.T, before, separator, quote, after string) {
		s := before + separator + quote + after
		began := time.Now()
		once := Text(s)
		if took := time.Since(began); took > time.Second && len(s) < 10_000 {
			t.Errorf("%v for %q", took, s)
		}
		if twice := Text(once); twice != once {
			t.Errorf("%q: once %q, twice %q", s, once, twice)
		}
	})
}

func FuzzPassword(f *testing.F) {
	f.Add("hunter2")
	f.Fuzz(func(t *testing.T, password string) {
		if len(password) < 3 || strings.ContainsAny(password, "\\\"'") || strings.Contains(Redacted, password) || strings.Contains(`{"password":"`, password) {
			t.Skip()
		}
		if got := Text(`{"password":"` + password + `"}`); strings.Contains(got, password) {
			t.Errorf("%q is in %q", password, got)
		}
	})
}

// In a message it is the value itself that gives a credential away.
func TestHidden(t *testing.T) {
	h := find([]string{"sweep", "--header", "Authorization: Bearer S3CR3T77", "--env", "PORT={port}", "--env", "MODE=fast", "--url", "http://me:p%C3%A4ss/S3CR3T@h/", "--url", "http://me:br{4ce/S3CR3T@h/", "--", "x", "--token", "quo\"ted", "--token", "br{cdef12ce"}, nil)
	for in, want := range map[string]string{
		`header "S3CR3T77": no`:                  `header "REDACTED": no`,
		`"quo\"ted" or quo%22ted`:                `"REDACTED" or REDACTED`,
		"breakfast at {port}, 3 of 4 by Bearer":  "breakfast at {port}, 3 of 4 by Bearer",
		`invalid port ":p%C3%A4ss" after S3CR3T`: `invalid port ":REDACTED" after REDACTED`,
		`":br{4ce" or br{cdef12ce`:               `":REDACTED" or REDACTED`,
	} {
		if got := h.Replace(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}
