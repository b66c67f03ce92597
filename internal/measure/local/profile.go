package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/gobench"
	"github.com/procfit/procfit/internal/program/profile"
	"github.com/procfit/procfit/internal/program/target"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// profiling takes the profiles of a server's first replica while its load runs. Its methods
// do nothing of nil: of a trial that is not profiled.
type profiling struct {
	client      *profile.Client
	seconds     int
	done        sync.WaitGroup
	cpu, memory taken
}

// taken is a profile with the time that it covers.
type taken struct {
	bytes   []byte
	sums    profile.Sums
	seconds float64
	err     error // why there is none
}

// Profile implements plan.Profiler.
func (r *runner) Profile(ctx context.Context, a journal.Setting) (journal.Profiled, error) {
	out := journal.Profiled{Setting: a, Started: time.Now()}
	spec, programs := r.spec, r.programs
	defer func() { r.spec, r.programs = spec, programs }()
	r.spec = spec.Profiled()
	one := &run{runner: r, Task: trial.NewTask(journal.OriginLocal, r.spec, plan.Task{Setting: a, Role: plan.RoleProfile, SawGo: true}, nil, r.told)}
	if spec.Load.Command != "" && spec.Load.Rate > 0 {
		one.RatePerSecond = &spec.Load.Rate // the command may ask for one
	}
	var dir string // of a test binary's profiles
	if spec.Target.IsServer() {
		one.profiling = &profiling{seconds: int(spec.ProfileTakes() / time.Second)}
	} else {
		var err error
		if dir, err = os.MkdirTemp(r.builds, "profiles"); err != nil {
			return out, err
		}
		r.programs = writing(programs, dir)
	}
	t, err := trial.Run(ctx, one, one.Task)
	if err != nil {
		return out, err
	}
	out.DurationSeconds = t.DurationSeconds
	if len(t.ObservedProcs) > 0 {
		out.ObservedProcs = t.ObservedProcs[0]
	}
	switch {
	case !t.Valid:
		out.Missing = t.InvalidReason
	case dir != "":
		cpu, memory := written(dir)
		r.keepProfiles(&out, cpu, memory)
	default:
		r.keepProfiles(&out, one.profiling.cpu, one.profiling.memory)
	}
	return out, nil
}

func (r *runner) keepProfiles(out *journal.Profiled, cpu, memory taken) {
	var errs [2]error
	out.CPU, errs[0] = r.keepProfile(out.Setting, profile.CPU, cpu)
	out.Allocations, errs[1] = r.keepProfile(out.Setting, profile.Allocations, memory)
	var lack []string
	for _, err := range errs {
		if err != nil {
			lack = append(lack, phrase.Plain(err))
		}
	}
	out.Missing = phrase.Semicolons(lack)
}

// keepProfile writes a profile into the results folder; it is what the journal has of it.
func (r *runner) keepProfile(a journal.Setting, kind profile.Kind, t taken) (*journal.Profile, error) {
	if t.err != nil {
		return nil, t.err
	}
	f, path, err := r.config.CreateProfile(plan.ProfileName(a) + "-" + string(kind) + ".pprof")
	if err != nil {
		return nil, err
	}
	_, err = f.Write(t.bytes)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	p := &journal.Profile{File: path, Seconds: t.seconds, Total: t.sums.Total, Functions: []journal.ProfiledFunction{}, Left: t.sums.Left}
	for _, one := range t.sums.Functions {
		p.Functions = append(p.Functions, journal.ProfiledFunction(one))
	}
	return p, nil
}

// checkProfilePort sees, before the target starts, that nobody listens yet at the address of
// its profiles: those of that other program would be taken for its own.
func (r *run) checkProfilePort() (err error) {
	if r.profiling == nil || target.HasPort([]string{r.spec.Profile}) {
		return nil
	}
	if u, wrong := url.Parse(r.spec.Profile); wrong == nil && u.Host != "" {
		err = target.PortInUse(u.Host)
	}
	return err
}

