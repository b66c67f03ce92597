package plan

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/program/gobench"
	"github.com/procfit/procfit/internal/program/ready"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/secret"
)

// Validate says what is contradictory in a Spec, as a *FieldError: a value by itself was
// checked when its field was set. What only the machine of the target can tell is its
// Runner's to say.
func (s Spec) Validate() error {
	for _, q := range s.Quotas { // which may be those of a pod
		if err := tooLow(q); err != nil {
			return Wrong("limit", " %v", err)
		}
	}
	if s.Load.Shared && s.Target.CPUs != nil {
		return Wrong("cpus", " target= with load=shared: name the CPUs of the load too, the same ones if it is to share them")
	}
	for _, check := range []func() *FieldError{s.checkPods, s.checkAttached, s.checkBeside, s.checkVary, s.checkTarget, s.checkServer, s.checkLoad, s.checkObjective, s.checkProfile} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (s Spec) checkTarget() *FieldError {
	t, server := s.Target, s.Target.IsServer()
	hasPort := s.commandHas(PortPlaceholder)
	for _, command := range [][]string{t.Command, t.Against} {
		if _, err := gobench.Parse(command); err != nil {
			return Wrong("command", ": %v", err)
		}
		if len(command) > 1 && filepath.Base(command[0]) == "go" && command[1] == "run" {
			return Wrong("command", ": each trial would measure what go run builds, too; build the program first: go build -o server ./cmd/app; procfit sweep does that by itself with --build ./cmd/app -- -addr :{port}")
		}
	}
	switch {
	case t.Pods != nil, t.Attach != nil:
	case len(t.Command) == 0 && t.Build == "" && t.URL != "":
		return Wrong("url", " %s, but no command: give the server's command after --; to measure a server that runs: procfit live :PORT --rate N", secret.Text(t.URL))
	case len(t.Command) == 0 && t.Build == "":
		return Wrong("command", ": no command: give it after --")
	case len(s.GoVersions) > 0 && t.Build == "" && t.BuiltIn == "":
		return Wrong("go", " needs --build: the package to compile with each version")
	case !server && goTest(t.Command) && !isGoBench(t.Command):
		return Wrong("command", ": go test without -bench would measure the go command: add -bench NAME")
	case !server && t.Build == "" && (hidesGoTest(t.Command) || hidesGoTest(t.Against)):
		return Wrong("command", ": go test behind another command would be measured with its compilation: the command must begin with go test. Give variables with --env, for example --env GOGC=50 -- go test -bench NAME, or start procfit itself with them")
	case !server && s.Load.Command != "":
		return Wrong("load", " needs --url, the server's address")
	case !server && hasPort:
		return Wrong("url", ": the command or --env has {port}, but there is no --url to load: add --url http://127.0.0.1:{port}/")
	case !server && (t.Ready.Way != ready.WayURL || t.Ready.URL != "" || len(t.Ready.Statuses) > 0):
		return Wrong("ready", " is for servers: it says when --url can be loaded")
	case server && t.RunTimeout > 0:
		return Wrong("timeout", " run=TIME is for batch programs: a server's trial takes --trial-time")
	case server && len(t.Prepare) > 0:
		return Wrong("prepare", " is for batch programs: what a server needs belongs in its command")
	case t.Prepare != nil && (len(t.Prepare) == 0 || t.Prepare[0] == ""):
		return Wrong("prepare", `: expected a command, for example --prepare 'rm -rf cache'`)
	}
	return nil
}

// goTest reports whether a command runs tests; with -c go test compiles them, which is work like any other.
func goTest(command []string) bool {
	return len(command) > 1 && filepath.Base(command[0]) == "go" && command[1] == "test" && !slices.Contains(command, "-c")
}

// hidesGoTest tells a go test command behind another, such as env or nice.
func hidesGoTest(command []string) bool {
	for i := 1; i < len(command) && !isGoBench(command); i++ {
		if goTest(command[i:]) || isGoBench(command[i:]) {
			return true
		}
	}
	return false
}

func (s Spec) commandHas(placeholder string) bool {
	words := slices.Concat(s.Target.Command, s.Target.Against, s.Target.Env)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, placeholder) })
}

