package plan

import (
	"errors"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Bounds against typing errors.
const (
	maxRepeats  = 1000
	maxTrials   = 100_000
	maxReplicas = 256
	// MinQuota is the kernel's smallest quota, 1 ms, in the period of 100 ms
	// (kernel/sched/core.c, min_cfs_quota_period).
	MinQuota = 0.01
)

// Validate says what is wrong or contradictory in a Spec, as a *FieldError. What
// only the machine of the target can tell is its Runner's to say.
func (s Spec) Validate() error {
	for _, check := range []func() *FieldError{s.checkName, s.checkNumbers, s.checkBudget, s.checkTimes, s.checkPods, s.checkAttached, s.checkBeside, s.checkTarget, s.checkServer, s.checkLoad, s.checkObjective} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (s Spec) checkNumbers() *FieldError {
	switch {
	case !s.Procs.Auto && len(s.Procs.Values) == 0:
		return Wrong(FieldProcs, ": no value of GOMAXPROCS to measure")
	case s.Repeats > maxRepeats:
		return Wrong(FieldRepeats, ": %d repeats: at most %d; more than some dozens settle nothing that a quieter machine would not", s.Repeats, maxRepeats)
	case s.Repeats < 1:
		return Wrong(FieldRepeats, ": %d repeats: at least one is needed, and six for intervals", s.Repeats)
	case len(s.Replicas) == 0:
		return Wrong(FieldReplicas, ": want at least 1")
	case slices.Max(s.Replicas) > maxReplicas:
		return Wrong(FieldReplicas, ": %d replicas: at most %d", slices.Max(s.Replicas), maxReplicas)
	case slices.Min(s.Replicas) < 1:
		return Wrong(FieldReplicas, " %d: want at least 1", slices.Min(s.Replicas))
	case !(s.Margin > 0 && s.Margin < 1):
		return Wrong(FieldMargin, ": a margin of %g: want more than 0 %% and less than 100 %%", s.Margin)
	case !(s.MarginP99 > 0) || math.IsInf(s.MarginP99, 0):
		return Wrong(FieldMarginP99, ": a p99 margin of %g: want more than 0 %%", s.MarginP99)
	case s.Load.Connections < 1:
		return Wrong(FieldConnections, " %d: want at least 1", s.Load.Connections)
	case !(s.Load.Rate >= 0) || math.IsInf(s.Load.Rate, 0):
		return Wrong(FieldRate, " %g: want requests a second above zero, or auto", s.Load.Rate)
	case !(s.Load.MaxErrors > 0):
		return Wrong(FieldMaxErrors, " %g: want a share above zero, as in 5%% or 0.05", s.Load.MaxErrors)
	}
	for _, q := range s.Quotas {
		switch {
		case q == nil:
		case !(*q > 0) || math.IsInf(*q, 0):
			return Wrong(FieldQuota, " %g: want CPUs as a number above zero, or none, as in none,0.5,2", *q)
		case *q < MinQuota:
			return Wrong(FieldQuota, " %g: the kernel's smallest quota is 1 ms in a period of 100 ms, which is %g CPUs", *q, MinQuota)
		}
	}
	return nil
}

// checkBudget looks at what a race may take. Whether that is enough for its first
// block, its plan tells.
func (s Spec) checkBudget() *FieldError {
	b := s.Budget
	switch {
	case b == nil:
	case b.Goal != journal.GoalProven && b.Goal != journal.GoalLikely:
		return Wrong(FieldUntil, " %q: want proven or likely", b.Goal)
	case b.MaxTrials < 0 || b.MaxTrials > maxTrials:
		return Wrong(FieldMaxTrials, " %d: want 1 to %d", b.MaxTrials, maxTrials)
	case b.MaxTime < 0:
		return Wrong(FieldMaxTime, " %s: want a time above zero, as in 10m", b.MaxTime)
	}
	return nil
}

func (s Spec) checkTimes() *FieldError {
	positive := func(f Field, d time.Duration, example string) *FieldError {
		if d > 0 {
			return nil
		}
		return Wrong(f, " %s: want a time above zero, as in %s", d, example)
	}
	for _, err := range []*FieldError{
		positive(FieldReadyTimeout, s.Target.ReadyTimeout, "30s"),
		positive(FieldRequestTimeout, s.Load.RequestTimeout, "10s"),
		positive(FieldDuration, s.Load.Duration, "3s"),
	} {
		if err != nil {
			return err
		}
	}
	switch {
	case s.Target.Grace < 0:
		return Wrong(FieldGrace, " %s: want a time, as in 5s", s.Target.Grace)
	case s.Load.Warmup < 0:
		return Wrong(FieldWarmup, " %s: want a time, as in 500ms", s.Load.Warmup)
	case s.Target.RunTimeout < 0:
		return Wrong(FieldRunTimeout, " %s: want a time, as in 30s", s.Target.RunTimeout)
	}
	return nil
}

func (s Spec) checkTarget() *FieldError {
	t, server := s.Target, s.Target.Kind() == journal.KindServer
	hasPort := s.commandHas(PortPlaceholder)
	switch {
	case t.Pods != nil, t.Attach != nil:
	case len(t.Command) == 0 && t.Build == "" && t.URL != "":
		return Wrong(FieldURL, " %s, but no command: give the server's command after --", secret.Text(t.URL))
	case len(t.Command) == 0 && t.Build == "":
		return Wrong(FieldCommand, ": no command: give it after --")
	case len(s.GoVersions) > 0 && t.Build == "" && t.BuiltIn == "":
		return Wrong(FieldGoVersions, " needs --build: the package to compile with each version")
	case !server && goTest(t.Command) && !isGoBench(t.Command):
		return Wrong(FieldCommand, ": go test without -bench would measure the go command: add -bench NAME")
	case !server && s.Load.Command != "":
		return Wrong(FieldLoad, " needs --url, the server's address")
	case !server && hasPort:
		return Wrong(FieldURL, ": the command or --env has {port}, but there is no --url to load: add --url http://127.0.0.1:{port}/")
	case !server && t.ReadyGiven():
		return Wrong(FieldReady, " is for servers: it says when --url can be loaded")
	case server && t.RunTimeout > 0:
		return Wrong(FieldRunTimeout, " is for batch programs: a server's trial takes --duration")
	case server && len(t.Prepare) > 0:
		return Wrong(FieldPrepare, " is for batch programs: what a server needs belongs in its command")
	case t.Prepare != nil && (len(t.Prepare) == 0 || t.Prepare[0] == ""):
		return Wrong(FieldPrepare, `: want a command, as in --prepare 'rm -rf cache'`)
	}
	return s.checkEnv()
}

// longestName is how many characters a title has at most: it is a headline.
const longestName = 80

// checkName looks at a title that was given.
func (s Spec) checkName() *FieldError {
	switch {
	case s.Name != "" && strings.TrimSpace(s.Name) == "":
		return Wrong(FieldName, " %q: want a title with at least one letter, or leave it out", s.Name)
	case utf8.RuneCountInString(s.Name) > longestName:
		return Wrong(FieldName, ": a title of %d characters: at most %d", utf8.RuneCountInString(s.Name), longestName)
	}
	return nil
}

// checkEnv never quotes a value: it may be a credential.
func (s Spec) checkEnv() *FieldError {
	for _, v := range s.Target.Env {
		name, _, ok := strings.Cut(v, "=")
		switch {
		case !ok:
			return Wrong(FieldEnv, ": a word without =: want NAME=VALUE, as in GOGC=50")
		case strings.TrimSpace(name) == "":
			return Wrong(FieldEnv, ": no name before the =: want NAME=VALUE, as in GOGC=50")
		case name == "GOMAXPROCS":
			return Wrong(FieldEnv, " GOMAXPROCS: the sweep sets it itself; name the values with --procs")
		}
	}
	return nil
}

// goTest tells a go test command that runs tests; with -c it compiles them, which is
// a batch program's work like any other.
func goTest(command []string) bool {
	return len(command) > 1 && filepath.Base(command[0]) == "go" && command[1] == "test" && !slices.Contains(command, "-c")
}

func (s Spec) commandHas(placeholder string) bool {
	words := slices.Concat(s.Target.Command, s.Target.Against, s.Target.Env)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, placeholder) })
}

