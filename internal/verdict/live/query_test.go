package live

import (
	"strings"
	"testing"
	"time"
)

func TestParseQuery(t *testing.T) {
	for text, want := range map[string]string{
		"late=histogram_quantile(0.99, sum by (le) (rate(x_bucket[$slice])))": "",
		"late=":                              "expected NAME=QUERY",
		"up":                                 "expected NAME=QUERY",
		"cpu=rate(x[$slice])":                "choose another name",
		"requests=rate(x[$slice])":           "choose another name",
		"late=rate(x[1m])":                   "$slice must be in it",
		`late=rate(x{pod=~"$pods"}[$slice])`: "$pods is for kube canary",
	} {
		q, err := ParseQuery(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if err == nil && strings.Contains(q.Over(Asked(5*time.Second)), "$") {
			t.Errorf("%s is asked as %s", text, q.Over(Asked(5*time.Second)))
		}
	}
	for slice, want := range map[time.Duration]time.Duration{time.Second: time.Second, 5 * time.Second: 4 * time.Second, 40 * time.Second: 32 * time.Second} {
		if got := Asked(slice); got != want {
			t.Errorf("of a slice of %v %v is asked, want %v", slice, got, want)
		}
	}
}
