package session_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/slo"
	"github.com/procfit/procfit/test/must"
)

// runner answers every task with a valid trial, and stops when it is told to.
type runner struct {
	ran  int
	stop int // after that many; 0: never
	each func(n int) error

	speed float64  // requests per second; 0: 100
	rate  *float64 // of the last task
}

func (r *runner) Prepare(context.Context, journal.Plan, plan.Observer) error { return nil }
func (r *runner) Close() error                                               { return nil }

func (r *runner) Run(ctx context.Context, t plan.Task, _ plan.Observer) (journal.Trial, error) {
	if r.stop > 0 && r.ran == r.stop {
		return journal.Trial{}, context.Canceled
	}
	r.ran++
	r.rate = t.RatePerSecond
	if r.each != nil {
		if err := r.each(r.ran); err != nil {
			return journal.Trial{}, err
		}
	}
	return journal.Trial{Origin: journal.OriginLocal, Valid: true, ThroughputPerSecond: new(cmp.Or(r.speed, 100)), ThroughputUnit: "requests", ObservedProcs: []*int{new(2)}}, nil
}

// sample is a sweep of nine trials and the pilots.
func sample() plan.Spec {
	s := plan.Default()
	s.Target.BuiltIn = "cpuserver"
	s.Target.Command = []string{"procfit", "lab", "serve", "cpuserver", "--addr", "127.0.0.1:{port}"}
	s.Target.URL = "http://127.0.0.1:{port}/"
	s.Load.Duration, s.Load.Warmup, s.Load.Stretch = 400*time.Millisecond, 100*time.Millisecond, false
	s.Procs = plan.Procs{Values: []*int{nil, new(1), new(2)}}
	s.Repeats, s.Seed = 3, new(uint64(7))
	return s
}

func options(dir string, host journal.Host) session.Options {
	return session.Options{Dir: dir, Host: host, Tool: journal.Tool{GoVersion: "go1.26.8"}, Spec: spec.Spec{Command: "sweep"}, Started: time.Unix(1, 0)}
}

var two = journal.Host{CPUs: 2, EffectiveCPUs: 2}

// folderWith is a results folder of the spec's sweep, which ended after that many
// trials; 0: at its end.
func folderWith(t *testing.T, trials int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if _, err := session.New(sample(), options(dir, two)).Run(t.Context(), &runner{stop: trials}, session.Events{}); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return dir
}

func lines(t *testing.T, dir string) int {
	t.Helper()
	return strings.Count(must.Read(t, filepath.Join(dir, journal.Name)), "\n")
}

// Runs that start in one second have a folder each.
func TestFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	first := session.New(sample(), options("", two)).Dir
	for _, want := range []string{first, first + "-2", first + "-3"} {
		got := session.New(sample(), options("", two)).Dir
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
		must.OK(t, os.MkdirAll(got, 0o755))
	}
	one, other := session.New(sample(), options("", two)), session.New(sample(), options("", two)) // before either has a folder
	for _, s := range []*session.Session{one, other} {
		must.Get(s.Run(t.Context(), &runner{}, session.Events{}))(t)
	}
	if one.Dir == other.Dir || lines(t, one.Dir) != lines(t, other.Dir) {
		t.Errorf("their folders: %s and %s", one.Dir, other.Dir)
	}
}