// checkServer looks at the address of a server.
func (s Spec) checkServer() *FieldError {
	if s.Target.Kind() != journal.KindServer {
		return nil
	}
	hasPort := s.commandHas(PortPlaceholder)
	u, err := url.Parse(s.exampleURL())
	switch {
	case err != nil || u.Host == "":
		return Wrong(FieldURL, " %q: want an address such as http://127.0.0.1:{port}/", secret.Text(s.Target.URL))
	case strings.Contains(s.Target.URL, PortPlaceholder) && s.Target.Attach != nil:
		return Wrong(FieldURL, ": {port} is a free port for a server that is started; write the one that the attached server listens at")
	case strings.Contains(s.Target.URL, PortPlaceholder) && !hasPort:
		return Wrong(FieldURL, ": the URL has {port}, but neither the command nor --env has: the server would not know its port")
	case slices.Max(s.Replicas) > 1 && !hasPort && s.Target.Pods == nil:
		return Wrong(FieldReplicas, " %d needs {port} in the command or --env, and in the URL: each copy listens at a port of its own", slices.Max(s.Replicas))
	}
	if err := s.Target.Ready.Check(s.exampleURL()); err != nil {
		return WrongBy(FieldReady, err)
	}
	return nil
}

// exampleURL is the URL with some port.
func (s Spec) exampleURL() string {
	return strings.NewReplacer(PortPlaceholder, "1", PodPlaceholder, "192.0.2.1").Replace(s.Target.URL) // RFC 5737
}

