package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/lab/page"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	sweeppage "github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/test/must"
)

var pages = Pages{Sweep: sweeppage.Write, Lab: page.Write}

// planOf is a quick run of the experiments with two blocks of one and two Ps.
func planOf(t *testing.T, w *world, dir string, ids ...string) *Run {
	t.Helper()
	procs := must.Get(plan.ParseProcs("1,2"))(t)
	var list []lab.Experiment
	for _, id := range ids {
		list = append(list, must.Get(lab.Find(id))(t))
	}
	return w.plan(dir, lab.Options{Quick: true, Procs: &procs, Repeats: 2}, list...)
}

// unheard are events that nobody hears.
var unheard = Events{
	Stage: func(Turn) {}, NotRun: func(_, _, _ string) {}, Fetch: func(string) {}, Compile: func(_, _ string) {}, Trouble: func(error) {}, More: func(_, _ string, _ int) {},
}

func quiet(error) {}

// measure runs it as procfit lab run does.
func measure(t *testing.T, r *Run) error {
	t.Helper()
	held := must.Get(r.Open(quiet))(t)
	defer held.Close()
	return errors.Join(r.Measure(t.Context(), unheard), r.Write())
}

func read(t *testing.T, dir string) *lab.Outcome {
	t.Helper()
	return must.Get(lab.ReadOutcome(dir))(t)
}

func TestRun(t *testing.T) {
	dir, m := filepath.Join(t.TempDir(), "out"), &world{cpus: 2}
	r := planOf(t, m, dir, "parallel", "contention")
	if list := r.Planned(); len(list) != 2 || list[0].Trials != 6 || list[0].Cost() != startStage+6*(100*time.Millisecond+startTrial) || list[1].Experiment != "contention" {
		t.Errorf("%+v", list)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("planning made the folder")
	}
	var turns []Turn
	held := must.Get(r.Open(quiet))(t)
	// Meanwhile nobody else may.
	if _, err := planOf(t, m, dir, "json").Open(quiet); !isRefusal(err) {
		t.Errorf("a second run into the folder: %v", err)
	}
	on := unheard
	on.Stage = func(x Turn) { turns = append(turns, x) }
	must.OK(t, r.Measure(t.Context(), on))
	held.Close()
	if len(turns) != 2 || turns[0] != (Turn{"parallel", 1, 2, startStage + 6*(100*time.Millisecond+startTrial)}) || turns[1] != (Turn{"contention", 2, 2, 0}) {
		t.Errorf("%+v", turns)
	}
	o := read(t, dir)
	if !o.Complete || len(o.Experiments) != 2 || m.ran != 12 || o.Experiments[0].Stages[0].Run != 6 {
		t.Errorf("%d trials ran: %+v", m.ran, o)
	}

	// The same runs nothing again; another plan is refused; more may join.
	if err := measure(t, planOf(t, m, dir, "contention")); err != nil || m.ran != 12 {
		t.Errorf("%v, %d trials", err, m.ran)
	}
	other := planOf(t, m, dir, "contention")
	other.items[0].stages[0].Session.Plan.Blocks = 3
	if err := measure(t, other); !isRefusal(err) {
		t.Errorf("another plan: %v", err)
	}
	must.OK(t, measure(t, planOf(t, m, dir, "json")))
	if o = read(t, dir); len(o.Experiments) != 3 || !o.Complete {
		t.Errorf("%+v", o)
	}
}

func isRefusal(err error) bool {
	var refused *session.Refusal
	return errors.As(err, &refused)
}

