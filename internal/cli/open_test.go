package cli

import (
	"testing"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
)

func TestOpen(t *testing.T) {
	quota := journal.GroupKey{Limited: true, QuotaCPUs: 0.5, GoVersion: "1.24"}
	for want, list := range map[string][]plan.Question{
		"":                                     nil,
		", undecided: 3":                       {{A: "3"}},
		", undecided: 2 or 3 by p99":           {{A: "2", B: "3", Quantile: "p99"}},
		", undecided: 2 or 3, and 1 more pair": {{A: "2", B: "3"}, {A: "3", B: "4"}},
		", undecided: 2 or 3 by p99 (limit 0.5 go1.24), and 2 more pairs": {{Group: quota, A: "2", B: "3", Quantile: "p99"}, {A: "3"}, {A: "4"}},
	} {
		if got := openQuestions(list); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