// Whatever is measured otherwise is another sweep, whose journal stays as it is. A refusal names what was asked
// for in another way, or what came of it. What came to the same is no reason to refuse.
func TestAnotherSweep(t *testing.T) {
	const unnamed = "what this version of procfit makes of the command"
	for _, c := range []struct {
		want   string
		change func(*plan.Spec, *session.Options)
	}{
		{"", func(_ *plan.Spec, o *session.Options) {
			o.Spec = o.Spec.With(spec.Set("connections", "64"), spec.Set("out", "y"), spec.Part("timeout", "quiet", "1m"))
			o.Spec.Operands = []string{"./old"}
		}},
		{"--connections", func(p *plan.Spec, o *session.Options) {
			p.Load.Connections++
			o.Spec = o.Spec.With(spec.Set("connections", "65"))
		}},
		{"--trial-time", func(p *plan.Spec, o *session.Options) {
			p.Load.Duration *= 2
			o.Spec = o.Spec.With(spec.Unset("trial-time"))
		}},
		{"the command, the words before the flags and --limit", func(p *plan.Spec, o *session.Options) {
			p.Quotas = []*float64{new(1.0)}
			o.Spec = o.Spec.With(spec.Set("limit", "1"))
			o.Spec.Program, o.Spec.Operands = []string{"./y"}, []string{"./old"}
		}},
		{"--timeout", func(p *plan.Spec, o *session.Options) {
			p.Target.ReadyTimeout *= 2
			o.Spec = o.Spec.With(spec.Part("timeout", "ready", "1m"))
		}},
		{"--timeout", func(p *plan.Spec, _ *session.Options) { p.Load.RequestTimeout /= 50 }},
		{"--repeats", func(p *plan.Spec, _ *session.Options) {
			p.Budget = &plan.Budget{Goal: journal.GoalProven, MaxTrials: 40}
		}},
		{"--seed", func(p *plan.Spec, _ *session.Options) { p.Seed = new(uint64(8)) }},
		{"the file of --body", func(p *plan.Spec, _ *session.Options) { p.Load.Body = []byte("x") }},
		{"GOGC, GOMEMLIMIT or GODEBUG (now GOGC=50, then none)", func(_ *plan.Spec, o *session.Options) { o.Environ = []string{"GOGC=50"} }},
		{"the host", func(_ *plan.Spec, o *session.Options) { o.Host.CPUs++ }},
		{"the Go version that procfit, its own target, is built with", func(_ *plan.Spec, o *session.Options) { o.Tool.GoVersion = "go1.27" }},
		{unnamed, func(p *plan.Spec, _ *session.Options) { p.Load.Connections++ }},
		{unnamed, func(p *plan.Spec, _ *session.Options) { p.Procs.Values = p.Procs.Values[:2] }},
		{unnamed, func(p *plan.Spec, _ *session.Options) { p.Target.URL += "x" }},
		{unnamed, func(p *plan.Spec, _ *session.Options) { p.Load.Method = "PUT" }},
	} {
		dir := t.TempDir()
		p, o := sample(), options(dir, two)
		o.Spec = o.Spec.With(spec.Set("trial-time", "400ms"))
		if _, err := session.New(p, o).Run(t.Context(), &runner{stop: 8}, session.Events{}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		c.change(&p, &o)
		before, r := lines(t, dir), &runner{}
		begun, err := session.New(p, o).Run(t.Context(), r, session.Events{})
		if c.want == "" {
			must.OK(t, err)
			continue
		}
		if begun || !refused(err, "has a run that differs in "+c.want+"; its command was: procfit sweep --trial-time 400ms; repeat") || r.ran > 0 || lines(t, dir) != before {
			t.Errorf("%s: begun %v, %v", c.want, begun, err)
		}
	}
}

// refused reports whether an error is a Refusal that says that.
func refused(err error, what string) bool {
	_, refusal := errors.AsType[*session.Refusal](err)
	return refusal && strings.Contains(err.Error(), what)
}

// A run with the load from a pod is not resumed with one through the API server: no flag of a plan
// says which it was.
func TestRefusalOfATunnel(t *testing.T) {
	dir, p := t.TempDir(), sample()
	p.Target.BuiltIn, p.Target.Command, p.Target.URL = "", nil, "http://{pod}/"
	for _, local := range []bool{false, true} {
		p.Target.Pods = &plan.Pods{Object: "deployment/api", Namespace: "shop", LoadElsewhere: true, LoadFromHere: local}
		_, err := session.New(p, options(dir, two)).Run(t.Context(), &runner{stop: 8}, session.Events{})
		if !local && !errors.Is(err, context.Canceled) || local && !refused(err, "has a run that differs in --load-from; its command") {
			t.Errorf("through the API server %v: %v", local, err)
		}
	}
}

// A run is resumed with another credential, but not with another value of --env or --header, although
// the journal has none of them.
func TestOtherValues(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		env, header string
		same        bool
	}{
		{"MODE=fast", "X-Tenant: small", true}, {"MODE=slow", "X-Tenant: small", false}, {"MODE=fast", "X-Tenant: large", false}, {"MODE=fast", "X-Tenant: small", true},
	} {
		p := sample()
		p.Target.Env = []string{tc.env, "API_TOKEN=" + t.TempDir()}
		p.Load.Headers = []string{tc.header, "Authorization: Bearer " + t.TempDir()}
		_, err := session.New(p, options(dir, two)).Run(t.Context(), &runner{stop: 2}, session.Events{})
		if tc.same && !errors.Is(err, context.Canceled) || !tc.same && !refused(err, "differs in the values of --env or --header; its command was") {
			t.Errorf("%s, %s: %v", tc.env, tc.header, err)
		}
	}
	p := sample()
	p.Target.Env, p.Load.Headers, p.Seed = []string{"MODE=fast", "API_TOKEN=x"}, []string{"X-Tenant: small", "Authorization: Bearer x"}, new(uint64(8))
	if _, err := session.New(p, options(dir, two)).Run(t.Context(), &runner{}, session.Events{}); !refused(err, "differs in --seed; its command was") {
		t.Errorf("with another seed: %v", err)
	}
}

