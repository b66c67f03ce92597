package live

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
	maxlive "github.com/procfit/procfit/maxprocs/live"
)

func quantile(was, is Histogram, q float64) time.Duration {
	return maxlive.Histogram(is).Since(maxlive.Histogram(was)).Quantile(q)
}

// random is the name of a lease, which nobody else can guess.
func random() []byte {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // it never fails
	return b
}

// Program is the program of a live experiment, through its control endpoint.
type Program struct {
	client      *meter.Client
	State       maxlive.State // before the experiment
	lease       string
	sets        atomic.Int64 // changes that the program has confirmed
	After       int          // GOMAXPROCS when the lease was released
	first, past maxlive.Metrics
}

// NewProgram is one that can be reached, and what it was then.
func NewProgram(c *meter.Client, s maxlive.State) *Program {
	return &Program{client: c, State: s, lease: hex.EncodeToString(random())}
}

// Lease implements Place. A renewal that comes after the end of the lease begins another
// one, in which the program has changed nothing yet.
func (p *Program) Lease(ctx context.Context) error {
	sets := p.sets.Load()
	s, err := p.client.Lease(ctx, p.lease, LeaseFor)
	switch {
	case err != nil:
		return p.ended(ctx, err)
	case s.Started != p.State.Started:
		return cmp.Or(p.another(ctx), stopped(restarted))
	case int64(s.Switches) < sets:
		return &EndError{End: journal.End{Code: journal.EndTaken, Reason: "the lease had ended before it was renewed, so the program no longer ran with the value that was tried"}}
	}
	return nil
}

// Set implements Place. A change whose answer was lost has the same number again, and is
// not made twice.
func (p *Program) Set(ctx context.Context, procs int) (time.Duration, error) {
	s, err := p.client.Procs(ctx, p.lease, procs, p.sets.Load()+1)
	switch {
	case err != nil:
		return 0, p.ended(ctx, err)
	case s.Procs != procs:
		return 0, failed(fmt.Sprintf("the program was asked for GOMAXPROCS %d, and answers that it is %d", procs, s.Procs))
	}
	p.sets.Add(1)
	return time.Duration(s.CallNS), nil
}

// Read implements Place.
func (p *Program) Read(ctx context.Context) (Reading, error) {
	m, err := p.client.Metrics(ctx)
	if err != nil {
		return Reading{}, p.ended(ctx, err)
	}
	if p.first.At == 0 {
		p.first, p.past = m, m
	} else if _, err := meter.Since(p.past, m, p.State); errors.Is(err, meter.ErrRestarted) {
		return Reading{}, cmp.Or(p.another(ctx), stopped(restarted))
	} else if _, sum := meter.Since(p.first, m, p.State); cmp.Or(err, sum) != nil { // a look is short, and allows more
		return Reading{}, cmp.Or(p.another(ctx), failed(cmp.Or(err, sum).Error()))
	}
	p.past = m
	histogram := func(h maxlive.Histogram) Histogram { return Histogram{Counts: h.Counts, Sum: h.Sum} }
	return Reading{
		At: time.Unix(0, m.At), Requests: m.Requests, Failed: m.Failed, Panics: m.Panics, InFlight: m.InFlight,
		CPU: m.CPU, Arrival: histogram(m.Arrival), Handler: histogram(m.Handler),
	}, nil
}

// Release implements Place.
func (p *Program) Release(ctx context.Context) error {
	s, err := p.client.Release(ctx, p.lease)
	p.After = s.Procs
	return err
}

// restarted is that another process has the endpoint.
const restarted = "the program was restarted, or ended"

// stopped is that the process does not keep running.
func stopped(reason string) error {
	return &EndError{End: journal.End{Code: journal.EndHarm, Reason: reason, Harm: &journal.Harm{Code: journal.HarmEnded, Detail: reason}}}
}

// failed is that nothing can be compared.
func failed(reason string) error {
	return &EndError{End: journal.End{Code: journal.EndFailed, Reason: reason}}
}

// another is how an experiment ends in which another process answers: it was started again,
// or the address leads to several. nil: none does.
func (p *Program) another(ctx context.Context) error {
	switch another, several := p.client.Answering(ctx, p.State.Started); {
	case several:
		return failed(p.client.Name() + " leads to several programs in turn: name a single one by the address of its pod, or by localhost after kubectl port-forward pod/NAME PORT")
	case another:
		return stopped(restarted)
	}
	return nil
}

// ended is an error of the client, which ends the experiment if the program answers or is
// gone.
func (p *Program) ended(ctx context.Context, err error) error {
	if _, gone := errors.AsType[*meter.GoneError](err); gone {
		return stopped("the program ended, or closed its control socket")
	}
	no, refused := errors.AsType[*meter.RefusedError](err)
	if !refused {
		return err
	}
	end := journal.End{Code: journal.EndTaken, Reason: phrase.Clean(no.Detail)}
	switch no.Code {
	case "no_lease":
		if end := p.another(ctx); end != nil {
			return end
		}
	case "off", "refused":
		end.Reason = "the program refused: " + end.Reason
	case "set_by_other":
	case "leased":
		end.Code = journal.EndFailed
	default:
		end.Code, end.Reason = journal.EndFailed, err.Error()
	}
	return &EndError{End: end}
}
