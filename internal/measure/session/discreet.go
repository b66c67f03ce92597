package session

import (
	"context"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// discreet is a Runner whose trials are journaled: why one is invalid quotes what the
// user gave, and what programs printed.
type discreet struct {
	plan.Runner
	hidden secret.Hidden
}

func (s *Session) discreet(r plan.Runner) plan.Runner {
	return discreet{r, secret.Find(s.options.Tool.Args)}
}

// Run implements plan.Runner.
func (d discreet) Run(ctx context.Context, task plan.Task, observe plan.Observer) (journal.Trial, error) {
	t, err := d.Runner.Run(ctx, task, func(a plan.Activity) {
		if observe != nil {
			a.Detail = d.hidden.In(secret.Text(a.Detail))
			observe(a)
		}
	})
	t.InvalidReason = d.hidden.In(secret.Text(t.InvalidReason))
	return t, err
}
