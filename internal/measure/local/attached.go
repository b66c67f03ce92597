package local

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/program/observe"
)

// Attach finds the server that a user names by its PID, or as :PORT by where it
// listens, and reads the GOMAXPROCS that it runs with. What is wrong is a
// *plan.FieldError.
func Attach(name string) (*plan.Attached, error) {
	word, byPort := strings.CutPrefix(name, ":")
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || byPort && n > 65535 {
		return nil, plan.Wrong("attach", " %q: want a process, as in 1234, or where it listens, as in :8080", name)
	}
	find := observe.Stand
	if byPort {
		find = observe.StandAt
	}
	found, err := find(n)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, plan.Wrong("attach", " needs Linux, which tells what runs and at which GOMAXPROCS")
	}
	if err != nil {
		return nil, plan.WrongBy("attach", err)
	}
	a := &plan.Attached{PID: found.PID, Started: found.Started, Name: found.Name}
	if live, err := new(observe.Reader).Procs(found.PID); err == nil {
		a.Procs = &live.Procs
	}
	return a, nil
}

// visit finds the server that is already running: it is offered a rate and looked at,
// and nothing else.
func (r *run) visit() ([]string, error) {
	a := r.spec.Target.Attach
	one := &replica{standing: &observe.Standing{PID: a.PID, Name: a.Name, Started: a.Started}, url: r.spec.Target.URL}
	if u, err := url.Parse(one.url); err == nil {
		one.port, _ = strconv.Atoi(u.Port())
	}
	if one.ended() {
		return nil, fmt.Errorf("process %d (%s) has ended", a.PID, a.Name)
	}
	r.fleet = fleet{one}
	return r.fleet.urls(), nil
}
