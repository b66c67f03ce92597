// Package run carries out the lab's experiments, in one results folder: a folder
// for each experiment, in it one for each of its stages, and above them an index that
// holds the documents' numbers against what was measured.
//
// New settles what is to be run and touches nothing. Open makes the folder, or takes
// over what an earlier run left in it. Measure runs every stage as a session (package
// session), with programs that it compiles where Go versions were asked for, and looks
// at those that have a trace. Write brings the folder's index and reports up to what the
// journals hold; Conclude does so for a folder that nothing is measured in. How a report
// looks is not known here: whoever starts a run hands in Pages.
//
// What is wrong with one stage is reported of that stage, in lab.json too, and the others
// run. Only the end of the context, a folder of another run, and a journal that cannot
// be written end the whole.
//
// Where a hypothesis stays open, since its interval holds a bound, Measure adds blocks of the settings
// that it is about, as long as the run may take. The answers hold however often one looks (package
// lab).
//
// Where the trials run is a Machine: today this one. The compilers and the programs
// under a trace run on this one in any case, under a supervisor.
package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/measure/local"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

type Options struct {
	Experiments []lab.Experiment
	Chosen      lab.Options // what the user would have otherwise than the documents; its CPUs are the Host's
	Seed        *uint64     // of the settings' order in every stage; nil: any
	// Fixed is that no blocks are added where a hypothesis is open, and Most is how long the run may
	// take; 0: as long as its first blocks and a share for each question.
	Fixed bool
	Most  time.Duration

	Dir     string         // the results folder; empty: results/lab-TIME
	Tool    journal.Tool   // who measures
	Spec    spec.Spec      // how it was called
	Secrets *secret.Keeper // what no record may have; nil: there is nothing
	Self    string         // procfit's own executable, which the practice programs are in
	Host    journal.Host
	Environ []string
	Machine Machine
	Pages   Pages
	Now     func() time.Time
}

// Pages writes the reports of what was measured, into directories that exist. Without them
// nothing is written.
type Pages struct {
	Sweep func(dir string, r *verdict.Result) ([]string, error) // of a stage
	Lab   func(dir string, o *lab.Outcome) error                // of the whole run
}

// Machine is where trials run.
type Machine struct {
	// Check says what of a valid Spec cannot be had there; built is that the run
	// compiles the program.
	Check func(spec plan.Spec, built bool) error
	// Target makes a stage's practice program the target, as it is there; nil: a command
	// of this machine.
	Target func(*plan.Spec, lab.Stage)
	// Look looks at what the experiment is about in addition to its sweeps, into its folder; nil:
	// there is nothing.
	Look func(ctx context.Context, e lab.Experiment, dir *folder.Dir) ([]lab.RanFile, error)
	// Runner makes what measures a session; a *session.Refusal is that this stage cannot be
	// run. Programs are those that were compiled, by the setting's Go version; nil where none
	// were to be.
	Runner func(s *session.Session, programs map[string]local.Program) (plan.Runner, error)
}

// ThisMachine is the one that procfit runs on; the targets get the environment.
func ThisMachine(environ []string) Machine {
	return Machine{
		Check: func(spec plan.Spec, built bool) error { return local.Check(spec, built) },
		Runner: func(s *session.Session, programs map[string]local.Program) (plan.Runner, error) {
			spec, err := s.Filled()
			if err != nil {
				return nil, err
			}
			return local.New(spec, local.Config{Environ: environ, CreateLog: s.CreateLog, Programs: programs})
		},
	}
}

// Run is a run whose every question is settled.
type Run struct {
	Dir     string
	Outcome lab.Outcome // of all that is in the folder; up to date after Write

	options   Options
	items     []*item
	questions int           // that it can answer here
	budget    time.Duration // once it measures
	waited    bool          // in vain, for other programs to leave CPUs free
}

type item struct {
	lab.Experiment
	stages  []*stage
	files   []lab.RanFile // to be looked at
	changed bool          // since its results were last read
}

func New(o Options) *Run {
	started := o.Now().Truncate(time.Second)
	r := &Run{Dir: o.Dir, options: o, Outcome: lab.Outcome{Schema: lab.OutcomeSchema, Started: started, Host: o.Host, Spec: o.Spec, Tool: o.Tool}}
	if r.Dir == "" {
		r.Dir = filepath.Join("results", "lab-"+started.Format("20060102-150405"))
	}
	chosen := o.Chosen
	chosen.CPUs = o.Host.EffectiveCPUs
	if given := len(chosen.ServerCPUs); given > 0 {
		chosen.CPUs = math.Min(chosen.CPUs, float64(given))
	}
	for _, e := range o.Experiments {
		x, stages := &item{Experiment: e}, e.Stages(chosen)
		r.questions += len(e.Asked(stages, chosen))
		for _, st := range stages {
			x.stages = append(x.stages, r.stage(e, st))
		}
		if e.Trace != "" && len(x.stages) > 0 {
			x.stages[0].Start += looking
		}
		r.items = append(r.items, x)
	}
	return r
}

