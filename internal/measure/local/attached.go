package local

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Attach finds the server that a user names by its PID, or as :PORT by where it
// listens, and reads the GOMAXPROCS that it runs with. What is wrong is a
// *plan.FieldError.
func Attach(name string) (*plan.Attached, error) {
	word, byPort := strings.CutPrefix(name, ":")
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || byPort && n > 65535 {
		return nil, plan.Wrong(plan.FieldAttach, " %q: want a process, as in 1234, or where it listens, as in :8080", name)
	}
	find := observe.Stand
	if byPort {
		find = observe.StandAt
	}
	found, err := find(n)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, plan.Wrong(plan.FieldAttach, " needs Linux, which tells what runs and at which GOMAXPROCS")
	}
	if err != nil {
		return nil, plan.WrongBy(plan.FieldAttach, err)
	}
	a := &plan.Attached{PID: found.PID, Started: found.Started, Name: found.Name}
	if live, err := new(observe.Reader).Procs(found.PID); err == nil {
		a.Procs = &live.Procs
	}
	return a, nil
}

// visit is the trial of a server that runs already: it is offered a rate and looked
// at, and nothing else.
func (r *run) visit(ctx context.Context) error {
	a := r.spec.Target.Attach
	one := &replica{standing: &observe.Standing{PID: a.PID, Name: a.Name, Started: a.Started}, url: r.spec.Target.URL}
	if u, err := url.Parse(one.url); err == nil {
		one.port, _ = strconv.Atoi(u.Port())
	}
	if one.ended() {
		return fmt.Errorf("process %d (%s) has ended", a.PID, a.Name)
	}
	err := r.offer(ctx, fleet{one})
	if one.ended() && ctx.Err() == nil {
		return trial.Invalid(journal.InvalidCrashed, "process %d (%s) ended during the trial", a.PID, a.Name)
	}
	return err
}