// The command that a report proposes, with a variable in place of each credential, resumes the run.
func TestResumeByVariables(t *testing.T) {
	dir, p := t.TempDir(), sample()
	o := options(dir, two)
	o.Spec = o.Spec.With(spec.Set("body", `{"password":"{env:PASSWORD}"}`))
	p.Target.BuiltIn, p.Target.Command = "", []string{"./absent", "--token", "S3", ":{port}"}
	p.Target.URL, p.Target.Env = "http://127.0.0.1:{port}/?token=S3", []string{"MODE=fast"}
	p.Target.Beside, p.Load.Body = &plan.Neighbour{Command: []string{"./absent", "--dsn=S3"}}, []byte(`{"password":"S3"}`)
	if _, err := session.New(p, o).Run(t.Context(), &runner{stop: 8}, session.Events{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	p.Target.Command = []string{"./absent", "--token", "{env:TOKEN}", ":{port}"}
	p.Target.URL, p.Target.Env = "http://127.0.0.1:{port}/?token={env:TOKEN}", []string{"MODE={env:MODE}"}
	p.Target.Beside, p.Load.Body = &plan.Neighbour{Command: []string{"./absent", "--dsn={env:DSN}"}}, []byte(`{"password":"{env:PASSWORD}"}`)
	for mode, want := range map[string]string{"fast": "", "slow": "differs in the values of --env or --header; its command", "": "export MODE=…"} {
		o.Secrets = secret.NewKeeper(nil, func(name string) (string, bool) {
			if name == "MODE" {
				return mode, mode != ""
			}
			return "a longer one", true
		})
		if err := session.New(p, o).Look(); want == "" && err != nil || want != "" && !refused(err, want) {
			t.Errorf("MODE=%s: %v", mode, err)
		}
	}
}

// The directory is the same by a link, and runtime variables are in another order. Others are named,
// with those of the run.
func TestSameSurroundings(t *testing.T) {
	dir, place, link := filepath.Join(t.TempDir(), "out"), t.TempDir(), filepath.Join(t.TempDir(), "link")
	must.OK(t, os.Symlink(place, link))
	for _, tc := range []struct {
		in, want string
		environ  []string
	}{
		{place, "", []string{"GOMEMLIMIT=1GiB", "GOGC=50"}},
		{link, "", []string{"GOGC=50", "GOMEMLIMIT=1GiB"}},
		{t.TempDir(), ", then " + place + ") and GOGC, GOMEMLIMIT or GODEBUG (now GOGC=60, then GOGC=50 GOMEMLIMIT=1GiB)", []string{"GOGC=60"}},
	} {
		t.Chdir(tc.in)
		o := options(dir, two)
		o.Environ = tc.environ
		_, err := session.New(sample(), o).Run(t.Context(), &runner{stop: 2}, session.Events{})
		if tc.want == "" && !errors.Is(err, context.Canceled) || tc.want != "" && !refused(err, "differs in the directory (now "+tc.in+tc.want) {
			t.Errorf("in %s: %v", tc.in, err)
		}
	}
}

// A resumed run does not mix two builds of a program.
func TestOtherProgram(t *testing.T) {
	dir, program := t.TempDir(), filepath.Join(t.TempDir(), "x")
	p := sample()
	p.Target.BuiltIn, p.Target.Command = "", []string{program, ":{port}"}
	run := func(text string) error {
		must.OK(t, os.WriteFile(program, []byte(text), 0o755))
		_, err := session.New(p, options(dir, two)).Run(t.Context(), &runner{stop: 2}, session.Events{})
		return err
	}
	if err := run("#!/bin/sh\n"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := run("#!/bin/sh\nexit\n"); !refused(err, "differs in the executable or the template of the pods; its command") {
		t.Error(err)
	}
}

// The journal's own words are shown without what a terminal would obey.
func TestHostileArguments(t *testing.T) {
	dir := folderWith(t, 8)
	path := filepath.Join(dir, journal.Name)
	must.Write(t, path, strings.Replace(must.Read(t, path), `"command":"sweep"`, `"command":"sweep\u001b]0;owned\u0007"`, 1))
	p := sample()
	p.Repeats++
	_, err := session.New(p, options(dir, two)).Run(t.Context(), &runner{}, session.Events{})
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\x07") || !strings.Contains(err.Error(), `procfit $'sweep\033]0;owned\007'; repeat`) {
		t.Errorf("%q", err)
	}
}

// What was measured when a run ends is kept, and the rest runs later, at the seed
// that the journal has.
func TestInterruptAndGoOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	p := sample()
	p.Seed = nil
	s := session.New(p, options(dir, two))
	var seen []string
	events := session.Events{Begin: func() { seen = append(seen, "begin") }, Progress: func(plan.Progress) { seen = append(seen, "progress") }}
	begun, err := s.Run(t.Context(), &runner{stop: 4}, events)
	if !begun || !errors.Is(err, context.Canceled) || lines(t, dir) != 5 || seen[0] != "begin" || len(seen) != 1+4*2+1 {
		t.Fatalf("begun %v, %v, %d lines, %v", begun, err, lines(t, dir), seen)
	}
	o := options(dir, journal.Host{CPUs: 2, EffectiveCPUs: 2})
	o.Started = time.Unix(99, 0) // another seed, were it not for the journal's
	again := session.New(p, o)
	for _, s := range []*session.Session{s, again} { // the requests are sent in its order too
		if s.Spec.Seed == nil || *s.Spec.Seed != uint64(time.Unix(1, 0).UnixNano()) || *s.Spec.Seed != s.Plan.Seed {
			t.Errorf("the Spec has another seed than the plan's %d", s.Plan.Seed)
		}
	}
	r := &runner{}
	if begun, err := again.Run(t.Context(), r, session.Events{}); !begun || err != nil || again.Done != 4 || r.ran != s.Trials()-4 {
		t.Errorf("begun %v, %v: %d done, %d more ran", begun, err, again.Done, r.ran)
	}
	if info, err := os.Stat(filepath.Join(dir, journal.Name)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the journal: %v, %v", info.Mode(), err)
	}
}

// A journal that goes in mid-run ends the run at the next trial, not at the end.
func TestJournalRemoved(t *testing.T) {
	dir := t.TempDir()
	s := session.New(sample(), options(dir, two))
	r := &runner{each: func(n int) error {
		if n == 3 {
			return os.Remove(filepath.Join(dir, journal.Name))
		}
		return nil
	}}
	_, err := s.Run(t.Context(), r, session.Events{})
	var unusable *session.JournalError
	if !errors.As(err, &unusable) || !errors.Is(err, journal.ErrRemoved) || r.ran != 3 {
		t.Errorf("%v after %d trials", err, r.ran)
	}
}

// A folder of something else is left as it is.
func TestForeignFolder(t *testing.T) {
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "thesis.txt"), []byte("x"), 0o644))
	_, err := session.New(sample(), options(dir, journal.Host{CPUs: 2})).Run(t.Context(), &runner{}, session.Events{})
	if !refused(err, "") {
		t.Errorf("%v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the folder now holds %v", entries)
	}
}

