package canary

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Requests is the name of the query that tells how many requests a setting served in a
// slice. All others tell a figure of which less is better.
const Requests = "requests"

// What stands in a query for the pods of a setting, as a regular expression, and for the
// length of a slice.
const (
	PodsPlaceholder  = "$pods"
	SlicePlaceholder = "$slice"
)

var queryName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// ParseQuery reads NAME=QUERY.
func ParseQuery(s string) (journal.Query, error) {
	name, text, ok := strings.Cut(s, "=")
	q := journal.Query{Name: strings.TrimSpace(name), Text: strings.TrimSpace(text)}
	switch {
	case !ok || !queryName.MatchString(q.Name) || q.Text == "":
		return q, fmt.Errorf("%q: want NAME=QUERY, as in p99='histogram_quantile(0.99, …{pod=~\"$pods\"}…)'", s)
	case slices.Contains(own, q.Name):
		return q, fmt.Errorf("%q: %s is the name of a figure that is counted anyway: choose another", s, q.Name)
	case !strings.Contains(q.Text, PodsPlaceholder):
		return q, fmt.Errorf("%q: %s has to stand in it for the pods of a setting, as in {pod=~\"$pods\"}; in a shell that takes single quotes", s, PodsPlaceholder)
	}
	return q, nil
}

// asked is the query for some pods. Names of pods hold nothing that a regular expression
// knows but dots, which ours have none of.
func asked(q journal.Query, pods []string, slice time.Duration) string {
	return strings.NewReplacer(PodsPlaceholder, strings.Join(pods, "|"), SlicePlaceholder, fmt.Sprintf("%ds", int(slice.Seconds()))).Replace(q.Text)
}

// Rehearsal is the query for a pod that there is not: what is wrong with it is known
// before any is.
func Rehearsal(q journal.Query, slice time.Duration) string {
	return asked(q, []string{"procfit-rehearsal"}, slice)
}
