package lab

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/program/gobench"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

var (
	idForm       = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	quotientForm = regexp.MustCompile(`^([\d.]+) ÷ ([\d.]+)[ a-zA-Zµ/]* = ([\d.]+)$`)
)

// What a document says is put so that it can be judged.
func TestHypotheses(t *testing.T) {
	for _, e := range List() {
		ids := map[string]bool{}
		if len(e.Hypotheses) == 0 {
			t.Errorf("%s has no hypothesis", e.ID)
		}
		for _, s := range e.Hypotheses {
			name := e.ID + " " + s.ID
			if ids[s.ID] || !idForm.MatchString(s.ID) {
				t.Errorf("%s: an id of its own, in lower snake case", name)
			}
			ids[s.ID] = true
			if s.Says == "" || s.Measure.of == nil || len(s.Measure.asks) == 0 || s.AtLeast == 0 && s.AtMost == 0 || s.AtMost != 0 && s.AtLeast > s.AtMost {
				t.Errorf("%s: %+v", name, s)
			}
			// A hypothesis that the document's own machine refutes is not its.
			if s.Value != 0 && (s.Value < s.AtLeast || s.AtMost != 0 && s.Value > s.AtMost) {
				t.Errorf("%s: the document's own %g is not from %g to %g", name, s.Value, s.AtLeast, s.AtMost)
			}
			document(t, name, s)
		}
	}
}

// document holds a hypothesis's value against the quotient of the document's numbers.
func document(t *testing.T, name string, s Hypothesis) {
	t.Helper()
	m := quotientForm.FindStringSubmatch(s.Document)
	if m == nil {
		if s.Value != 0 || strings.Contains(s.Document, "÷") {
			t.Errorf("%s: value %g, but %q is no quotient", name, s.Value, s.Document)
		}
		return
	}
	a, errA := strconv.ParseFloat(m[1], 64)
	b, errB := strconv.ParseFloat(m[2], 64)
	// The numerator of a quotient of quotients is rounded.
	if errA != nil || errB != nil || math.Abs(s.Value/(a/b)-1) > 1e-6 && !strings.Contains(m[0], "times") {
		t.Errorf("%s: value %g, want %q", name, s.Value, s.Document)
	}
	if m[3] != fmt.Sprintf("%.3g", s.Value) && m[3] != strconv.FormatFloat(s.Value, 'f', -1, 64) && m[3] != fmt.Sprintf("%.2f", s.Value) {
		t.Errorf("%s: %q, and the value is %g", name, s.Document, s.Value)
	}
}

// everyStage calls f with what is run in several settings.
func everyStage(t *testing.T, f func(t *testing.T, e Experiment, s Stage)) {
	for _, o := range []Options{{CPUs: 2}, {CPUs: 2, Quick: true}, {CPUs: 24, MakeBash: true}, {CPUs: 0.5, Quick: true}, {CPUs: 6.5, Repeats: 2}} {
		for _, e := range List() {
			stages := e.Stages(o)
			ids := map[string]bool{}
			for _, s := range stages {
				if ids[s.ID] || s.ID == "" && len(stages) > 1 || s.ID != "" && !idForm.MatchString(s.ID) {
					t.Errorf("%s %q: an id of its own, in lower snake case", e.ID, s.ID)
				}
				ids[s.ID] = true
				f(t, e, s)
			}
			if len(stages) == 0 {
				t.Errorf("%s runs nothing", e.ID)
			}
		}
	}
}