// Credentials stay out of the header.
func TestHeaderHasNoSecrets(t *testing.T) {
	p := sample()
	p.Target.URL = "http://127.0.0.1:{port}/?token=S3CR3T"
	p.Target.BuiltIn, p.Target.Command = "", []string{"sh", "-c", "API_KEY='S3CR3T' ./server :{port}"}
	p.Target.Against = []string{"./old", "--dsn=postgres://u:S3CR3T@h/db", ":{port}"}
	p.Load.Headers = []string{"Authorization: Bearer S3CR3T"}
	p.Load.Metrics = []load.Metric{must.Get(load.ParseMetric("rate=token=S3CR3T ([0-9]+)"))(t)}
	o := options(t.TempDir(), journal.Host{CPUs: 2, EffectiveCPUs: 2})
	o.Spec = o.Spec.With(spec.Set("metric", "rate=token={env:TOKEN} ([0-9]+)"))
	s := session.New(p, o)
	must.Get(s.Run(t.Context(), &runner{}, session.Events{}))(t)
	c := contentsOf(t, s.Dir)
	must.Get(page.Write(s.Dir, verdict.Analyze(c.Header, c.Trials)))(t)
	list, err := filepath.Glob(filepath.Join(s.Dir, "*"))
	if err != nil || len(list) < 5 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, f := range list {
		if info, err := os.Stat(f); err != nil || info.IsDir() {
			continue
		}
		if strings.Contains(must.Read(t, f), "S3CR3T") {
			t.Errorf("%s has the secret", f)
		}
	}
}

