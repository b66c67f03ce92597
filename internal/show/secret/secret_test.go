package secret

import (
	"slices"
	"strings"
	"testing"
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
		// And what must stay.
		"http://127.0.0.1:{port}/?n=1&page=2": "http://127.0.0.1:{port}/?n=1&page=2",
		"AUTHOR=ann":                          "AUTHOR=ann",
		"--compass=north":                     "--compass=north",
		"GOGC=50":                             "GOGC=50",
		"--key=value":                         "--key=value",
		"throughput=([\\d.]+) rows/s":         "throughput=([\\d.]+) rows/s",
		"token":                               "token",
		"TOKEN=":                              "TOKEN=",
		"":                                    "",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	in := []string{"sweep", "--header", "Authorization: Bearer S3CR3T", "--header=X-Thing: S3CR3T", "--header", "Accept: text/html",
		"--body", `{"password":"S3CR3T"}`, "--", "./server", "--token", "S3CR3T", "-pass", "-v", "S"}
	want := []string{"sweep", "--header", "Authorization: REDACTED", "--header=X-Thing: REDACTED", "--header", "Accept: text/html",
		"--body", `{"password":"REDACTED"}`, "--", "./server", "--token", "REDACTED", "-pass", "-v", "S"}
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
		once := Text(s)
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
