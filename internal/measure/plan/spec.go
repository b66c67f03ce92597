package plan

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/program/gobench"
	"github.com/procfit/procfit/internal/program/ready"
	"github.com/procfit/procfit/internal/program/wrapper"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
)

// PortPlaceholder stands for a free port in the command, its environment and the URL, and
// BinaryPlaceholder for what was built, where it is not the command's first word.
const (
	PortPlaceholder   = "{port}"
	BinaryPlaceholder = "{binary}"
	PodPlaceholder    = "{pod}" // the address of a pod in the URL
)

// Spec is all that is measured in one sweep.
type Spec struct {
	Name    string // of the run in its headline and, made harmless, of its folder; empty: the target's
	Target  Target
	Load    Load
	Split   *Split // the CPUs of target and load, once they are chosen; nil: as the user says
	Limited bool   // by a CPU limit around procfit, or an attached server, which can throttle the target whatever its quota

	Procs      Procs
	Quotas     []*float64     // CPUs; nil: no limit. Empty: one group without a limit.
	Replicas   []int          // copies of the target behind one load, each under the quota; each number a group
	Vary       []journal.Axis // what is varied next to GOMAXPROCS: variables of the environment
	MaxMemory  int64          // that one copy of a setting may use, in bytes; 0: any
	GoVersions []string       // that Target.Build is compiled with, each a setting; empty: as the program comes
	Repeats    int            // blocks of a grid
	Budget     *Budget        // of a race; nil: a grid
	Margin     float64        // how much less throughput still counts as good: 0.05 is 5%
	MarginP99  float64        // how much more p99
	Seed       *uint64        // of the settings' order; nil: any

	Tolerant bool // continues where all trials of a block are invalid, or a pilot: that may be the answer
	// Patience is how long other programs are waited for, in all, once they leave a block
	// nothing to compare; 0: not at all, and the sweep continues.
	Patience   time.Duration
	TrialTakes time.Duration // by a batch program, about; 0: only a first trial can tell
	Slices     bool          // of one start choose which values are measured in starts of their own
	Profile    string        // where profiles are: ProfileOwn, or a URL; empty: none is taken
}

// Target is the program under test.
type Target struct {
	Command    []string   // argv; with Build only the arguments, unless a word holds {binary}
	Against    []string   // argv of the old command: every setting runs old and new
	Build      string     // Go package to compile
	BuiltIn    string     // id of the practice program that Command starts; empty: the user's own
	URL        string     // where its load goes; empty: a batch program
	Env        []string   // NAME=value that it has in addition to the user's environment; {port} is filled in
	Benchmarks bool       // the batch program prints Go benchmark lines
	Prepare    []string   // argv of what runs before each run of a batch program
	Beside     *Neighbour // what runs next to it in every trial; nil: nothing
	Shares     int64      // of its group, as cpu.shares has them: 1024 for each CPU of a request; 0: the kernel's own
	CPUs       cpuset.Set // that it may run on; nil: any
	Pods       *Pods      // it runs in a cluster, in place of Command here; nil: it does not
	Attach     *Attached  // it runs already, and Command is not given; nil: it does not
	AnyProgram bool       // it is measured even if it is no Go program, or its GOMAXPROCS cannot be read

	Ready        ready.Probe   // what reports that a server can be loaded; the zero value: its URL
	ReadyTimeout time.Duration // for it to be so
	Grace        time.Duration // from SIGTERM to SIGKILL
	RunTimeout   time.Duration // for a batch program's run; 0: none
	RunFor       time.Duration // a batch program is run again until its runs have used this, or three times this has passed; 0: once
}

// Load is what a server is loaded with, and which figures count.
type Load struct {
	Connections int
	Rate        float64 // of the open loop, a second; 0: from pilots
	RateShare   float64 // of the capacity that the pilots find, where Rate is 0; 0: half
	// SLO asks for the highest rate that meets it, in place of the open loop at one
	// rate; then Rate is what the cheapest setting must carry within it; 0: no question.
	SLO            *slo.Objective
	Duration       time.Duration
	Warmup         time.Duration // load, or runs of a batch program, that are not measured
	Method         string        // empty: GET, or POST with a body
	Headers        []string
	Body           []byte
	Requests       []load.Request // a mix, in place of Method and Body and of the URL's path
	Pace           string         // of the open loop: load.PaceConstant or PacePoisson; empty: constant
	RequestTimeout time.Duration
	GRPC           *load.GRPC // a call in place of Method and Body; nil: HTTP
	Streams        int        // requests at a time on a connection of HTTP/2
	TLS            load.TLS
	MaxErrors      float64 // share of failed requests above which a trial is invalid
	Command        string  // an external generator instead of our engine
	Metrics        []load.Metric
	CPUs           cpuset.Set // that it runs on; nil: any
	Shared         bool       // it stays on the target's CPUs where it would get some of its own
	Stretch        bool       // the open loop is as long as its p99 needs, instead of half of Duration
}