func TestBaseline(t *testing.T) {
	dir := folderWith(t, 0)
	for name, c := range map[string]struct {
		change func(*plan.Spec, *session.Options)
		want   string
	}{
		"the same":    {func(*plan.Spec, *session.Options) {}, ""},
		"no unset":    {func(s *plan.Spec, _ *session.Options) { s.Procs.Values = []*int{new(1)} }, "both runs need default"},
		"no other":    {func(s *plan.Spec, _ *session.Options) { s.Procs.Values = []*int{nil, new(7)} }, "share no numbered setting"},
		"other limit": {func(s *plan.Spec, _ *session.Options) { s.Quotas = []*float64{new(1.0)} }, "give the --limit and --replicas of the earlier sweep"},
		"other host":  {func(_ *plan.Spec, o *session.Options) { o.Host.CPUModel = "another" }, "another host"},
		"other SLO":   {func(s *plan.Spec, _ *session.Options) { s.Load.SLO = &slo.Objective{Quantile: 0.99, Seconds: 0.05} }, "another latency objective: measure the new program with procfit sweep"},
		"other kind":  {func(s *plan.Spec, _ *session.Options) { s.Target.URL = "" }, "it measured a server target"},
		"no baseline": {func(_ *plan.Spec, o *session.Options) { o.Baseline = "nowhere" }, "no such file"},
	} {
		p, o := sample(), options(t.TempDir(), two)
		o.Baseline = dir
		c.change(&p, &o)
		_, err := session.New(p, o).CheckBaseline()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	failed := strings.Split(must.Read(t, filepath.Join(dir, journal.Name)), "\n")
	for i, line := range failed {
		if strings.Contains(line, `"kind":"trial"`) && strings.Contains(line, `"procs":null`) {
			failed[i] = strings.Replace(line, `"valid":true`, `"valid":false`, 1)
		}
	}
	o := options(t.TempDir(), two)
	o.Baseline = t.TempDir()
	must.Write(t, filepath.Join(o.Baseline, journal.Name), strings.Join(failed, "\n"))
	if _, err := session.New(sample(), o).CheckBaseline(); !refused(err, "no trial of its default is valid") {
		t.Errorf("a default that failed: %v", err)
	}
	race, o := options(t.TempDir(), two), options(t.TempDir(), two)
	must.Get(session.New(raceSpec(5), race).Run(t.Context(), &runner{}, session.Events{}))(t)
	o.Baseline = race.Dir
	if _, err := session.New(sample(), o).CheckBaseline(); !refused(err, "measure the earlier sweep again with --repeats 6") {
		t.Errorf("a race with fewer than three trials of each: %v", err)
	}
	for _, c := range []struct {
		change func(*plan.Spec)
		want   string
	}{
		{func(*plan.Spec) {}, ""},
		{func(s *plan.Spec) { s.Load.Connections = 3 }, "was measured under another load"},
		{func(s *plan.Spec) { s.Target.URL += "slow" }, "was measured under another load"},
		{func(s *plan.Spec) { s.Target.Command = []string{"procfit", "serve"} }, `measured another command: ["procfit" "lab" "serve" "cpuserver" "--addr" "127.0.0.1:{port}"], now ["procfit" "serve"]`},
		{func(s *plan.Spec) { s.Target.Beside = &plan.Neighbour{Command: []string{"envoy"}} }, "was measured with another --beside"},
	} {
		p, o := sample(), options(t.TempDir(), two)
		o.Baseline = dir
		c.change(&p)
		if notes, err := session.New(p, o).CheckBaseline(); err != nil || strings.Join(notes, "; ") != c.want {
			t.Errorf("%q, %v; want %q", notes, err, c.want)
		}
	}
	var now journal.Header
	now.Load.Sizing = &journal.Sizing{RequestsPerSecond: 1}
	if notes := session.BaselineNotes(journal.Header{}, now); notes != nil {
		t.Errorf("what each run measured of its load is another load: %v", notes)
	}
}

// The rate is one that both carry: half of what the slower of a baseline and this run can do. An
// earlier run that is none has no part in it.
func TestRateOfBaseline(t *testing.T) {
	dir := folderWith(t, 0) // 100 req/s
	for _, tc := range []struct {
		baseline, like string
		now, want      float64
	}{{dir, "", 60, 30}, {dir, "", 100, 50}, {dir, "", 400, 50}, {"", dir, 400, 200}} {
		p, o := sample(), options(t.TempDir(), two)
		o.Baseline, o.Like = tc.baseline, tc.like
		r := &runner{speed: tc.now}
		if _, err := session.New(p, o).Run(t.Context(), r, session.Events{}); err != nil || r.rate == nil || *r.rate != tc.want {
			t.Errorf("%+v: rate %v, %v", tc, r.rate, err)
		}
	}
}

// A resumed gate does not mix two builds of the old program either.
func TestHeaderNamesBothPrograms(t *testing.T) {
	dir := t.TempDir()
	now, then := filepath.Join(dir, "new"), filepath.Join(dir, "old")
	sum := func(old string) string {
		for path, text := range map[string]string{now: "#!/bin/sh\n", then: old} {
			must.OK(t, os.WriteFile(path, []byte(text), 0o755))
		}
		sp := sample()
		sp.Target.BuiltIn, sp.Target.Command, sp.Target.Against = "", []string{now}, []string{then}
		return session.New(sp, options(t.TempDir(), two)).Header.Target.SHA256
	}
	a, b := sum("#!/bin/sh\n"), sum("#!/bin/sh\nexit\n")
	if a == "" || b == "" || a == b {
		t.Errorf("the sums are %q, and %q with another old program", a, b)
	}
}

// A trial of a batch program is as long as its runs, and not as long as that of a server.
func TestHeaderOfABatchProgram(t *testing.T) {
	sp := sample()
	sp.Target.BuiltIn, sp.Target.URL, sp.Target.Command = "", "", []string{"true"}
	for runs, want := range map[time.Duration]float64{0: 0, time.Second: 1} {
		sp.Target.RunFor = runs
		if got := session.New(sp, options(t.TempDir(), two)).Header.Load.DurationSeconds; got != want {
			t.Errorf("runs for %v: %g s, want %g", runs, got, want)
		}
	}
}

// crowdedMachine is a runner's machine, on which other programs use 1.5 of 2 CPUs.
type crowdedMachine struct{ runner }

func (m *crowdedMachine) Speed(context.Context) float64 { return 1000 }
func (m *crowdedMachine) Others(context.Context) plan.Others {
	return plan.Others{CPUs: 1.5, OfCPUs: 2}
}

func (m *crowdedMachine) Run(ctx context.Context, t plan.Task, observe plan.Observer) (journal.Trial, error) {
	trial, err := m.runner.Run(ctx, t, observe)
	trial.MeasuredSeconds, trial.CPUSeconds = 1, &journal.CPUSeconds{User: 0.5}
	trial.HostUse = &journal.HostUse{TargetCPUs: 2, OtherCPUSeconds: new(1.5)}
	return trial, err
}

// The machine of a runner is looked at between blocks: its speed is in the journal, and a
// run ends where it stays busy. A later run continues.
func TestMachineIsLookedAt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	p := sample()
	p.Patience = time.Nanosecond // 0 measures anyway
	begun, err := session.New(p, options(dir, two)).Run(t.Context(), &crowdedMachine{}, session.Events{})
	var busy *plan.BusyError
	if !begun || !errors.As(err, &busy) || busy.Trials != 2+4 { // pilots and a block
		t.Fatalf("begun %v, %v", begun, err)
	}
	c, err := journal.ReadDirectory(dir)
	if err != nil || len(c.Trials) != busy.Trials || c.Trials[0].SpeedBefore == nil || *c.Trials[0].SpeedBefore != 1000 {
		t.Errorf("%v, %+v", err, c)
	}
	if _, err := session.New(p, options(dir, two)).Run(t.Context(), &runner{}, session.Events{}); err != nil {
		t.Error(err)
	}
}

