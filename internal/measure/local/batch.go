package local

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/host/sockets"
	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// runs are what is known of the machine over all measured runs of a trial.
type runs struct {
	began   host           // without what prepared them
	err     error          // why the machine is not known
	beside  *time.Duration // what the neighbour had used; nil: there is none
	seconds float64        // of the runs alone
}

func (r *run) RunOnce(ctx context.Context, measured bool) (trial.Ran, error) {
	if measured && r.runs == nil {
		began, err := r.readHost()
		r.runs = &runs{began: began, err: err, beside: r.neighbourCPU()}
	}
	one, err := r.once(ctx)
	if err != nil || !measured {
		return one, err
	}
	r.runs.seconds += one.Usage.MeasuredSeconds
	if one.Usage.HostUse, err = r.hostOfRuns(); err != nil && r.sampler != nil {
		r.Uncounted(err)
	}
	return one, nil
}

func (r *run) once(ctx context.Context) (one trial.Ran, err error) {
	logs := r.logs
	for _, l := range logs {
		if err := l.next(); err != nil {
			return one, &unkept{why: err.Error()}
		}
	}
	if err := r.prepareRun(ctx); err != nil {
		return one, err
	}
	r.Step(plan.StepRun)
	began := time.Now()
	defer func() { one.Took = time.Since(began) }()
	if err := checkQuotas(r.neighbour.limited()); err != nil {
		return one, err
	}
	f, err := r.start(ctx, logs)
	if err != nil {
		return one, err
	}
	defer func() { err = trial.Stopped(err, f.end(0)) }()
	limited, cancel := r.limit(ctx)
	defer cancel()
	one.Readings, one.Usage, err = r.watch(limited, f, began)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return one, trial.Invalid(journal.InvalidTimeout, "did not end within %s", number.Chosen(r.spec.Target.RunTimeout))
	}
	if err != nil {
		return one, err
	}
	if err := r.account(f, logs, &one); err != nil {
		return one, err
	}
	return one, f.limitsKept()
}

func (r *run) prepareRun(ctx context.Context) error {
	argv := r.spec.Target.Prepare
	if len(argv) == 0 {
		return nil
	}
	r.Step(plan.StepPrepare)
	skipped := r.skip()
	out, err := supervisor.Run(ctx, supervisor.Spec{Command: argv, Env: environment(r.config.Environ, nil)})
	if left, ok := errors.AsType[*supervisor.LeftError](err); ok {
		return &trial.UnstoppedError{Err: left}
	}
	if err != nil {
		return err
	}
	skipped()
	if out.Exit.Failed() {
		return trial.Invalid(journal.InvalidPrepare, "--prepare: the command %v; %s", out.Exit, supervisor.QuoteOutput(append(out.Stdout, out.Stderr...), supervisor.QuotedLines))
	}
	return nil
}

func (r *run) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.spec.Target.RunTimeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, r.spec.Target.RunTimeout)
}

// watch follows the fleet to its end, closely at first: programs may live for milliseconds.
func (r *run) watch(ctx context.Context, f fleet, began time.Time) ([]trial.Reading, journal.Usage, error) {
	c := r.count(nil, f.limitsAround())
	readings := make([]trial.Reading, len(f))
	for i := range readings {
		readings[i] = unread()
	}
	var seen passing
	alone := true
	const slowest = 100 * time.Millisecond
	for pause := time.Millisecond; ; pause = min(pause*3/2, slowest) {
		pids, err := r.look(f, began, readings)
		if err != nil {
			return nil, journal.Usage{}, err
		}
		if pids == nil && f.anyDone() == nil {
			break
		}
		alone = alone && len(pids) <= len(f)
		r.mayBeServer(pids, time.Since(began))
		seen.look(r, f, began, pause)
		if c.span != nil { // there is none where this system does not tell, either
			c.span.Look(pids)
		}
		select {
		case <-ctx.Done():
			return nil, journal.Usage{}, ctx.Err()
		case <-f.anyDone():
			pause = time.Millisecond
		case <-time.After(pause):
		}
	}
	for i, one := range f {
		if exit, err := one.Wait(); readings[i].NoGo && (err != nil || one.notGo.missed(exit)) {
			readings[i] = unread()
		}
	}
	if alone {
		r.byFile(readings)
	}
	c.fleet = f
	if r.Setting.QuotaCPUs != nil { // the group was made for this run
		c.groups = make([]cgroup.Stats, len(f))
	}
	usage := c.end(0)
	if usage == nil {
		return readings, journal.Usage{}, nil
	}
	seen.record(usage)
	return readings, *usage, nil
}

// serverAfter is how long a program that listens runs until procfit asks whether it is a server.
const serverAfter = 3 * time.Second

// mayBeServer reports once where a batch program listens: its user may have forgotten --url.
func (r *run) mayBeServer(pids []int, ran time.Duration) {
	if r.listens || ran < serverAfter {
		return
	}
	r.listens = true
	for _, pid := range pids {
		if at := sockets.AddressOf(pid); at.IsValid() {
			r.Observe.Tell(plan.Activity{Step: plan.StepListens, Detail: at.String()})
			return
		}
	}
}

