package journal

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/show/pattern"
)

// Query is a metric of the user's own Prometheus.
type Query struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// What procfit fills into a query: the pods of a setting, as a regular expression, and the
// length of a slice.
const (
	PodsPlaceholder  = "$pods"
	SlicePlaceholder = "$slice"
)

var queryName = pattern.Of(`^[A-Za-z][A-Za-z0-9_]*$`)

// ParseQuery reads NAME=QUERY, as in the example. What the text must have, and which names
// are taken, who asks it knows.
func ParseQuery(s, example string) (Query, error) {
	name, text, ok := strings.Cut(s, "=")
	q := Query{Name: strings.TrimSpace(name), Text: strings.TrimSpace(text)}
	if !ok || !queryName().MatchString(q.Name) || q.Text == "" {
		return q, fmt.Errorf("%q: expected NAME=QUERY, for example %s", s, example)
	}
	return q, nil
}

// Over is the query for a slice, and for some pods. Names of pods hold nothing that a regular
// expression knows but dots, which ours have none of.
func (q Query) Over(slice time.Duration, pods ...string) string {
	return strings.NewReplacer(PodsPlaceholder, strings.Join(pods, "|"), SlicePlaceholder, fmt.Sprintf("%ds", int(slice.Seconds()))).Replace(q.Text)
}

// Asker asks the query of a name at a time, for a slice so long, and for some pods. nil: there
// is no value. Several goroutines call it.
type Asker func(ctx context.Context, name string, slice time.Duration, pods []string, at time.Time) (*float64, error)

// Answer is one to a query.
type Answer struct {
	Value *float64 // nil: there is none
	Err   error
}

// asksAtOnce bounds how many queries are asked at the same time. A Prometheus answers 20 of
// them at once (--query.max-concurrency).
const asksAtOnce = 8

// Ask asks n queries, some of them at the same time.
func Ask(n int, ask func(i int) (*float64, error)) []Answer {
	answers, free := make([]Answer, n), make(chan struct{}, asksAtOnce)
	var all sync.WaitGroup
	for i := range answers {
		free <- struct{}{}
		all.Go(func() {
			answers[i].Value, answers[i].Err = ask(i)
			<-free
		})
	}
	all.Wait()
	return answers
}

// Keep keeps the answer to a query, of which less is better unless it says something else.
// None is no error: a Prometheus may be away for a while, and a slice has other metrics.
func (t *Trial) Keep(q Query, better string, a Answer) {
	if t.Metrics == nil {
		t.Metrics = map[string]Metric{}
	}
	if a.Err != nil {
		t.Warnings = append(t.Warnings, Warning{Code: WarnQuery, Detail: q.Name + ": " + a.Err.Error()})
	}
	if a.Value != nil {
		t.Metrics[q.Name] = Metric{Value: *a.Value, Better: better}
	}
}