// busyOnceProven is a machine that other programs keep busy once the answer is proven.
type busyOnceProven struct {
	crowdedMachine
	session *session.Session
}

func (m *busyOnceProven) Run(ctx context.Context, t plan.Task, observe plan.Observer) (journal.Trial, error) {
	procs := 4
	if t.Setting.Procs != nil {
		procs = *t.Setting.Procs
	}
	m.speed = 100 * float64(min(procs, 4)) * (1 + 0.01*math.Sin(2.3*float64(m.ran)))
	trial, err := m.crowdedMachine.Run(ctx, t, observe)
	if !verdict.Analyze(m.session.Header, m.session.Journal().Trials).Settled() {
		trial.CPUSeconds, trial.HostUse.OtherCPUSeconds = &journal.CPUSeconds{User: 1}, new(0.0)
	}
	trial.ObservedProcs = []*int{&procs}
	return trial, err
}

// A race whose answer is proven waits for no quiet machine to look at it again, and its result
// has no warning that it is incomplete.
func TestAProvenAnswerIsNotWaitedFor(t *testing.T) {
	p := raceSpec(60)
	p.Procs, p.Target.BuiltIn, p.Target.URL, p.Target.Command, p.Patience = plan.Default().Procs, "", "", []string{"program"}, time.Hour
	m := &busyOnceProven{session: session.New(p, options(filepath.Join(t.TempDir(), "out"), journal.Host{CPUs: 4, EffectiveCPUs: 4}))}
	_, err := m.session.Run(t.Context(), m, session.Events{})
	var busy *plan.BusyError
	if !errors.As(err, &busy) || !busy.Settled || busy.Waited != 0 {
		t.Fatalf("%v after %d trials", err, m.ran)
	}
	r := verdict.Analyze(m.session.Header, m.session.Journal().Trials)
	for _, w := range r.Warnings {
		if _, is := w.Remark.(verdict.Incomplete); is || r.Complete || !r.Settled() {
			t.Errorf("complete %v, settled %v, warned of %+v", r.Complete, r.Settled(), w.Remark)
		}
	}
}