// Default is a Spec without a target.
func Default() Spec {
	return Spec{
		Target: Target{ReadyTimeout: 30 * time.Second, Grace: 5 * time.Second},
		Load: Load{
			Connections: 64, Streams: 1, Duration: 3 * time.Second, Warmup: 500 * time.Millisecond,
			RequestTimeout: load.DefaultTimeout, MaxErrors: 0.01, Stretch: true,
		},
		Procs: Procs{Auto: true}, Replicas: []int{1}, Repeats: 6, Margin: 0.05, MarginP99: 0.20, Patience: 2 * time.Minute,
	}
}

// Kind is how the target is measured: one of package journal's kinds.
func (t Target) Kind() string {
	switch {
	case t.URL != "":
		return journal.KindServer
	case t.Benchmarks || isGoBench(t.Command):
		return journal.KindGoBench
	}
	return journal.KindBatch
}

// IsServer reports whether it is loaded at its URL.
func (t Target) IsServer() bool { return t.Kind() == journal.KindServer }

// IsBatch reports whether it runs and ends, and prints no Go benchmarks.
func (t Target) IsBatch() bool { return t.Kind() == journal.KindBatch }

func isGoBench(command []string) bool {
	test, err := gobench.Parse(command)
	return test != nil || err != nil
}

// Places is how many requests are under way at most.
func (l Load) Places() int { return l.Connections * max(1, l.Streams) }

// EffectiveMethod is the HTTP method that is sent.
func (l Load) EffectiveMethod() string {
	if l.Method == "" && l.GRPC != nil {
		return "POST"
	}
	return load.Request{Method: l.Method, Body: l.Body}.EffectiveMethod()
}

// Settle is how long the closed loop runs before its measured time, while counters are read.
func (l Load) Settle() time.Duration { return min(300*time.Millisecond, l.Duration/10) }

// OpenLoop reports whether trials have an open loop: those of our own engine do.
func (s Spec) OpenLoop() bool {
	return s.Target.IsServer() && s.Load.Command == ""
}

// LoadOnTargetHost reports whether the load's CPU time is taken from the machine of
// the target. An external command is asked by its first word: ssh and kubectl
// drive from elsewhere.
func (s Spec) LoadOnTargetHost() bool {
	if !s.Target.IsServer() {
		return false
	}
	if p := s.Target.Pods; p != nil {
		return !p.LoadElsewhere && !p.LoadFromHere
	}
	word, _, _ := strings.Cut(strings.TrimSpace(s.Load.Command), " ")
	return !slices.Contains([]string{"ssh", "kubectl"}, filepath.Base(word))
}

// Title is the run's name as it was given, or one of the target that is harmless in a path.
func (s Spec) Title() string {
	t := s.Target
	switch {
	case s.Name != "":
		return s.Name
	case t.BuiltIn != "":
		return t.BuiltIn
	case t.Attach != nil:
		return FileName(t.Attach.Name)
	case t.Pods != nil:
		return FileName(strings.TrimSuffix(filepath.Base(t.Pods.Object), filepath.Ext(t.Pods.Object)))
	case isGoBench(t.Command):
		return "gobench"
	case t.Build != "":
		if name := filepath.Base(t.Build); name != "." && name != "/" {
			return FileName(name)
		}
		return "build"
	}
	return FileName(filepath.Base(Program(t.Command)))
}

