package cli

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/local"
)

// practice is a stage as the target of a sweep.
type practice struct {
	lab.Stage
	id        string
	kind      lab.Kind
	self      string // procfit's own path
	undaunted bool
	takes     time.Duration
}

// set makes it the target. Programs of named Go versions are compiled later.
func (p *practice) set(c *local.Config) {
	c.BuiltIn = p.id
	c.Env = p.Env
	switch p.kind {
	case lab.Server:
		c.Command = append([]string{p.self, "lab", "serve", p.id}, p.arguments()...)
	case lab.Batch:
		c.Command = append([]string{p.self, "lab", "program", p.id}, p.arguments()...)
		c.Benchmarks = len(p.Metrics) == 0
	default:
		c.BuiltIn, c.Command = "", p.Command
	}
	if len(p.Go) > 0 {
		c.Ready = map[string]local.Ready{}
	}
}

func (p *practice) arguments() []string {
	if p.kind == lab.Server {
		return append([]string{"--addr=127.0.0.1:" + local.PortPlaceholder}, p.Args...)
	}
	return p.Args
}

// sweep is a stage in the words of procfit sweep.
func (o *labOptions) sweep(e lab.Experiment, st lab.Stage, self, dir string) sweepOptions {
	s := defaultSweep()
	s.out, s.seed, s.seedGiven = dir, o.seed, o.given("seed")
	s.quota, s.goVersions, s.metrics, s.trialTimeout = st.Quotas, st.Go, st.Metrics, st.Limit
	s.replicas = max(s.replicas, st.Replicas)
	if st.Procs != "" {
		s.procs = st.Procs
	}
	if st.Repeats > 0 {
		s.repeats = st.Repeats
	}
	s.args = slices.Concat([]string{"lab", "run", e.ID}, o.flags)
	s.practice = &practice{
		Stage: st, id: e.ID, kind: e.Kind, self: self, takes: st.Takes,
		undaunted: st.Limit > 0 || len(st.Go) > 0, // then that trials are invalid may be the answer
	}
	if e.Kind != lab.Server {
		return s
	}
	s.url = "http://127.0.0.1:" + local.PortPlaceholder + "/" + strings.TrimPrefix(st.Path, "/")
	s.body = strings.Repeat("x", st.Body)
	if st.Connections > 0 {
		s.connections = st.Connections
	}
	if st.Rate != "" {
		s.rate = st.Rate
	}
	if st.Duration > 0 {
		s.duration = st.Duration
	}
	if st.Warmup > 0 {
		s.warmup = st.Warmup
	}
	return s
}

// labStage is a stage of the run.
type labStage struct {
	lab.Stage
	session *session // nil: it cannot be run
	ran     lab.RanStage
	trials  int
	each    time.Duration // 0: not known
}

func (o *labOptions) stage(e lab.Experiment, st lab.Stage, self, out string, io stdio) labStage {
	relative := filepath.Join(e.ID, st.ID)
	l := labStage{Stage: st, ran: lab.RanStage{ID: st.ID, Title: st.Title, Scaled: st.Scaled, Directory: filepath.ToSlash(relative)}}
	for _, v := range st.Go {
		l.ran.Versions = append(l.ran.Versions, lab.Version{Asked: v})
	}
	options := o.sweep(e, st, self, filepath.Join(out, relative))
	s, err := options.resolve(io)
	if err != nil {
		l.ran.NotRun = err.Error()
		return l
	}
	s.header.Name = strings.TrimSpace(e.ID + " " + st.ID)
	s.header.Tool.Args = options.args
	l.session, l.trials, l.each = s, s.missing(), s.each()
	return l
}

// begun are the releases that trials of an earlier run were made with, by the version
// that was asked for: 1.26 may mean a newer one today, and an arm has one.
func (l *labStage) begun() map[string]string {
	releases := map[string]string{}
	contents, err := journal.ReadFile(filepath.Join(l.session.dir, journalName))
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
	p := &practice{Stage: l.Stage, id: e.ID, kind: e.Kind}
	begun := l.begun()
	for i, v := range l.Go {
		ready, full, err := b.build(ctx, e, cmp.Or(begun[v], v), language)
		if err != nil {
			return err
		}
		if ready.Err != nil {
			l.ran.Versions[i].Fault = ready.Err.Error()
		} else {
			ready.Command = append(slices.Clip(ready.Command), p.arguments()...)
		}
		l.ran.Versions[i].Full = full
		l.session.config.Ready[v] = ready
	}
	return nil
}
