package prometheus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// noPod is a pod that there is not: what is wrong with a query is known before any is.
const noPod = "procfit-rehearsal"

// Queries are what a command asks a Prometheus.
type Queries struct {
	address string
	list    []journal.Query
	client  *Client         // once they are tried
	asked   []journal.Query // with the values of their variables
}

// Fields are the flags. more is what procfit does with a query, and parse reads one.
func (q *Queries) Fields(more string, parse func(string) (journal.Query, error)) []field.Field {
	return []field.Field{
		{Name: "prometheus", Holds: "URL", Help: "the Prometheus that --query asks", Value: field.Text(&q.address)},
		{Name: "query", Holds: "NAME=QUERY", Help: "a number to compare (less is better); may be repeated", More: more, Value: field.Several(&q.list, parse), Needs: "prometheus"},
	}
}

// Address is that of the Prometheus without its password; empty: none is asked.
func (q *Queries) Address() string { return secret.Text(q.address) }

// Recorded are the queries as the journal has them, each with a name of its own.
func (q *Queries) Recorded(asked spec.Spec) ([]journal.Query, error) {
	list, texts := []journal.Query{}, asked.Get("query")
	if len(texts) != len(q.list) {
		return nil, fmt.Errorf("the Spec has %d queries, and %d were given", len(texts), len(q.list))
	}
	for i, one := range q.list {
		if slices.ContainsFunc(list, func(have journal.Query) bool { return have.Name == one.Name }) {
			return list, plan.Wrong("query", " %s is given twice", one.Name)
		}
		_, text, _ := strings.Cut(texts[i], "=")
		one.Text = strings.TrimSpace(text)
		list = append(list, one)
	}
	return list, nil
}

// Try has every query tried over some time, and calls each with its name and value; fill
// fills in the variables of texts.
func (q *Queries) Try(ctx context.Context, fill func(texts ...*string) error, headers []string, over time.Duration, each func(name string, v *float64) error) error {
	switch {
	case q.address == "" && len(q.list) == 0:
		return nil
	case len(q.list) == 0:
		return plan.Wrong("prometheus", " needs --query, what to ask it")
	}
	address := q.address
	q.asked = slices.Clone(q.list)
	texts := []*string{&address}
	for i := range q.asked {
		texts = append(texts, &q.asked[i].Text)
	}
	err := fill(texts...)
	if err != nil {
		return err
	}
	if q.client, err = New(address, headers); err != nil {
		return plan.Wrong("prometheus", " %q: %v", q.Address(), err)
	}
	for _, one := range q.asked {
		v, err := q.client.Ask(ctx, one.Over(over, noPod), time.Now())
		switch refused, ok := errors.AsType[*RefusedError](err); {
		case ok:
			return plan.Wrong("query", " %s: %v", one.Name, refused)
		case err != nil:
			return err
		case each != nil:
			if err := each(one.Name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// Ask asks the query of a name, which was tried, at a time, for a slice so long, and for some
// pods. nil: there is no value.
func (q *Queries) Ask(ctx context.Context, name string, over time.Duration, pods []string, at time.Time) (*float64, error) {
	i := slices.IndexFunc(q.asked, func(one journal.Query) bool { return one.Name == name })
	return q.client.Ask(ctx, q.asked[i].Over(over, pods...), at)
}