// What is wrong with one stage is reported of it, and the rest runs.
func TestFaults(t *testing.T) {
	m := &world{
		cpus:    2,
		check:   map[string]error{"workload cpu": errors.New("not on this machine")},
		prepare: map[string]error{"workload io": errors.New("cannot be prepared")},
	}
	mixed := 0
	m.before = func(name string) error {
		if mixed++; name == "workload mixed" && mixed > 2 {
			return errors.New("fell over")
		}
		return nil
	}
	var told []string
	dir := filepath.Join(t.TempDir(), "out")
	r := planOf(t, m, dir, "workload", "contention")
	held := must.Get(r.Open(quiet))(t)
	defer held.Close()
	on := unheard
	on.NotRun = func(experiment, stage, why string) { told = append(told, experiment+" "+stage+" "+why) }
	must.OK(t, r.Measure(t.Context(), on))
	if want := []string{"workload cpu not on this machine", "workload io cannot be prepared"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	o := read(t, dir)
	s := o.Experiments[0].Stages
	if s[0].NotRun != "not on this machine" || s[1].NotRun != "cannot be prepared" || s[2].Stopped != "fell over" || s[2].Run != 2 {
		t.Errorf("%+v", s)
	}
	if !o.Complete || !o.Experiments[1].Complete || !o.Experiments[1].Proved() {
		t.Errorf("%+v", o.Experiments[1])
	}
}

// What a stage may not show is in no record, and a variable that it names is that of procfit.
func TestSecrets(t *testing.T) {
	nothing := func(string) (string, bool) { return "", false }
	w := &world{cpus: 2, invalidFrom: 1, secrets: secret.NewKeeper([]string{"--token", "crashed", "--password", "over77"}, nothing)}
	w.before = func(string) error {
		if w.ran == 3 {
			return errors.New("fell over77")
		}
		return nil
	}
	dir := filepath.Join(t.TempDir(), "out")
	must.OK(t, measure(t, planOf(t, w, dir, "contention")))
	if text := must.Read(t, filepath.Join(dir, "contention", journal.Name)); strings.Contains(text, "it crashed") || !strings.Contains(text, "it REDACTED") {
		t.Error(text)
	}
	if s := read(t, dir).Experiments[0].Stages[0]; s.Stopped != "fell REDACTED" {
		t.Errorf("%+v", s)
	}

	dir = filepath.Join(t.TempDir(), "out")
	r := planOf(t, w, dir, "contention")
	r.options.Machine = ThisMachine(nil)
	r.items[0].stages[0].Session.Spec.Load.Command = "sshpass -p {env:P} ssh box wrk"
	must.OK(t, measure(t, r))
	if s := read(t, dir).Experiments[0].Stages[0]; !strings.HasPrefix(s.NotRun, "the environment variable P is not set") {
		t.Errorf("%+v", s)
	}
}

// The end of the context ends the run; what was measured is kept and continued.
func TestInterrupt(t *testing.T) {
	dir, m := filepath.Join(t.TempDir(), "out"), &world{cpus: 2}
	ctx, cancel := context.WithCancel(t.Context())
	m.before = func(string) error {
		if m.ran == 4 {
			cancel()
			return ctx.Err()
		}
		return nil
	}
	r := planOf(t, m, dir, "contention", "parallel")
	held, err := r.Open(quiet)
	must.OK(t, err)
	err = errors.Join(r.Measure(ctx, unheard), r.Write())
	held.Close()
	o := read(t, dir)
	if !errors.Is(err, context.Canceled) || o.Complete || o.Experiments[1].Stages[0].Run != 4 || o.Experiments[0].NotRun != notYet {
		t.Errorf("%v: %+v", err, o)
	}
	m.before = nil
	if err := measure(t, planOf(t, m, dir, "contention", "parallel")); err != nil || m.ran != 12 || !read(t, dir).Complete {
		t.Errorf("%v, %d trials", err, m.ran)
	}
}

func TestFolders(t *testing.T) {
	m := &world{cpus: 2}
	mine := t.TempDir()
	must.Write(t, filepath.Join(mine, "thesis.txt"), "not ours")
	if _, err := planOf(t, m, mine, "contention").Open(quiet); !isRefusal(err) || !strings.Contains(err.Error(), "holds other files and no lab.json") {
		t.Errorf("a folder of others: %v", err)
	}
	file := filepath.Join(mine, "thesis.txt")
	if _, err := planOf(t, m, file, "contention").Open(quiet); !isRefusal(err) {
		t.Errorf("a file: %v", err)
	}

	// A damaged index is made again of what the journals hold.
	dir := filepath.Join(t.TempDir(), "out")
	must.OK(t, measure(t, planOf(t, m, dir, "contention")))
	must.Write(t, filepath.Join(dir, lab.OutcomeName), "{")
	var told error
	held, err := planOf(t, m, dir, "contention").Open(func(err error) { told = err })
	if err != nil || told == nil {
		t.Fatalf("%v, told %v", err, told)
	}
	held.Close()
	if o := read(t, dir); o.Experiments[0].Stages[0].Run != 6 {
		t.Errorf("%+v", o)
	}
	// While a run has the folder, a report of it is made and not written.
	held = must.Get(planOf(t, m, dir, "contention").Open(quiet))(t)
	must.OK(t, os.Remove(filepath.Join(dir, "index.html")))
	must.OK(t, os.Remove(filepath.Join(dir, "contention", "report.html")))
	before := must.Read(t, filepath.Join(dir, lab.OutcomeName))
	o, unwritten, err := Conclude(dir, func(dir string) (*lab.Outcome, error) {
		o, err := lab.ReadOutcome(dir)
		o.Experiments[0].Title = "old"
		return o, err
	}, pages)
	if err != nil || unwritten == nil || !o.Complete || !o.Experiments[0].Proved() || o.Experiments[0].Title == "old" {
		t.Errorf("%v, %v: %+v", err, unwritten, o)
	}
	for _, name := range []string{"index.html", "contention/report.html"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was written into the folder of a run", name)
		}
	}
	if must.Read(t, filepath.Join(dir, lab.OutcomeName)) != before {
		t.Error("lab.json of a run was replaced")
	}
	held.Close()
	// What cannot be written is known all the same.
	full := Pages{Sweep: func(string, *verdict.Result) ([]string, error) { return nil, errors.New("no space left") }, Lab: page.Write}
	if o, unwritten, err = Conclude(dir, lab.ReadOutcome, full); err != nil || unwritten == nil || !o.Experiments[0].Proved() || len(o.Experiments[0].Hypotheses) == 0 {
		t.Errorf("%v, %v: %+v", err, unwritten, o)
	}
	again := planOf(t, m, dir, "contention")
	again.options.Pages = full
	if err := again.Write(); err == nil || !again.Outcome.Experiments[0].Proved() {
		t.Errorf("%v: %+v", err, again.Outcome)
	}
	elsewhere := planOf(t, m, dir, "contention")
	elsewhere.Outcome.Host.CPUs = 64
	if _, err := elsewhere.Open(quiet); !isRefusal(err) || !strings.Contains(err.Error(), "another machine") {
		t.Errorf("another machine's: %v", err)
	}
	// An index may name no folder but the experiment's own.
	o = read(t, dir)
	o.Experiments[0].Stages[0].Directory = "../contention"
	outside := func(string) (*lab.Outcome, error) { return o, nil }
	if _, _, err := Conclude(dir, outside, pages); err == nil || !strings.Contains(err.Error(), "is not a directory of contention") {
		t.Errorf("a stage outside of the folder: %v", err)
	}
}

