package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/paired"
)

// own are the names that no query may have.
var own = []string{paired.FigureCPU, paired.FigureP50, paired.FigureP99, paired.FigureFailed, paired.FigureRequests}

// ParseQuery reads NAME=QUERY.
func ParseQuery(s string) (journal.Query, error) {
	q, err := journal.ParseQuery(s, `p99='histogram_quantile(0.99, sum by (le) (rate(…_bucket[$slice])))'`)
	switch {
	case err != nil:
	case slices.Contains(own, q.Name) || slices.ContainsFunc(seen, func(m paired.Metric) bool { return m.Name == q.Name }):
		err = fmt.Errorf("%q: %s is the name of a metric that procfit always counts: choose another name", s, q.Name)
	case strings.Contains(q.Text, journal.PodsPlaceholder):
		err = fmt.Errorf("%q: %s is for kube canary; name the one program that tries the values, for example {pod=\"api-7d9\"}", s, journal.PodsPlaceholder)
	case !strings.Contains(q.Text, journal.SlicePlaceholder):
		err = fmt.Errorf("%q: %s must be in it, so that it is of one value alone: rate(x[$slice]); in a shell, use single quotes", s, journal.SlicePlaceholder)
	}
	return q, err
}

// Asked is the time that queries are of: it fits into the shortest slice.
func Asked(slice time.Duration) time.Duration {
	return max(time.Second, time.Duration(float64(slice)*(1-Jitter)).Truncate(time.Second))
}
