package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/measure/kube/prometheus"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/journal"
)

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

// list are the queries, each with a name of its own.
func (p *promQueries) list() ([]journal.Query, error) {
	list := []journal.Query{}
	for _, q := range p.queries {
		if slices.ContainsFunc(list, func(have journal.Query) bool { return have.Name == q.Name }) {
			return list, usageError("--query %s is given twice", q.Name)
		}
		list = append(list, q)
	}
	return list, nil
}

// client has every query tried, and calls told with its value; nil: nothing is asked.
func (p *promQueries) client(ctx context.Context, headers []string, text func(journal.Query) string, told func(journal.Query, *float64) error) (*prometheus.Client, error) {
	switch {
	case p.prometheus == "" && len(p.queries) == 0:
		return nil, nil
	case len(p.queries) == 0:
		return nil, usageError("--prometheus needs --query, what to ask it")
	}
	client, err := prometheus.New(spec.Replace(p.prometheus, os.Getenv), headers)
	if err != nil {
		return nil, usageError("--prometheus %q: %w", secret.Text(p.prometheus), err)
	}
	for _, q := range p.queries {
		v, err := client.Ask(ctx, text(q), time.Now())
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
	return client, nil
}