// compiler is a runner that has compiled what it measures.
type compiler struct {
	runner
	binary string
}

func (c *compiler) Compiled() []string { return []string{c.binary} }

// All parts of a run have the same binary, unless it cannot be compiled any more: then the
// trials say so.
func TestOtherBinary(t *testing.T) {
	for want, target := range map[string]plan.Target{
		"the code of the benchmarks, or what compiles it": {Command: []string{"go", "test", "-bench", "X"}},
		"the executable or the template of the pods":      {Build: "./cmd/x"},
	} {
		dir, binary := t.TempDir(), filepath.Join(t.TempDir(), "x")
		sp := sample()
		sp.Target = target
		run := func(code string) error {
			must.OK(t, os.RemoveAll(binary))
			if code != "" {
				must.OK(t, os.WriteFile(binary, []byte(code), 0o600))
			}
			_, err := session.New(sp, options(dir, two)).Run(t.Context(), &compiler{runner{stop: 2}, binary}, session.Events{})
			return err
		}
		if err := run("one"); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if err := run("other"); !refused(err, "differs in "+want+"; its command") {
			t.Errorf("%s: %v", want, err)
		}
		for _, code := range []string{"one", ""} {
			if err := run(code); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %q: %v", want, code, err)
			}
		}
	}
}

// talking is a runner whose trials quote what the user gave.
type talking struct {
	runner
	text string
}

