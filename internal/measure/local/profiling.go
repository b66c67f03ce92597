package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/profile"
	"github.com/procfit/procfit/internal/program/target"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// profiles are what is known of a runner's profiles before one is taken.
type profiles struct {
	tried   bool  // whether there will be some
	missing error // why there will be none
}

// profiling takes the profiles of a server's first replica while its load runs. Its methods
// do nothing of nil: of a trial that is not profiled.
type profiling struct {
	client      *profile.Client
	seconds     int
	done        sync.WaitGroup
	cpu, memory window
}

// window is a profile with the time that it covers.
type window struct {
	kind     profile.Kind
	from, to time.Time
	bytes    []byte
	sums     profile.Sums
	err      error // why there is none
}

func (w window) seconds() float64 { return w.to.Sub(w.from).Seconds() }

// triesProfiles reports whether the trial is the first, which finds out whether there will be
// profiles: at the end of a sweep it is too late to make the program serve them.
func (r *run) triesProfiles() bool {
	return r.spec.Profile != "" && r.profiling == nil && !r.profiles.tried && r.Observe != nil
}

// checkProfilePort sees, before the target starts, that nobody listens yet at the address of
// its profiles: those of that other program would be taken for its own.
func (r *run) checkProfilePort() (err error) {
	if r.profiling == nil && !r.triesProfiles() || target.HasPort([]string{r.spec.Profile}) {
		return nil
	}
	if u, wrong := url.Parse(r.spec.Profile); wrong == nil && u.Host != "" {
		err = target.PortInUse(u.Host)
	}
	return err
}

// tryProfiles tries the profiles of the target, which has started; taken is what is wrong with
// their port. An error is the trial's.
func (r *run) tryProfiles(ctx context.Context, taken error) error {
	if r.profiling == nil && !r.triesProfiles() {
		return nil
	}
	c, err := r.profileClient()
	if err = cmp.Or(taken, err); r.profiling != nil {
		if r.profiling.client = c; err != nil {
			return trial.Invalid(journal.InvalidLoad, "%v", err)
		}
		return nil
	}
	r.profiles.tried = true
	if err == nil {
		err = c.Try(ctx)
	}
	if err != nil && ctx.Err() == nil {
		r.profiles.missing = err
		r.Observe.Tell(plan.Activity{Step: plan.StepUnprofiled, Detail: err.Error()})
	}
	return ctx.Err()
}

// profileClient gets the profiles of the first replica. Headers and the user of the load
// are for the address of the load alone.
func (r *run) profileClient() (*profile.Client, error) {
	one := r.fleet[0]
	at := r.spec.ProfileURL(one.url, one.free)
	u, err := url.Parse(at)
	if err != nil {
		return nil, errors.New("the address of the profiles is not a URL")
	}
	var headers []string
	if own, err := url.Parse(one.url); err == nil && own.Host == u.Host {
		headers = r.spec.Load.Headers
		if u.User == nil {
			u.User = own.User
		}
	}
	if u.Scheme != "https" {
		return profile.NewClient(u.String(), headers, nil), nil
	}
	secure, err := r.spec.Load.TLS.Config(u.Scheme)
	if err != nil {
		return nil, err
	}
	return profile.NewClient(u.String(), headers, secure), nil
}

// begin starts the taking, as the measured time of the load begins.
func (p *profiling) begin(ctx context.Context) {
	if p != nil {
		p.done.Go(func() { p.take(ctx) })
	}
}

// wait waits until all is taken: the server must live until then.
func (p *profiling) wait() {
	if p != nil {
		p.done.Wait()
	}
}

// take takes the CPU profile between two of the memory.
func (p *profiling) take(ctx context.Context) {
	p.memory.kind, p.cpu.kind = profile.Allocations, profile.CPU
	p.memory.from = time.Now()
	before, err := p.client.Memory(ctx)
	p.memory.err = err
	p.cpu.from = time.Now()
	p.cpu.bytes, p.cpu.err = p.client.CPU(ctx, p.seconds)
	p.cpu.to = p.cpu.from.Add(time.Duration(p.seconds) * time.Second)
	p.cpu.read()
	if p.memory.err != nil || !p.rest(ctx) {
		return
	}
	p.memory.to = time.Now()
	after, err := p.client.Memory(ctx)
	if err == nil {
		p.memory.bytes, p.memory.sums, err = since(before, after)
	}
	p.memory.err = err
}

// rest waits for the rest of the time of the CPU profile if the program refused that at once:
// without it, the profile of the memory would be of a moment. It reports whether ctx is alive.
func (p *profiling) rest(ctx context.Context) bool {
	select {
	case <-time.After(time.Until(p.cpu.to)):
	case <-ctx.Done():
		p.memory.err = ctx.Err()
	}
	return p.memory.err == nil
}

// read sums a profile up.
func (w *window) read() {
	if w.err != nil {
		return
	}
	read, err := profile.Read(w.kind, w.bytes)
	if err == nil {
		w.sums = read.Sums()
		err = hasSamples(w.sums)
	}
	w.err = ofProfile(w.kind, err)
}

// since is what was allocated between two profiles of the memory.
func since(before, after []byte) (b []byte, sums profile.Sums, err error) {
	first, err := profile.Read(profile.Allocations, before)
	var last *profile.Profile
	if err == nil {
		last, err = profile.Read(profile.Allocations, after)
	}
	if err == nil {
		last, err = last.Since(first)
	}
	if err == nil {
		sums = last.Sums()
		err = hasSamples(sums)
	}
	if err == nil {
		b, err = last.Bytes()
	}
	return b, sums, ofProfile(profile.Allocations, err)
}

// hasSamples is an error of a profile that shows nothing.
func hasSamples(s profile.Sums) error {
	if s.Total > 0 {
		return nil
	}
	return errors.New("it has no samples")
}

// ofProfile names the profile that an error is about.
func ofProfile(kind profile.Kind, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the %s profile: %w", kind.Name(), err)
}