// What starts and loads a practice program is put in for each kind.
func TestCommands(t *testing.T) {
	r := planOf(t, &world{cpus: 2}, "out", "k8sbench", "contention", "build")
	var got []string
	for _, p := range r.Planned() {
		s := p.Session.Spec
		got = append(got, fmt.Sprint(s.Name, ": ", strings.Join(s.Target.Command, " "), " ", s.Target.URL))
	}
	want := []string{
		"k8sbench baseline: /bin/procfit lab serve k8sbench --addr=127.0.0.1:{port} http://127.0.0.1:{port}/cpu?n=1",
		"k8sbench pods: /bin/procfit lab serve k8sbench --addr=127.0.0.1:{port} http://127.0.0.1:{port}/cpu?n=20",
		"contention: /bin/procfit lab program contention -n 2000000 ",
		"build list: go list -json std ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What a stage cannot do without is reported before anything is run.
func TestLacks(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	t.Setenv("CC", "")
	executable := func(name string) {
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		must.OK(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o755))
	}
	compiled := lab.Stage{Build: lab.Build{Race: true}}
	pinned := lab.Stage{Needs: []string{"taskset"}}
	wants := func(st lab.Stage, want string) {
		t.Helper()
		if err := lacks(st); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	wants(lab.Stage{}, "")
	wants(pinned, "it needs the command taskset, which is not on PATH")
	wants(compiled, "there is no go command on PATH")
	executable("go")
	wants(compiled, "there is no C compiler")
	executable("clang")
	wants(compiled, "")
	executable("taskset")
	wants(pinned, "")
}