func TestStages(t *testing.T) {
	everyStage(t, func(t *testing.T, e Experiment, s Stage) {
		name := e.ID + " " + s.ID
		if (s.Target.BuiltIn == e.ID) == (e.Kind == Command) || (len(s.Target.Command) > 0) != (e.Kind == Command) {
			t.Errorf("%s of kind %s runs %q, %q", name, e.Kind, s.Target.BuiltIn, s.Target.Command)
		}
		if (s.Load.Warmup > 0) != (e.Kind == Server) || (s.TrialTakes > 0) == (e.Kind == Server) || s.Target.Benchmarks != (e.Kind == Batch && len(s.Load.Metrics) == 0) {
			t.Errorf("%s of kind %s: %+v", name, e.Kind, s)
		}
		if s.Name != strings.TrimSpace(name) || s.Procs.Auto || strings.HasPrefix(s.Path, "/") {
			t.Errorf("%s: %+v", name, s)
		}
		// Whoever runs it names the binary and the address.
		spec := s.Spec
		switch e.Kind {
		case Server:
			spec.Target.Command = []string{"procfit", plan.PortPlaceholder}
			spec.Target.URL = "http://127.0.0.1:" + plan.PortPlaceholder + "/" + s.Path
		case Batch:
			spec.Target.Command = []string{"procfit"}
		}
		if err := spec.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
}

// What the user asks for stands instead of what the document has.
func TestOptions(t *testing.T) {
	three := only(3)
	o := Options{CPUs: 2, Procs: &three, Quotas: quotas(0.3), Go: []string{"1.20"}, Repeats: 7}
	procs := func(s Stage) bool { return reflect.DeepEqual(s.Procs, three) }
	limits := func(s Stage) bool { return reflect.DeepEqual(s.Quotas, o.Quotas) }
	for _, e := range List() {
		for _, s := range e.Stages(o) {
			if s.Fixed && e.ID != "busyworker" { // which has a stage for each quota
				if procs(s) || limits(s) || slices.Contains(s.GoVersions, "1.20") || s.Repeats != 7 {
					t.Errorf("%s %s is to stay as it is: %+v", e.ID, s.ID, s)
				}
				continue
			}
			if !procs(s) || !limits(s) || s.Repeats != 7 || slices.Equal(s.GoVersions, o.Go) == (e.Kind == Command) {
				t.Errorf("%s: %+v", e.ID, s)
			}
		}
	}
	six, _ := Find("k8sbench")
	if s := six.Stages(Options{CPUs: 6}); s[0].Replicas[0] != 6 || s[1].Replicas[0] != 10 || s[1].Load.Connections != 1000 || s[1].Path != "cpu?n=20" {
		t.Errorf("on the document's machine: %+v", s)
	}
}

// trials counts a stage's, with A/A copies and pilots, and about how long they
// take; the folder's report takes a second more.
func trials(t *testing.T, s Stage) (n int, d time.Duration) {
	t.Helper()
	groups := max(1, len(s.GoVersions)) * max(1, len(s.Quotas))
	n = groups * (len(s.Procs.Values) + 1) * s.Repeats
	if s.TrialTakes > 0 {
		return n, time.Duration(n)*s.TrialTakes + time.Second
	}
	n += 2 * groups
	return n, time.Duration(n)*(s.Load.Duration+s.Load.Warmup+250*time.Millisecond) + time.Second
}

// quickBudget is what the first blocks of all quick experiments may take, by the stages' own sizes:
// with the blocks that decide what is open after them a run is to take ten minutes on two CPUs.
// TestQuickBudget logs the seconds of each.
const quickBudget = 420 * time.Second

func TestQuickBudget(t *testing.T) {
	for _, quick := range []bool{true, false} {
		total, all := time.Duration(0), 0
		for _, e := range List() {
			sum := time.Duration(0)
			for _, s := range e.Stages(Options{CPUs: 2, Quick: quick}) {
				if want := pick(Options{Quick: quick}, quickBlocks, 6); s.Repeats < want {
					t.Errorf("%s: %d blocks", e.ID, s.Repeats)
				}
				n, d := trials(t, s)
				sum, all = sum+d, all+n
			}
			t.Logf("quick %v: %s %.0f s", quick, e.ID, sum.Seconds())
			total += sum
		}
		t.Logf("quick %v: %d trials, %s", quick, all, total)
		if quick && total > quickBudget {
			t.Errorf("%s, and the budget is %s", total, quickBudget)
		}
	}
}

// printed are the metrics that an experiment's program prints, by the stage's own
// way of finding them.
func printed(t *testing.T, e Experiment, s Stage) map[string]journal.Metric {
	t.Helper()
	metrics := map[string]journal.Metric{}
	if s.Build != (Build{}) { // TestBuilds runs them
		for _, r := range builds[e.ID+" "+s.ID] {
			metrics[r] = journal.Metric{Value: 1}
		}
	}
	for _, q := range quick[e.ID] {
		if s.Build != (Build{}) {
			break
		}
		if len(s.Load.Metrics) > 0 { // a figure that the program prints only after a while
			stages := e.Stages(Options{CPUs: 2, Quick: true})
			i := max(0, slices.IndexFunc(stages, func(quick Stage) bool { return quick.ID == s.ID }))
			q.args = strings.Join(stages[i].Args, " ")
		}
		command := e.ID + " " + q.args
		output, err := output(command, s.Target.Env)
		if err != nil {
			t.Fatalf("%s: %v: %s", command, err, output)
		}
		results, _, err := gobench.ParseOutput(output, runtime.GOMAXPROCS(0))
		must.OK(t, err)
		for _, r := range results {
			for unit, v := range r.Values {
				metrics[r.Name+" "+unit] = journal.Metric{Value: v}
			}
		}
		if len(s.Load.Metrics) == 0 {
			continue
		}
		clear(metrics)
		for _, m := range s.Load.Metrics {
			found, err := load.FindMetrics(load.Output{Head: output}, []load.Metric{m})
			if err != nil {
				t.Errorf("%s: %v in:\n%s", e.ID, err, output)
			}
			metrics[m.Name] = journal.Metric{Value: found[m.Name].Value}
		}
	}
	return metrics
}

// outputs has a func() ([]byte, error) for each command and its environment: many stages
// run the same.
var outputs sync.Map

// output is what a practice program prints. It runs as a process of its own, since the
// runtime reads GODEBUG as it starts.
func output(command string, env []string) ([]byte, error) {
	f, _ := outputs.LoadOrStore(fmt.Sprintf("%q %q", command, env), sync.OnceValues(func() ([]byte, error) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProgram$")
		cmd.Env = append(append(os.Environ(), env...), "PROCFIT_LAB_PROGRAM="+command)
		return cmd.CombinedOutput()
	}))
	return f.(func() ([]byte, error))()
}

// TestProgram is a program when TestFigures starts it.
func TestProgram(t *testing.T) {
	words := strings.Fields(os.Getenv("PROCFIT_LAB_PROGRAM"))
	if len(words) == 0 {
		return
	}
	if code, err := Run(words[0], words[1:], os.Stdout, os.Stderr); code != 0 || err != nil {
		t.Fatal(code, err)
	}
}

// ran is a stage as if each of its settings had run twice with what the program really
// prints.
func ran(t *testing.T, e Experiment, s Stage, cpus float64) Measured {
	t.Helper()
	limits, versions := s.Quotas, s.GoVersions
	if len(limits) == 0 {
		limits = quotas(0)
	}
	if len(versions) == 0 {
		versions = []string{""}
	}
	// wrk has loaded it, of which one hypothesis is.
	result := &verdict.Result{Host: journal.Host{EffectiveCPUs: cpus}, Load: journal.Load{Connections: s.Load.Connections, Command: "wrk"}}
	result.Target = journal.Target{Kind: journal.KindServer, ServerCPUs: s.Target.CPUs}
	m, metrics := Measured{Result: result}, printed(t, e, s)
	for _, version := range versions {
		for _, quota := range limits {
			for _, p := range s.Procs.Values {
				for block := range 6 {
					one, latency := 1.5, &journal.Latency{P50: new(0.1), P90: new(0.1), P99: new(0.1), P999: new(0.1), Max: new(0.1), Mean: new(0.1)}
					m.Trials = append(m.Trials, journal.Trial{
						Setting: journal.Setting{Procs: p, QuotaCPUs: quota, GoVersion: version}, Role: journal.RoleMeasure, Block: block, Valid: true,
						Metrics: metrics, ThroughputPerSecond: &one, LatencySeconds: latency,
						Phases: []journal.Phase{{Mode: journal.ModeClosed, LatencySeconds: latency}, {Mode: journal.ModeOpen, AchievedPerSecond: 1, Usage: &journal.Usage{MeasuredSeconds: 1, CPUSeconds: &journal.CPUSeconds{User: 1}}}},
						Usage:  journal.Usage{MeasuredSeconds: 1, CPUSeconds: &journal.CPUSeconds{User: 1}, BesideCPUSeconds: &one, ContextSwitches: &journal.ContextSwitches{Voluntary: 9}, RunQueueWaitSeconds: &one},
					})
				}
			}
		}
	}
	return m
}

// Every figure that a hypothesis asks for is really there: of a full run on a machine
// that needs nothing, no hypothesis is without a value.
func TestFigures(t *testing.T) {
	for _, e := range List() {
		t.Run(e.ID, func(t *testing.T) {
			skipRacy(t, e.ID)
			t.Parallel()
			const cpus = 24
			for _, o := range []Options{{CPUs: cpus, MakeBash: true}, {CPUs: 2, Quick: true}} {
				results := Results{}
				for _, s := range e.Stages(o) {
					results[s.ID] = ran(t, e, s, o.CPUs)
				}
				answered := 0
				for _, s := range e.Hypotheses {
					got := s.Measure.of(results)
					if got.Value == nil && !o.Quick { // quick leaves out Go versions, and what takes long
						t.Errorf("quick %v: %s: %+v", o.Quick, s.ID, got.Why)
					}
					if got.Value != nil && s.Needs <= o.CPUs {
						answered++
					}
				}
				// Uber's quota of two CPUs and the load take three, and the kernel's part of http a third.
				if answered == 0 && e.ID != "uber" && e.ID != "http" {
					t.Errorf("quick %v: no hypothesis has a value", o.Quick)
				}
				for _, s := range e.Hypotheses {
					if e := s.Measure.of(nil); e.Value != nil || e.Why == "" {
						t.Errorf("%s of nothing: %+v", s.ID, e)
					}
				}
			}
		})
	}
}

// TestClientsAnswerOnce: a client that the scheduler let wait longer than the whole run has
// still sent a request, so that there is a percentile to print.
func TestClientsAnswerOnce(t *testing.T) {
	took, _, err := harness.Clients(3, 0, func() error { return nil })
	if err != nil || len(took) != 3 {
		t.Errorf("%d requests of three clients, error %v", len(took), err)
	}
}