// Program is the word that names the program: "nice prog" and "sh -c 'X=Y exec prog'" run prog.
func Program(command []string) string {
	rest := command
	if len(rest) > 2 && rest[1] == "-c" && slices.Contains([]string{"sh", "bash", "dash", "ash", "zsh"}, filepath.Base(rest[0])) {
		if word := execed(rest[2]); word != "" {
			return word
		}
	}
	for {
		inner, wraps := wrapper.Next(rest, new(wrapper.Effect))
		if !wraps || len(inner) == 0 {
			break
		}
		rest = inner
	}
	if len(rest) == 0 {
		return "program"
	}
	return rest[0]
}

// execed is the program that a shell's script is, or becomes by exec; empty: only a shell can tell.
func execed(script string) string {
	words := strings.Fields(script)
	if i := slices.Index(words, "exec"); i >= 0 {
		words = words[i+1:]
	} else if strings.ContainsAny(script, ";&|<>()`\n") {
		return ""
	}
	for _, w := range words {
		switch {
		case strings.ContainsAny(w, `"'$`+"`"):
			return ""
		case !strings.Contains(w, "="):
			return w
		}
	}
	return ""
}

// FileName keeps of a name what is harmless in a path.
func FileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}

// Filled is the Spec with the values of its variables, as a Runner takes it. The Spec itself
// has only their names, and so has every record. One that is not set stays, and is a
// *spec.UnsetError; a *FieldError is that a value is not what its field takes.
func (s Spec) Filled(lookup func(name string) (value string, ok bool)) (Spec, error) {
	var errs []error
	fill := func(texts ...*string) {
		errs = append(errs, spec.Fill(lookup, texts...))
	}
	list := func(texts *[]string) {
		*texts = slices.Clone(*texts)
		for i := range *texts {
			fill(&(*texts)[i])
		}
	}
	data := func(b *[]byte) {
		if bytes.Contains(*b, []byte("{env:")) {
			text := string(*b)
			fill(&text)
			*b = []byte(text)
		}
	}
	// What a program or a server gets, and not the names that procfit itself goes by.
	t, l := &s.Target, &s.Load
	for _, texts := range []*[]string{&t.Command, &t.Against, &t.Env, &t.Prepare, &t.Ready.Command, &l.Headers} {
		list(texts)
	}
	fill(&t.URL, &t.Ready.URL, &l.Command, &l.TLS.ServerName, &s.Profile)
	data(&l.Body)
	if b := t.Beside; b != nil {
		t.Beside = &Neighbour{Command: b.Command, Quota: b.Quota, Shares: b.Shares}
		list(&t.Beside.Command)
	}
	if l.GRPC != nil {
		l.GRPC = new(*l.GRPC)
		fill(&l.GRPC.Method)
		data(&l.GRPC.Data)
	}
	l.Requests = slices.Clone(l.Requests)
	for i := range l.Requests {
		r := &l.Requests[i]
		fill(&r.Path)
		list(&r.Headers)
		data(&r.Body)
	}
	l.Metrics = slices.Clone(l.Metrics)
	for i, m := range l.Metrics { // what they are sought in is what a program prints
		text := m.Text
		if fill(&text); text == m.Text {
			continue
		}
		filled, err := load.ParseMetric(text)
		if err != nil { // which would quote the values
			errs = append(errs, Wrong("metric", " %s: the values of its variables leave no regular expression with a group", m.Name))
			continue
		}
		l.Metrics[i] = filled
	}
	return s, cmp.Or(errs...)
}

// Pods are pods of a cluster as the target: copies of an object's.
type Pods struct {
	Object, Namespace, Container string
	SHA256                       string // of the template that they are copied from
	LoadElsewhere                bool   // the load comes from another node than theirs
	LoadFromHere                 bool   // it comes from this machine, through the API server
	Batch                        bool   // they run and end, and no load is offered
}

func (s Spec) checkPods() *FieldError {
	switch t := s.Target; {
	case t.Pods == nil:
	case len(t.Command) > 0:
		return Wrong("command", ": pods run what their image holds: remove it")
	case t.Pods.Batch && t.URL != "":
		return Wrong("url", ": a Job serves nothing: remove it")
	case t.Pods.Batch && (t.RunFor != 0 || s.Load.Warmup != 0):
		return Wrong("trial-time", ": a trial of a Job is one run of it: remove it")
	case t.Pods.Batch:
	case t.URL == "":
		return Wrong("url", ": no address to load: name one as in http://%s:8080/", PodPlaceholder)
	case !strings.Contains(t.URL, PodPlaceholder):
		return Wrong("url", " %q: write %s in place of the host, since each pod has its own", secret.Text(t.URL), PodPlaceholder)
	}
	return nil
}

