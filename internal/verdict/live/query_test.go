package live

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"

	"github.com/procfit/procfit/test/chance"
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

// TestFalseAlarms: a query of values that do not differ ends at most one experiment in 100,
// with a look after each of 60 blocks.
func TestFalseAlarms(t *testing.T) {
	h, n := header(1, 4), chance.RunsOf(100)
	h.Live.Queries = []journal.Query{{Name: "late"}, {Name: "errors"}}
	for _, c := range worlds {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ended := 0
			for seed := range n {
				w := c.world
				w.r, w.burnIn = rand.New(rand.NewPCG(uint64(seed), 9)), 2
				var list []Slice
				for b := range 60 {
					for _, s := range w.block(b, h.Rules()) {
						s.Queries = map[string]float64{"late": s.P99, "errors": float64(w.r.IntN(3) / 2)}
						list = append(list, s)
					}
					if h.Harm(list) != nil {
						ended++
						break
					}
				}
			}
			t.Logf("of %d: %.2f%% end", n, percent(ended, n))
			if ended > most(n, falseAlarms) {
				t.Errorf("%d of %d experiments ended", ended, n)
			}
		})
	}
}
