package canary

import (
	"fmt"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict/journal"
)

func procs(list ...int) (values []*int) {
	for _, n := range list {
		if n == 0 {
			values = append(values, nil)
		} else {
			values = append(values, new(n))
		}
	}
	return values
}

func TestDivide(t *testing.T) {
	for _, c := range []struct {
		values      []*int
		pods, serve int
		share       float64
		want        string // the rounds' labels
		few         string
	}{
		{procs(0, 1), 1, 18, 0.1, "default 1", ""},
		{procs(0, 1), 1, 17, 0.1, "", "at least 18 pods must serve, or use --share 11%"},
		{procs(1, 2, 4), 1, 18, 0.1, "default 1; default 2; default 4", ""},
		{procs(1, 2, 4), 1, 27, 0.1, "default 1 2; default 4", ""},
		{procs(1, 2, 4), 1, 36, 0.1, "default 1 2 4", ""},
		{procs(2), 2, 36, 0.1, "default 2", ""},
		{procs(2), 2, 35, 0.1, "", "4 canary pods next to 35 serving pods would be 10% of the endpoints, more than the share of 10%: at least 36 pods must serve"},
		{procs(2), 1, 1, 0.1, "", "at least 18 pods must serve, or use --share 67%"},
		{procs(2), 1, 2, 0.5, "default 2", ""},
		{procs(2), 1, 1, 0.99, "default 2", ""},
	} {
		rounds, err := Divide(c.values, nil, c.pods, c.serve, c.share)
		var list []string
		for _, settings := range rounds {
			var labels []string
			for _, a := range settings {
				labels = append(labels, a.Label)
			}
			list = append(list, strings.Join(labels, " "))
			if n := float64(len(settings) * c.pods); n/(n+float64(c.serve)) > c.share+1e-9 {
				t.Errorf("%v beside %d: more than the share", labels, c.serve)
			}
		}
		if got := strings.Join(list, "; "); got != c.want {
			t.Errorf("%s of %d pods beside %d, %g: %q, want %q", fmt.Sprint(len(c.values)), c.pods, c.serve, c.share, got, c.want)
		}
		if (c.few != "") != (err != nil) || err != nil && !strings.Contains(err.Error(), c.few) {
			t.Errorf("%d beside %d: %v, want %q", c.pods, c.serve, err, c.few)
		}
		if err == nil {
			continue
		}
		var takes int
		_, it, _ := strings.Cut(err.Error(), "at least ")
		if _, scanErr := fmt.Sscan(it, &takes); scanErr != nil {
			t.Fatal(err)
		}
		if _, err := Divide(c.values, nil, c.pods, takes, c.share); err != nil {
			t.Errorf("beside the %d that it takes: %v", takes, err)
		}
		if _, err := Divide(c.values, nil, c.pods, takes-1, c.share); err == nil {
			t.Errorf("it takes less than %d", takes)
		}
	}
	if _, err := Divide(procs(0), nil, 1, 100, 0.1); err == nil {
		t.Error("unset alone is taken")
	}
}

func TestParseQuery(t *testing.T) {
	for s, wrong := range map[string]string{
		`p99=f{pod=~"$pods"}`: "", ` requests = g{pod=~"$pods"}[$slice]`: "",
		"p99": "expected NAME=QUERY", "=x": "expected NAME=QUERY", `9=f{pod=~"$pods"}`: "expected NAME=QUERY", "p99=": "expected NAME=QUERY",
		"p99=up": "$pods must be in it", `cpu=f{pod=~"$pods"}`: "the name of a metric",
	} {
		q, err := ParseQuery(s)
		if (wrong == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %v, want %q", s, err, wrong)
		}
		if err == nil && (q.Name == "" || strings.Contains(q.Over(60e9, "a-1"), "$")) {
			t.Errorf("%q: %+v is asked as %s", s, q, q.Over(60e9, "a-1"))
		}
	}
	q := journal.Query{Name: "p99", Text: `x{pod=~"$pods"}[$slice]`}
	if got, want := q.Over(90e9, "a-1", "a-2"), `x{pod=~"a-1|a-2"}[90s]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
