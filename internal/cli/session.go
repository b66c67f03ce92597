package cli

import (
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/local"
	"github.com/procfit/procfit/internal/sweep"
)

// session is a sweep whose every question is settled: the plan, the journal's
// header and the Runner's settings.
type session struct {
	dir    string
	plan   journal.Plan
	header journal.Header
	config local.Config
	rate   *float64
	// seedGiven: a resumed run must have this very seed.
	seedGiven bool
	undaunted bool          // by invalid trials
	takes     time.Duration // a batch program's trial, about; 0: only a first one can tell
	done      int           // trials that a resumed journal holds already
}

// resolve turns the flags into a session, or says which of them is wrong.
func (o *sweepOptions) resolve(io stdio) (*session, error) {
	procs, err := sweep.ParseProcs(o.procs)
	if err != nil {
		return nil, usageError("--procs: %w", err)
	}
	versions, err := parseGoVersions(o.goVersions)
	if err != nil {
		return nil, err
	}
	if o.against != "" && o.procs == "auto" {
		procs = sweep.Procs{Values: []*int{nil}} // a gate compares programs, not settings
	}
	quotas, err := parseQuotas(o.quota)
	if err != nil {
		return nil, err
	}
	cfg, err := o.localConfig(io)
	if err != nil {
		return nil, err
	}
	rate := cfg.Rate
	s := &session{config: cfg, seedGiven: o.seedGiven}
	if o.practice != nil {
		s.undaunted, s.takes = o.practice.undaunted, o.practice.takes
	}
	matrix := sweep.Matrix{
		Procs: procs, Quotas: quotas, Replicas: o.replicas, GoVersions: versions, Against: o.against != "",
		Blocks: o.repeats, Seed: o.seed, SmallestFor: rate > 0,
	}
	if rate > 0 {
		s.rate = &rate
	}
	if cfg.OpenLoop() && rate == 0 {
		matrix.Pilots = pilots
	}
	if !o.seedGiven {
		matrix.Seed = uint64(time.Now().UnixNano())
	}
	if matrix.Margin, err = parseRatio("margin", o.margin); err != nil {
		return nil, err
	}
	if matrix.MarginP99, err = parseRatio("margin-p99", o.marginP99); err != nil {
		return nil, err
	}
	host := hostOf()
	matrix.CPUs = host.EffectiveCPUs
	if n := len(cfg.ServerCPUs); n > 0 {
		matrix.CPUs = math.Min(matrix.CPUs, float64(n))
	}
	if s.plan, err = sweep.NewPlan(matrix); err != nil {
		return nil, usageError("%w", err)
	}
	s.header = o.header(s, host)
	s.dir = o.out
	if s.dir == "" {
		s.dir = filepath.Join("results", s.header.Name+"-"+s.header.Started.Format("20060102-150405"))
	}
	s.config.LogDir = filepath.Join(s.dir, "logs")
	return s, o.checkGate(s, io)
}

// pilots is the number of trials that find a group's capacity.
const pilots = 2

// localConfig checks and gathers what the Runner needs.
func (o *sweepOptions) localConfig(io stdio) (local.Config, error) {
	var c local.Config
	serverCPUs, err := parseCPUs("server-cpuset", o.serverCPUs)
	if err != nil {
		return c, err
	}
	loadCPUs, err := parseCPUs("load-cpuset", o.loadCPUs)
	if err != nil {
		return c, err
	}
	maxErrors, err := parseRatio("max-errors", o.maxErrors)
	if err != nil {
		return c, err
	}
	rate, err := parseRate(o.rate)
	if err != nil {
		return c, err
	}
	payload, err := body(o.body, o.bodyFile, io)
	if err != nil {
		return c, err
	}
	metrics, err := parseMetrics(o.metrics)
	if err != nil {
		return c, err
	}
	switch {
	case o.grace < 0:
		return c, usageError("--grace %s: want a time, as in 5s", o.grace)
	case o.readyTimeout <= 0:
		return c, usageError("--ready-timeout %s: want a time above zero, as in 30s", o.readyTimeout)
	case o.requestTimeout <= 0:
		return c, usageError("--request-timeout %s: want a time above zero, as in 10s", o.requestTimeout)
	case o.replicas < 1:
		return c, usageError("--replicas %d: want at least 1", o.replicas)
	case o.duration <= 0:
		return c, usageError("--duration %s: want a time above zero, as in 3s", o.duration)
	case o.warmup < 0:
		return c, usageError("--warmup %s: want a time, as in 500ms", o.warmup)
	case o.connections < 1:
		return c, usageError("--connections %d: want at least 1", o.connections)
	case o.trialTimeout < 0:
		return c, usageError("--trial-timeout %s: want a time, as in 30s", o.trialTimeout)
	case len(o.goVersions) > 0 && o.build == "" && o.practice == nil:
		return c, usageError("--go needs --build: the package to compile with each version")
	case o.load != "" && o.url == "" && len(o.command) > 0:
		return c, usageError("--load needs --url, the server's address")
	case o.load != "" && (o.method != "" || len(o.headers) > 0 || len(payload) > 0):
		return c, usageError("--method, --header and --body are for procfit's own load: write them into the --load command")
	}
	c = local.Config{
		URL: o.url, Replicas: o.replicas, ServerCPUs: serverCPUs, LoadCPUs: loadCPUs, MaxErrors: maxErrors, Build: o.build,
		ReadyTimeout: o.readyTimeout, Grace: o.grace, Duration: o.duration, Warmup: o.warmup,
		Connections: o.connections, Rate: rate, Method: o.method, Headers: o.headers, Body: payload, RequestTimeout: o.requestTimeout,
		LoadCommand: o.load, Metrics: metrics, Environ: os.Environ(), Limit: o.trialTimeout,
	}
	if err := o.setCommand(&c); err != nil {
		return c, err
	}
	if c.Limit > 0 && c.Kind() == local.Server {
		return c, usageError("--trial-timeout is for batch programs: a server's trial takes --duration")
	}
	if c.URL != "" {
		if u, err := url.Parse(strings.ReplaceAll(c.URL, local.PortPlaceholder, "1")); err != nil || u.Host == "" {
			return c, usageError("--url %q: want an address such as http://127.0.0.1:{port}/", c.URL)
		}
	}
	if err := c.Check(); err != nil {
		return c, loadUsage(err)
	}
	return c, nil
}