func unread() trial.Reading {
	return trial.Reading{Ended: true, Err: errors.New("the program ended before procfit could read it")}
}

// lookback is the last look at which none of a program's processes was a Go program.
type lookback struct {
	pids  []int
	after time.Duration // since the program's start
	cpu   time.Duration // that the processes had used
}

// missed reports whether a Go program may have run since that look, as that of env A=B PROGRAM: more
// than a quarter of the program's time has passed since (on a busy machine the launcher may take most of
// it), or more than half of its CPU time and than the end of a launcher takes.
func (l lookback) missed(exit supervisor.Exit) bool {
	const shortest = time.Millisecond // of a Go program, from its start to its end; a shell ends in a tenth of it
	cpu := exit.User + exit.System
	return l.after < exit.Wall*3/4 || cpu-l.cpu > max(cpu/2, shortest)
}

// byFile decides for programs that ended before they could be read, and of which nobody saw another
// process: their file says whether they are Go programs.
func (r *run) byFile(readings []trial.Reading) {
	p := r.programs[programOf(r.Setting)]
	if p.notGo == nil || !slices.ContainsFunc(readings, func(one trial.Reading) bool { return one.Ended }) || !p.notGo() {
		return
	}
	for i := range readings {
		if readings[i].Ended {
			readings[i] = trial.Reading{NoGo: true, Err: errors.New("the file of the program is not a Go program"), Programs: []string{filepath.Base(p.argv[0])}}
		}
	}
}

// look reads the replicas that still run, and returns their processes.
func (r *run) look(f fleet, began time.Time, readings []trial.Reading) (all []int, err error) {
	limited := r.limited(f)
	for i, one := range f {
		if one.ended() {
			continue
		}
		pids := one.pids()
		all = append(all, pids...)
		if limited != nil {
			if err := limited[i].left(pids); err != nil {
				return nil, err
			}
		}
		reading, look := r.readBusiest(pids), lookback{pids: pids}
		if reading.NoGo {
			look.after, look.cpu = time.Since(began), observe.TreeCPU(pids)
		}
		readings[i] = one.better(readings[i], reading, look)
	}
	return all, nil
}

// better is which of two readings of a replica is kept: the last that has a value, else
// the last that says why there is none. Where all processes were seen to be no Go programs,
// one that has ended during the second look does not make that unknown. One that cannot be read
// for another reason does: a process keeps its PID when it becomes a Go program (exec).
func (one *replica) better(earlier, now trial.Reading, look lookback) trial.Reading {
	switch {
	case now.Err == nil:
		return now
	case earlier.Procs > 0 || len(look.pids) == 0:
		return earlier
	case (now.NoGo || now.Ended) && !earlier.NoGo && !earlier.Ended:
		return earlier // what could not be read has ended, or its launcher is left
	case now.NoGo:
		one.notGo = look
	case earlier.NoGo && now.Ended && !slices.ContainsFunc(look.pids, func(pid int) bool { return !slices.Contains(one.notGo.pids, pid) }):
		return earlier
	case earlier.NoGo:
		now.Ended = false // one has ended that nobody had seen, and that may have been a Go program
	}
	return now
}

// account takes what the kernel says of the ended processes, which the looks in between may lack.
func (r *run) account(f fleet, logs []*log, one *trial.Ran) error {
	cpu, switches, peak := journal.CPUSeconds{}, journal.ContextSwitches{}, int64(0)
	limited := r.limited(f)
	for i, replica := range f {
		exit, err := replica.Wait()
		if err != nil {
			return err
		}
		if err := logs[i].kept(exit); err != nil {
			return err
		}
		if exit.Failed() {
			return trial.Invalid(trial.EndCode(exit, journal.InvalidExit), "the program %v; %s", exit, replica.LastWords(supervisor.QuotedLines))
		}
		output, err := logs[i].output(exit)
		if err != nil {
			return err
		}
		if limited != nil {
			if err := limited[i].idle(0, exit.User+exit.System); err != nil {
				return err
			}
		}
		one.Outputs = append(one.Outputs, output)
		one.Wall = max(one.Wall, exit.Wall)
		cpu.User += exit.User.Seconds()
		cpu.System += exit.System.Seconds()
		switches.Voluntary += exit.VoluntarySwitches
		switches.Involuntary += exit.InvoluntarySwitches
		peak += exit.MaxRSSBytes
	}
	if peak > 0 {
		most := &trial.Of(&one.Usage.Memory).PeakRSSBytes
		*most = max(*most, peak) // which was seen of several processes together
	}
	one.Usage.CPUSeconds, one.Usage.ContextSwitches, one.Usage.MeasuredSeconds = &cpu, &switches, one.Wall.Seconds()
	return nil
}