// Attached is a server that runs already. It is measured as it is, at a rate that
// the user chooses: nothing of it is started, changed or stopped.
type Attached struct {
	PID       int
	Started   uint64 // in ticks since boot; with the PID it names one process
	Name      string
	Procs     *int    // its live GOMAXPROCS; nil: not known
	LimitCPUs float64 // the smallest CPU limit around it; 0: none is known
	// LimitsUnknown reports that it may be under others.
	LimitsUnknown bool
}

func (s Spec) checkAttached() *FieldError {
	switch t := s.Target; {
	case t.Attach == nil:
	case len(t.Command) > 0:
		return Wrong("command", ": the server is running already: remove the command")
	case t.URL == "":
		return Wrong("url", ": say where the load goes, as in --url http://127.0.0.1:8080/")
	case s.Load.Rate == 0:
		return Wrong("rate", ": give a number: a server that is in use gets the rate that you choose, not the most that it can carry")
	}
	return nil
}

func (a Attached) setting() journal.Setting {
	setting := withProcs(journal.Setting{Replicas: 1}, a.Procs, "")
	if a.Procs == nil {
		setting.Label = "as it runs"
	}
	return setting
}

// Neighbour is a program that runs next to the target in every trial, as a sidecar does.
type Neighbour struct {
	Command []string // argv; {port} is that of the target's first copy
	Quota   *float64 // the CPU limit of its own group; nil: that of the setting, 0: none
	Shares  int64    // of its own group, as Target.Shares
}

// NeedsGroups reports whether anything is to run under a limit or with shares of ours.
func (s Spec) NeedsGroups() bool {
	limited := slices.ContainsFunc(s.Quotas, func(q *float64) bool { return q != nil })
	b := s.Target.Beside
	return limited || s.Target.Shares > 0 || b != nil && (b.Shares > 0 || b.Quota != nil && *b.Quota > 0)
}

func (s Spec) checkBeside() *FieldError {
	t := s.Target
	b := t.Beside
	if b == nil {
		return nil
	}
	hasPort := slices.ContainsFunc(b.Command, func(w string) bool { return strings.Contains(w, PortPlaceholder) })
	switch {
	case len(b.Command) == 0 || b.Command[0] == "":
		return Wrong("beside", ": expected a command, for example --beside './sidecar -upstream 127.0.0.1:{port}'")
	case hasPort && !s.commandHas(PortPlaceholder):
		return Wrong("beside", ": it has {port}, but neither the target's command nor --env has: no port is chosen then")
	}
	return nil
}

// fewestCPUs is from when on the load gets CPUs of its own: of fewer, too little is left to sweep.
const fewestCPUs = 4

// Split is which CPUs the target and the load have, each for itself.
type Split struct {
	Target, Load cpuset.Set
	Sizing       *journal.Sizing // what it was chosen by
}

// ApartOn reports whether the load is to get CPUs of its own on a machine with that many.
func (s Spec) ApartOn(effective float64) bool {
	return s.Split == nil && s.Target.Pods == nil && s.Target.Attach == nil && !s.Load.Shared && s.LoadOnTargetHost() && effective >= fewestCPUs && s.Target.CPUs == nil && s.Load.CPUs == nil
}

// TargetCPUs are those that the target may run on; nil: any.
func (s Spec) TargetCPUs() cpuset.Set {
	if s.Split != nil {
		return s.Split.Target
	}
	return s.Target.CPUs
}

// LoadCPUs are those that the load runs on; nil: any.
func (s Spec) LoadCPUs() cpuset.Set {
	if s.Split != nil {
		return s.Split.Load
	}
	return s.Load.CPUs
}

// Arrangement is how load and target share CPUs; nil where there is no load.
func (s Spec) Arrangement() *journal.Arrangement {
	switch {
	case !s.Target.IsServer():
		return nil
	case s.Target.Pods != nil && s.Target.Pods.LoadFromHere:
		return new(journal.ArrangementTunnel)
	case !s.LoadOnTargetHost():
		return new(journal.ArrangementElsewhere)
	}
	return new(journal.Arrange(s.TargetCPUs(), s.LoadCPUs()))
}
