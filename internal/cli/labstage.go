package cli

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/local"
	"github.com/procfit/procfit/internal/session"
	"github.com/procfit/procfit/internal/sweep"
)

// spec is a stage as a sweep.
func (o *labOptions) spec(e lab.Experiment, st lab.Stage, self string) (sweep.Spec, error) {
	s := sweep.Default()
	s.Name = strings.TrimSpace(e.ID + " " + st.ID)
	s.Tolerant = st.Limit > 0 || len(st.Go) > 0 // then that trials are invalid may be the answer
	s.GoVersions, s.TrialTakes = st.Go, st.Takes
	s.Replicas = max(s.Replicas, st.Replicas)
	if st.Repeats > 0 {
		s.Repeats = st.Repeats
	}
	if o.given("seed") {
		s.Seed = &o.seed
	}
	t := &s.Target
	t.BuiltIn, t.Env, t.RunTimeout = e.ID, st.Env, st.Limit
	switch e.Kind {
	case lab.Server:
		t.Command = append([]string{self, "lab", "serve", e.ID}, arguments(e, st)...)
		t.URL = "http://127.0.0.1:" + sweep.PortPlaceholder + "/" + strings.TrimPrefix(st.Path, "/")
	case lab.Batch:
		t.Command = append([]string{self, "lab", "program", e.ID}, arguments(e, st)...)
		t.Benchmarks = len(st.Metrics) == 0
	default:
		t.BuiltIn, t.Command = "", st.Command
	}
	return s, loadSpec(&s, e, st)
}

// loadSpec fills in what a stage has as text.
func loadSpec(s *sweep.Spec, e lab.Experiment, st lab.Stage) (err error) {
	if s.Quotas, err = parseQuotas(st.Quotas); err != nil {
		return err
	}
	if s.Load.Metrics, err = parseMetrics(st.Metrics); err != nil {
		return err
	}
	if st.Procs != "" {
		if s.Procs, err = sweep.ParseProcs(st.Procs); err != nil {
			return err
		}
	}
	if e.Kind != lab.Server {
		s.Load.Warmup = 0
		return nil
	}
	if st.Body > 0 {
		s.Load.Body = []byte(strings.Repeat("x", st.Body))
	}
	s.Load.Connections = cmp.Or(st.Connections, s.Load.Connections)
	s.Load.Duration = cmp.Or(st.Duration, s.Load.Duration)
	s.Load.Warmup = cmp.Or(st.Warmup, s.Load.Warmup)
	if st.Rate != "" {
		s.Load.Rate, err = parseRate(st.Rate)
	}
	return err
}

func arguments(e lab.Experiment, st lab.Stage) []string {
	if e.Kind == lab.Server {
		return append([]string{"--addr=127.0.0.1:" + sweep.PortPlaceholder}, st.Args...)
	}
	return st.Args
}

// labStage is a stage of the run.
type labStage struct {
	lab.Stage
	session  *session.Session // nil: it cannot be run
	programs map[string]local.Program
	ran      lab.RanStage
	trials   int
	each     time.Duration // 0: not known
}

func (o *labOptions) stage(e lab.Experiment, st lab.Stage, self, out string) labStage {
	relative := filepath.Join(e.ID, st.ID)
	l := labStage{Stage: st, ran: lab.RanStage{ID: st.ID, Title: st.Title, Scaled: st.Scaled, Directory: filepath.ToSlash(relative)}}
	for _, v := range st.Go {
		l.ran.Versions = append(l.ran.Versions, lab.Version{Asked: v})
	}
	spec, err := o.spec(e, st, self)
	if err == nil {
		err = spec.Validate()
	}
	if err == nil {
		err = local.Check(spec, len(st.Go) > 0)
	}
	if err != nil {
		l.ran.NotRun = err.Error()
		return l
	}
	if len(st.Go) > 0 {
		l.programs = map[string]local.Program{}
	}
	s := session.New(spec, session.Options{
		Dir: filepath.Join(out, relative), Tool: tool(slices.Concat([]string{"lab", "run", e.ID}, o.flags)), Host: session.ThisHost(), Environ: os.Environ(), Started: time.Now(),
	})
	l.session, l.trials, l.each = s, s.Missing(), spec.Each()
	return l
}

// begun are the releases that trials of an earlier run were made with, by the version
// that was asked for: 1.26 may mean a newer one today, and an arm has one.
func (l *labStage) begun() map[string]string {
	releases := map[string]string{}
	contents, err := journal.ReadDirectory(l.session.Dir)
	if err != nil {
		return releases
	}
	for _, t := range contents.Trials {
		release, _, _ := strings.Cut(strings.TrimPrefix(t.ObservedGoVersion, "go"), " ") // X: experiments
		if release != "" {
			releases[t.Arm.GoVersion] = release
		}
	}
	return releases
}

// prepare compiles what the stage's versions run.
func (l *labStage) prepare(ctx context.Context, b *builder, e lab.Experiment, language string) error {
	if l.Language != "" {
		language = l.Language
	}
	begun := l.begun()
	for i, v := range l.Go {
		ready, full, err := b.build(ctx, e, cmp.Or(begun[v], v), language)
		if err != nil {
			return err
		}
		if ready.Err != nil {
			l.ran.Versions[i].Fault = ready.Err.Error()
		} else {
			ready.Command = append(slices.Clip(ready.Command), arguments(e, l.Stage)...)
		}
		l.ran.Versions[i].Full = full
		l.programs[v] = ready
	}
	return nil
}