func (s Spec) checkLoad() *FieldError {
	l := s.Load
	if l.Shared && (l.CPUs != nil || s.Target.CPUs != nil) {
		return Wrong(FieldShared, ": the lists of CPUs say already where target and load run: leave it out")
	}
	if s.Target.Kind() != journal.KindServer {
		if l.Shared {
			return Wrong(FieldShared, " is for servers: a batch program has no load")
		}
		return nil
	}
	if l.Pace != "" && l.Pace != load.PaceConstant && l.Pace != load.PacePoisson {
		return Wrong(FieldPace, " %q: want %s or %s", l.Pace, load.PaceConstant, load.PacePoisson)
	}
	if l.Command == "" {
		return s.wrongLoad(s.LoadOptions([]string{s.exampleURL()}, l.Rate, l.Duration).Check())
	}
	switch {
	case l.Method != "" || len(l.Headers) > 0 || len(l.Body) > 0:
		return Wrong(FieldLoad, ": --method, --header and --body are for procfit's own load: write them into the --load command")
	case len(l.Requests) > 0 || l.Pace != "":
		return Wrong(FieldLoad, ": several --url, --requests and --pace are for procfit's own load: write them into the --load command")
	case l.GRPC != nil || l.Streams > 1 || l.TLS != load.TLS{} || l.Engine != "":
		return Wrong(FieldLoad, ": what is spoken, and how TLS is verified, is for procfit's own load: write it into the --load command")
	case slices.Max(s.Replicas) > 1 && !strings.Contains(l.Command, "{urls}"):
		return Wrong(FieldLoad, " with --replicas needs {urls}: a generator that takes several addresses; or leave --load out")
	}
	if _, err := s.LoadCommand([]string{s.exampleURL()}, l.Rate); err != nil {
		return WrongBy(FieldLoad, err)
	}
	return nil
}

// wrongLoad is what our own engine cannot do, as a field of ours.
func (s Spec) wrongLoad(err error) *FieldError {
	var wrong *load.FieldError
	if err == nil {
		return nil
	}
	if !errors.As(err, &wrong) {
		return WrongBy(FieldLoad, err)
	}
	fields := map[load.Field]Field{
		load.FieldURL: FieldURL, load.FieldMethod: FieldMethod, load.FieldHeader: FieldHeader, load.FieldConnections: FieldConnections,
		load.FieldStreams: FieldStreams, load.FieldEngine: FieldEngine, load.FieldGRPC: FieldGRPC, load.FieldData: FieldData,
		load.FieldProto: FieldProto, load.FieldProtoset: FieldProtoset, load.FieldBody: FieldBody, load.FieldCACert: FieldCACert,
		load.FieldCert: FieldCert, load.FieldKey: FieldKey, load.FieldInsecure: FieldInsecure, load.FieldServerName: FieldServerName,
		load.FieldRequests: FieldRequests, load.FieldPace: FieldPace, load.FieldRate: FieldRate, load.FieldDuration: FieldDuration, load.FieldTimeout: FieldRequestTimeout, load.FieldCPUs: FieldLoadCPUs,
	}
	f, ok := fields[wrong.Field]
	if !ok {
		return WrongBy(FieldLoad, err)
	}
	if wrong.Value == s.exampleURL() {
		wrong.Value = s.Target.URL // as the user wrote it
	}
	hint := ""
	if wrong.Beyond {
		hint = "; --load takes another generator"
	}
	if wrong.Value == "" {
		return Wrong(f, ": %s%s", wrong.Reason, hint)
	}
	return Wrong(f, " %q: %s%s", wrong.Value, wrong.Reason, hint)
}

// LoadCommand is the external generator's argv.
func (s Spec) LoadCommand(urls []string, rate float64) ([]string, error) {
	return load.Expand(s.Load.Command, load.Values{URLs: urls, Duration: s.Load.Duration, Connections: s.Load.Connections, Rate: rate})
}

// LoadOptions is a run of our own engine; rate 0 is the closed loop. All trials send a
// mix in the same order, and at the same times at random, so that settings are compared
// under the same load.
func (s Spec) LoadOptions(urls []string, rate float64, duration time.Duration) load.Options {
	l := s.Load
	o := load.Options{
		URLs: urls, Method: l.Method, Headers: l.Headers, Body: l.Body, Connections: l.Connections,
		Rate: rate, Duration: duration, Timeout: l.RequestTimeout, CPUs: s.LoadCPUs(),
		GRPC: l.GRPC, Streams: l.Streams, TLS: l.TLS, Engine: l.Engine, Requests: l.Requests,
	}
	if s.Seed != nil {
		o.Seed = *s.Seed
	}
	if rate > 0 {
		o.Pace = l.Pace
	}
	return o
}