// why is an error as the records have it.
func (r *Run) why(err error) string { return r.options.Secrets.In(phrase.Plain(err)) }

// asked is what the journal of a stage has, as if that experiment alone had been asked for.
func (r *Run) asked(e lab.Experiment) spec.Spec {
	s := r.options.Spec.Only(func(name string) bool { return !slices.Contains([]string{"out", "json", "output", "quiet"}, name) })
	s.Operands = []string{e.ID}
	return s
}

// Planned is a stage of the run.
type Planned struct {
	Experiment string // its id
	Stage      string // its id; empty: the only one
	Session    *session.Session
	NotRun     string        // why there is no Session
	Trials     int           // that its journal lacks
	Each       time.Duration // of a trial, its start among it; 0: only a first one can tell
	Start      time.Duration // of the stage: what it compiles, without downloads, and its reports
}

// What a stage takes in addition to its trials, on two CPUs.
const (
	startTrial = 130 * time.Millisecond // of a batch program: a process, and the look at what it used
	startStage = 300 * time.Millisecond // its journal, folder and reports
	compiling  = 2 * time.Second        // a program, by one release of Go
	copying    = 15 * time.Second       // a Go tree, and what the first build in it compiles
	looking    = 3 * time.Second        // the program once more, under its trace
)

// Cost is the expected time of the stage.
func (p Planned) Cost() time.Duration {
	if p.Trials == 0 {
		return 0
	}
	return p.Start + p.Each*time.Duration(p.Trials)
}

// Planned are the run's stages in their order.
func (r *Run) Planned() (list []Planned) {
	for _, x := range r.items {
		for _, s := range x.stages {
			s.Planned.NotRun = s.ran.NotRun
			list = append(list, s.Planned)
		}
	}
	return list
}

// after is the expected time of all that follows a stage.
func (r *Run) after(item, stage int) (d time.Duration) {
	for i := item; i < len(r.items); i++ {
		for j, s := range r.items[i].stages {
			if i > item || j > stage {
				d += s.Cost()
			}
		}
	}
	return d
}

// Files are what the run's experiments left to be looked at, below its folder.
func (r *Run) Files() (list []lab.RanFile) {
	for _, x := range r.items {
		list = append(list, x.files...)
	}
	return list
}

// Open makes the results folder, or takes over what an earlier run of experiments
// left in it, and keeps others from it until what it returns is closed; remade gets the reason why
// its index is started again. A *session.Refusal is that the user is to choose another.
func (r *Run) Open(remade func(error)) (io.Closer, error) {
	entries, err := os.ReadDir(r.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, refuse("--out: %w; choose a directory", err)
	}
	if len(entries) == 0 {
		made, err := folder.Make(r.Dir)
		if err != nil {
			return nil, fmt.Errorf("cannot create the results directory: %w; choose another with --out", err)
		}
		made.Close()
	}
	held, err := journal.LockDirectory(r.Dir)
	if err != nil {
		return nil, refuse("--out: %w", err)
	}
	if len(entries) > 0 {
		err = r.takeOver(entries, remade)
	}
	if err == nil {
		err = r.Write()
	}
	if err != nil {
		held.Close()
		return nil, err
	}
	return held, nil
}

func refuse(format string, args ...any) error {
	return &session.Refusal{Err: fmt.Errorf(format, args...)}
}

// ours reports whether there is nothing but what lab runs write.
func ours(entries []os.DirEntry) bool {
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		_, err := lab.Find(e.Name())
		return err != nil && !strings.HasPrefix(e.Name(), "article-") && !slices.Contains([]string{"index.html", "RESULTS.md", lab.OutcomeName}, e.Name())
	})
}

// takeOver starts with what an earlier run came to. Its index may be lost; the
// journals are found by the experiments' ids.
func (r *Run) takeOver(entries []os.DirEntry, remade func(error)) error {
	earlier, err := lab.ReadOutcome(r.Dir)
	damaged := (*json.SyntaxError)(nil)
	switch {
	case err == nil:
	case !errors.Is(err, os.ErrNotExist) && !errors.As(err, &damaged):
		return err
	case !ours(entries):
		return refuse("--out %s holds other files and no %s: choose a new or an empty directory", r.Dir, lab.OutcomeName)
	default:
		remade(err)
		return nil
	}
	if !session.SameHost(earlier.Host, r.Outcome.Host) {
		return refuse("--out %s holds a run of another machine: choose another directory", r.Dir)
	}
	r.Outcome.Started = earlier.Started
	for _, e := range earlier.Experiments {
		if err := cmp.Or(conclude(r.Dir, &e, r.Outcome.Host.EffectiveCPUs, r.options.Pages)); err != nil {
			return err
		}
		r.Outcome.Experiments = append(r.Outcome.Experiments, e)
	}
	return nil
}