func (s Spec) checkServer() *FieldError {
	if !s.Target.IsServer() {
		return nil
	}
	hasPort := s.commandHas(PortPlaceholder)
	u, err := url.Parse(s.exampleURL())
	switch {
	case err != nil && strings.Contains(strings.ToLower(s.Target.URL), PortPlaceholder) && !strings.Contains(s.Target.URL, PortPlaceholder):
		return Wrong("url", " %q: the placeholder is {port}, in lower case", secret.Text(s.Target.URL))
	case !strings.Contains(s.Target.URL, "://"):
		return Wrong("url", " %q: http:// is missing; write http://%[1]s", secret.Text(s.Target.URL))
	case err != nil || u.Host == "":
		return Wrong("url", " %q: expected an address such as http://127.0.0.1:{port}/", secret.Text(s.Target.URL))
	case strings.HasSuffix(u.Host, ":"):
		return Wrong("url", " %q: no port follows the colon; is a shell variable empty?", secret.Text(s.Target.URL))
	case strings.Contains(s.Target.URL, PortPlaceholder) && s.Target.Attach != nil:
		return Wrong("url", ": {port} is a free port for a server that procfit starts; write the port that the running server listens at")
	case strings.Contains(s.Target.URL, PortPlaceholder) && !hasPort:
		return Wrong("url", ": the URL has {port}, but neither the command nor --env has it: the server would not know its port. Write it in the command, for example -addr :{port}")
	case hasPort && !strings.Contains(s.Target.URL, PortPlaceholder) && s.Target.Pods == nil && s.Target.Attach == nil:
		return Wrong("url", " %q: the command or --env has {port}, a free port of each trial, but the URL does not, so the load would go elsewhere. Write {port} in the URL, for example http://127.0.0.1:{port}/", secret.Text(s.Target.URL))
	case slices.Max(s.Replicas) > 1 && !hasPort && s.Target.Pods == nil:
		return Wrong("replicas", " %d needs {port} in the command or --env, and in the URL: each copy listens at a port of its own", slices.Max(s.Replicas))
	}
	if err := s.Target.Ready.Check(s.exampleURL()); err != nil {
		if s.Target.Ready.URL != "" {
			return WrongBy("ready", err)
		}
		if wrong := s.checkLoad(); wrong != nil { // what cannot be loaded need not be waited for
			return wrong
		}
		return WrongBy("url", err)
	}
	return nil
}

func (s Spec) exampleURL() string {
	return strings.NewReplacer(PortPlaceholder, "1", PodPlaceholder, "192.0.2.1").Replace(s.Target.URL) // RFC 5737
}

func (s Spec) checkLoad() *FieldError {
	l := s.Load
	switch server := s.Target.IsServer(); {
	case !server && l.Shared:
		return Wrong("cpus", " load=shared is for servers: a batch program has no load")
	case !server && l.Rate > 0:
		return Wrong("rate", " is for servers: without --url there is no load")
	case !server:
		return nil
	case l.Rate > 0 && l.Command != "" && !strings.Contains(l.Command, "{rate}"):
		return Wrong("load", ": the command would not get --rate: write {rate} where it takes its requests per second, for example wrk2 -R {rate}")
	}
	if l.Command == "" {
		span := l.Duration
		if l.SLO == nil { // else Rate is not what a loop sends
			span = min(span, s.OpenFor(l.Rate, false, 0))
		}
		if warmup := l.Rate * l.Warmup.Seconds(); s.Target.Attach != nil && 0 < warmup && warmup < 1 {
			return Wrong("trial-time", " warmup=%s has less than one request at --rate %s: make it longer, or 0s", number.Typed(l.Warmup), rateText(l.Rate))
		}
		return s.wrongLoad(s.LoadOptions(slices.Repeat([]string{s.exampleURL()}, slices.Max(s.Replicas)), l.Rate, span).Check())
	}
	if slices.Max(s.Replicas) > 1 && !strings.Contains(l.Command, "{urls}") {
		return Wrong("load", " with --replicas needs {urls}: a generator that takes several addresses; or leave --load out")
	}
	if len(l.Requests) > 0 {
		return Wrong("load", ": several --url are for procfit's own load: write them into the --load command")
	}
	if _, err := s.LoadCommand([]string{s.exampleURL()}, l.Rate); err != nil {
		return WrongBy("load", err)
	}
	return nil
}

// wrongLoad is what our own engine cannot do, as a field of ours.
func (s Spec) wrongLoad(err error) *FieldError {
	if err == nil {
		return nil
	}
	wrong, ok := errors.AsType[*load.FieldError](err)
	if !ok {
		return WrongBy("load", err)
	}
	if wrong.Value == s.exampleURL() {
		wrong.Value = s.Target.URL // as the user wrote it
	}
	hint := ""
	if wrong.Beyond && s.Target.Pods == nil {
		hint = "; procfit sweep takes another generator by --load"
	}
	name, part, _ := strings.Cut(string(wrong.Field), " ")
	if wrong.Field == load.FieldMethod {
		name = "url"
	}
	if part != "" {
		part = " " + part
	}
	if wrong.Value == "" {
		return Wrong(name, "%s: %s%s", part, wrong.Reason, hint)
	}
	return Wrong(name, "%s %q: %s%s", part, wrong.Value, wrong.Reason, hint)
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
		GRPC: l.GRPC, Streams: l.Streams, TLS: l.TLS, Requests: l.Requests,
	}
	if s.Seed != nil {
		o.Seed = *s.Seed
	}
	if rate > 0 {
		o.Pace = l.Pace
	}
	return o
}

// FieldError is what is wrong with one field of a Spec.
type FieldError struct {
	Field  string // its name, as in Fields; "command" is the program's own, which has no flag
	Reason string // what follows the name in a sentence: ` 0: want at least 1`, `: no command`
	Err    error  // the cause, if there is one
}

// Error names the flag; the command has none.
func (e *FieldError) Error() string {
	if e.Field == "command" {
		return strings.TrimPrefix(e.Reason, ": ")
	}
	return "--" + e.Field + e.Reason
}

func (e *FieldError) Unwrap() error { return e.Err }

// Wrong makes a FieldError; the text follows the field's name.
func Wrong(field, format string, args ...any) *FieldError {
	return &FieldError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// WrongBy is a FieldError with its cause.
func WrongBy(field string, err error) *FieldError {
	return &FieldError{Field: field, Reason: ": " + err.Error(), Err: err}
}