// findProfiles finds the profiles of the first replica, which has started. Headers and the user
// of the load are for the address of the load alone.
func (r *run) findProfiles() error {
	if r.profiling == nil {
		return nil
	}
	one := r.fleet[0]
	u, err := url.Parse(r.spec.ProfileURL(one.url, one.free))
	if err != nil {
		return trial.Invalid(journal.InvalidLoad, "the address of the profiles is not a URL")
	}
	var headers []string
	if own, err := url.Parse(one.url); err == nil && own.Host == u.Host {
		headers = r.spec.Load.Headers
		if u.User == nil {
			u.User = own.User
		}
	}
	r.profiling.client = profile.NewClient(u.String(), headers, nil)
	if u.Scheme == "https" {
		secure, err := r.spec.Load.TLS.Config(u.Scheme)
		if err != nil {
			return trial.Invalid(journal.InvalidLoad, "%v", err)
		}
		r.profiling.client = profile.NewClient(u.String(), headers, secure)
	}
	return nil
}

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

// lateProfiles is how much later than its own port a program may open that of its profiles.
const lateProfiles = time.Second

// take takes the CPU profile between two of the memory. Where the program refuses that of the CPU
// at once, the time for it passes: without it, the profile of the memory would be of a moment.
func (p *profiling) take(ctx context.Context) {
	before, err := p.client.Memory(ctx)
	for end := time.Now().Add(lateProfiles); errors.Is(err, syscall.ECONNREFUSED) && time.Now().Before(end) && wait.For(ctx, lateProfiles/10) == nil; {
		before, err = p.client.Memory(ctx)
	}
	began := time.Now()
	until := time.Now().Add(time.Duration(p.seconds) * time.Second)
	b, failed := p.client.CPU(ctx, p.seconds)
	p.cpu = read(profile.CPU, b, failed)
	p.cpu.seconds = float64(p.seconds)
	if err == nil {
		err = wait.For(ctx, time.Until(until))
	}
	if err == nil {
		b, err = p.client.Memory(ctx)
	}
	if err == nil {
		b, err = profile.Between(before, b)
	}
	p.memory = read(profile.Allocations, b, err)
	p.memory.seconds = time.Since(began).Seconds()
}

// read sums a profile up, unless there is none.
func read(kind profile.Kind, b []byte, err error) taken {
	t := taken{bytes: b}
	if err == nil {
		t.sums, err = profile.Read(kind, b)
	}
	if err == nil && !(t.sums.Total > 0) {
		err = errors.New("it has no samples")
	}
	if err != nil {
		t.err = fmt.Errorf("the %s profile: %w", kind.Name(), err)
	}
	return t
}

// writing are the programs with files for their profiles. Each copy of a binary has a port of its
// own, and so its own files.
func writing(programs map[programKey]program, dir string) map[programKey]program {
	all := maps.Clone(programs)
	file := func(kind profile.Kind) string { return filepath.Join(dir, string(kind)+"-"+plan.PortPlaceholder) }
	for key, p := range all {
		if p.missing == nil {
			p.argv = gobench.Profiled(p.argv, file(profile.CPU), file(profile.Allocations))
			all[key] = p
		}
	}
	return all
}

// written are the profiles that a test binary has written; of several copies those of one.
func written(dir string) (cpu, memory taken) {
	of := func(kind profile.Kind) taken {
		b, err := []byte(nil), errors.New("the test wrote none")
		if found, _ := fs.Glob(os.DirFS(dir), string(kind)+"-*"); len(found) > 0 {
			b, err = profile.ReadFile(filepath.Join(dir, found[0]))
		}
		return read(kind, b, err)
	}
	cpu, memory = of(profile.CPU), of(profile.Allocations)
	cpu.seconds, memory.seconds = cpu.sums.Seconds, cpu.sums.Seconds // only that of the CPU says it
	return cpu, memory
}
