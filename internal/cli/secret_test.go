package cli

import (
	"slices"
	"testing"
)

func TestRedact(t *testing.T) {
	got := redact([]string{"sweep", "--header", "Authorization: Bearer x:y", "--header=cookie: a=b", "--header", "Accept: text/plain", "--url", "http://h/", "--", "./s", "-a:b"})
	want := []string{"sweep", "--header", "Authorization: REDACTED", "--header=cookie: REDACTED", "--header", "Accept: text/plain", "--url", "http://h/", "--", "./s", "-a:b"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