// setCommand settles the program: the user's, a package to build, or the
// built-in service.
func (o *sweepOptions) setCommand(c *local.Config) error {
	if o.against != "" {
		words, err := load.Split(o.against)
		if err != nil || len(words) == 0 {
			return usageError("--against %q: want a command: %v", o.against, err)
		}
		c.Against = words
	}
	if o.practice != nil {
		o.practice.set(c)
		return nil
	}
	c.Command = o.command
	if len(o.command) > 1 && filepath.Base(o.command[0]) == "go" && o.command[1] == "test" && c.Kind() == local.Batch {
		return usageError("go test without -bench would measure the go command: add -bench NAME")
	}
	if len(o.command) > 0 || o.build != "" {
		return nil
	}
	if o.url != "" {
		return usageError("--url %s, but no command: give the server's command after --", o.url)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c.BuiltIn = builtIn
	c.Command = []string{self, "lab", "serve", builtIn, "--addr", "127.0.0.1:" + local.PortPlaceholder}
	c.URL = "http://127.0.0.1:" + local.PortPlaceholder + "/"
	return nil
}

// builtIn is the practice service that a sweep without a command measures.
const builtIn = "cpuserver"

func parseMetrics(flags []string) ([]load.Metric, error) {
	var metrics []load.Metric
	for _, m := range flags {
		metric, err := load.ParseMetric(m)
		if err != nil {
			return nil, usageError("--metric: %w", err)
		}
		metrics = append(metrics, metric)
	}
	return metrics, nil
}

// each is the expected time of a trial; 0 where only a first one can tell.
func (s *session) each() time.Duration {
	if s.config.Kind() != local.Server {
		return s.takes
	}
	const startAndStop = 200 * time.Millisecond
	return s.config.Duration + s.config.Warmup + startAndStop
}

// labels are those of a plan's arms, each once.
func labels(p journal.Plan) (list []string) {
	for _, a := range p.Arms {
		if !slices.Contains(list, a.Label) {
			list = append(list, a.Label)
		}
	}
	return list
}

// describe is the plan and its cost in words.
func (s *session) describe() string {
	labels := labels(s.plan)
	tasks := len(sweep.Schedule(s.plan))
	var b strings.Builder
	fmt.Fprintf(&b, "%s at GOMAXPROCS %s", s.header.Name, strings.Join(labels, ", "))
	if n := len(s.plan.AA); n > 1 {
		fmt.Fprintf(&b, " in each of %d groups", n)
	}
	fmt.Fprintf(&b, ": %s (%s of %s and the A/A copy", plural(tasks, "trial"), plural(s.plan.Blocks, "block"), plural(len(s.plan.Arms), "arm"))
	if s.plan.Pilots > 0 {
		fmt.Fprintf(&b, ", %s", plural(s.plan.Pilots*len(s.plan.AA), "pilot"))
	}
	b.WriteString(")")
	if s.done > 0 {
		fmt.Fprintf(&b, ", %d of them done", s.done)
	}
	if each := s.each(); each > 0 {
		fmt.Fprintf(&b, ", about %s", roundMinutes(each*time.Duration(tasks-s.done)))
	} else {
		b.WriteString("; the first ones will tell how long it takes")
	}
	fmt.Fprintf(&b, "; seed %d; results in %s", s.plan.Seed, s.dir)
	return b.String()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func roundMinutes(d time.Duration) string {
	if d < time.Minute {
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
}
