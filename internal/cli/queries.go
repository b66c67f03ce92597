package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/measure/kube/prometheus"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// noPod is a pod that there is not: what is wrong with a query is known before any is.
const noPod = "procfit-rehearsal"

// promQueries are what a command asks a Prometheus.
type promQueries struct {
	prometheus string
	queries    []journal.Query
}

// fields are the flags. more is what procfit does with a query, and parse reads one.
func (p *promQueries) fields(more string, parse func(string) (journal.Query, error)) []field.Field {
	return []field.Field{
		{Name: "prometheus", Holds: "URL", Help: "the Prometheus that --query asks", Value: field.Text(&p.prometheus)},
		{Name: "query", Holds: "NAME=QUERY", Help: "a number to compare (less is better); may be repeated", More: more, Value: field.Several(&p.queries, parse), Needs: "prometheus"},
	}
}

// list are the queries as they are recorded, each with a name of its own.
func (p *promQueries) list(asked spec.Spec) ([]journal.Query, error) {
	list, texts := []journal.Query{}, asked.Get("query")
	if len(texts) != len(p.queries) {
		return nil, fmt.Errorf("the Spec has %d queries, and %d were given", len(texts), len(p.queries))
	}
	for i, q := range p.queries {
		if slices.ContainsFunc(list, func(have journal.Query) bool { return have.Name == q.Name }) {
			return list, usageError("--query %s is given twice", q.Name)
		}
		_, text, _ := strings.Cut(texts[i], "=")
		q.Text = strings.TrimSpace(text)
		list = append(list, q)
	}
	return list, nil
}

// asker has every query tried over some time, and calls told with its value. What it returns
// asks one by its name; nil: nothing is asked.
func (p *promQueries) asker(std stdio, headers []string, over time.Duration, told func(journal.Query, *float64) error) (journal.Asker, error) {
	switch {
	case p.prometheus == "" && len(p.queries) == 0:
		return nil, nil
	case len(p.queries) == 0:
		return nil, usageError("--prometheus needs --query, what to ask it")
	}
	address, queries := p.prometheus, slices.Clone(p.queries)
	err := std.fill(&address)
	for i := range queries {
		err = cmp.Or(err, std.fill(&queries[i].Text))
	}
	if err != nil {
		return nil, err
	}
	client, err := prometheus.New(address, headers)
	if err != nil {
		return nil, usageError("--prometheus %q: %w", secret.Text(p.prometheus), err)
	}
	for _, q := range queries {
		v, err := client.Ask(std.ctx, q.Over(over, noPod), time.Now())
		var refused *prometheus.RefusedError
		switch {
		case errors.As(err, &refused):
			return nil, usageError("--query %s: %w", q.Name, refused)
		case err != nil:
			return nil, err
		case told != nil:
			if err := told(q, v); err != nil {
				return nil, err
			}
		}
	}
	return func(ctx context.Context, name string, over time.Duration, pods []string, at time.Time) (*float64, error) {
		i := slices.IndexFunc(queries, func(q journal.Query) bool { return q.Name == name })
		return client.Ask(ctx, queries[i].Over(over, pods...), at)
	}, nil
}