func (r *talking) Run(ctx context.Context, t plan.Task, o plan.Observer) (journal.Trial, error) {
	o(plan.Activity{Step: plan.StepRun, Detail: r.text})
	trial, err := r.runner.Run(ctx, t, o)
	trial.Valid, trial.InvalidCode, trial.InvalidReason = false, journal.InvalidExit, r.text
	trial.Warnings = []journal.Warning{{Code: journal.WarnQuery, Detail: r.text}}
	return trial, err
}

// The value of a variable of procfit's own environment is in no journal, wherever the target
// runs: that of pods has another environment.
func TestVariablesStayOut(t *testing.T) {
	p, o := sample(), options(t.TempDir(), two)
	p.Tolerant, p.Target.BuiltIn = true, ""
	p.Target.Command = []string{"./server", "-k", "{env:PLAIN_NAME}", ":{port}"}
	o.Environ = []string{"OTHER=x"}
	o.Secrets = secret.NewKeeper(nil, func(name string) (string, bool) { return "S3CR3T", name == "PLAIN_NAME" })
	s := session.New(p, o)
	known, err := s.Filled()
	if err != nil || known.Target.Command[2] != "S3CR3T" {
		t.Fatalf("%q, %v", known.Target.Command, err)
	}
	var told strings.Builder
	events := session.Events{Activity: func(a plan.Activity) { told.WriteString(a.Detail) }, Progress: func(p plan.Progress) {
		if p.Trial != nil {
			told.WriteString(p.Trial.InvalidReason)
		}
	}}
	if _, err := s.Run(t.Context(), &talking{runner{stop: 4}, "it said: no S3CR3T here"}, events); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if text := must.Read(t, filepath.Join(s.Dir, journal.Name)); lines(t, s.Dir) < 4 || strings.Contains(text, "S3CR3T") || strings.Contains(told.String(), "S3CR3T") || !strings.Contains(told.String(), "no REDACTED here") {
		t.Errorf("%s\n%s", text, &told)
	}
	o.Secrets = secret.NewKeeper(nil, func(string) (string, bool) { return "", false })
	if _, err := session.New(p, o).Filled(); !refused(err, "export PLAIN_NAME=…") {
		t.Error(err)
	}
}
