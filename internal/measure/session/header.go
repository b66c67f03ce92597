package session

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// header is the journal's first line, without credentials: journals are passed around.
func header(spec plan.Spec, wanted journal.Plan, o Options) journal.Header {
	t := spec.Target
	directory, _ := os.Getwd()
	h := journal.Header{
		Name:       secret.Text(spec.Title()),
		Started:    o.Started.Truncate(time.Second),
		Spec:       o.Spec,
		TargetHost: o.Host,
		Tool:       o.Tool,
		Target: journal.Target{
			Kind: t.Kind(), Command: secret.Words(command(t)), Against: secret.Words(t.Against),
			URL: secret.Text(t.URL), Build: t.Build, BuiltIn: t.BuiltIn, SHA256: sumOf(executables(t)...), Revision: revision(t),
			CPUShares: t.Shares, ServerCPUs: t.CPUs, AnyProgram: t.AnyProgram, Directory: directory, Environment: runtimeVariables(o.Environ),
		},
		Load: loadOf(spec, o.Spec),
		Plan: wanted,
	}
	if b := t.Beside; b != nil {
		h.Target.Beside = &journal.Beside{Command: secret.Words(b.Command), QuotaCPUs: b.Quota, CPUShares: b.Shares}
	}
	if a := t.Attach; a != nil {
		h.Target.Attached, h.Target.Environment = &journal.Process{PID: a.PID, Started: a.Started, Name: a.Name}, nil
		h.TargetHost.LimitsUnknown = a.LimitsUnknown
	}
	if p := t.Pods; p != nil {
		h.Target.Object, h.Target.Namespace, h.Target.Container, h.Target.SHA256 = p.Object, p.Namespace, p.Container, p.SHA256
	}
	known := spec
	if o.Secrets != nil {
		known, _ = spec.Filled(o.Secrets.Variable) // of one that is not set, the name
	}
	h.Given = given(known)
	if a := h.Load.Arrangement; a != nil && *a == journal.ArrangementApart {
		h.Target.CPUs = spec.TargetCPUs()
	}
	h.LoadHost = o.LoadHost
	if spec.LoadOnTargetHost() {
		h.LoadHost = &o.Host
	}
	return h
}

// given is one byte of a SHA-256, since a value may be a credential: the same one in all journals, so that several
// tell no more of it. A credential by its name may be another one when the run is resumed.
func given(known plan.Spec) string {
	values := slices.Concat(known.Target.Env, known.Load.Headers)
	if len(values) == 0 {
		return ""
	}
	h := sha256.New()
	for _, v := range values {
		end := max(0, strings.IndexAny(v, "=:"))
		fmt.Fprintf(h, "%q\n", secret.Words([]string{"--" + v[:end], v[end:]}))
	}
	return hex.EncodeToString(h.Sum(nil)[:1])
}

func loadOf(wanted plan.Spec, asked spec.Spec) journal.Load {
	l := wanted.Load
	j := journal.Load{
		Connections: l.Connections, BodyBytes: len(l.Body), BodySHA256: sumOfBody(l.Body, asked),
		Command: secret.Text(l.Command), LoadCPUs: l.CPUs, ErrorRatioMax: l.MaxErrors,
		TrialTimeoutSeconds: wanted.Target.RunTimeout.Seconds(),
		DurationSeconds:     l.Duration.Seconds(), WarmupSeconds: l.Warmup.Seconds(), ReadyTimeoutSeconds: wanted.Target.ReadyTimeout.Seconds(),
	}
	if j.Arrangement = wanted.Arrangement(); j.Arrangement != nil && *j.Arrangement == journal.ArrangementApart {
		j.CPUs = wanted.LoadCPUs()
	}
	if wanted.Split != nil {
		j.Sizing = wanted.Split.Sizing
	}
	if !wanted.Target.IsServer() {
		j.DurationSeconds = wanted.Target.RunFor.Seconds()
	}
	if l.Stretch && wanted.OpenLoop() {
		j.OpenSecondsMax = plan.OpenMost.Seconds()
	}
	if g := l.GRPC; g != nil {
		j.GRPC = &journal.Call{Method: g.Method, DataSHA256: sumOfBody(g.Data, asked), DataBytes: len(g.Data), Proto: g.Proto, Protoset: g.Protoset}
	}
	if l.RequestTimeout != load.DefaultTimeout {
		j.RequestTimeoutSeconds = l.RequestTimeout.Seconds()
	}
	if l.Streams > 1 {
		j.Streams = l.Streams
	}
	j.Requests, j.RequestsSHA256 = mixOf(l.Requests)
	if l.Pace != load.PaceConstant {
		j.Pace = l.Pace
	}
	if l.Rate > 0 {
		j.RatePerSecond = &l.Rate
	} else if wanted.OpenLoop() {
		j.RateShare = l.RateShare
	}
	if wanted.Target.IsServer() && l.Command == "" {
		j.Method = l.EffectiveMethod()
	}
	j.Metrics = asked.Get("metric") // with variables in place of credentials
	for _, m := range l.Metrics[min(len(j.Metrics), len(l.Metrics)):] {
		j.Metrics = append(j.Metrics, m.Text) // of a stage of the lab
	}
	return j
}

const mostListed = 40

// mixOf is a mix as a reader would write it, and the sum of all that it sends.
func mixOf(requests []load.Request) (list []string, sha string) {
	if len(requests) == 0 {
		return nil, ""
	}
	h := sha256.New()
	for i, r := range requests {
		fmt.Fprintf(h, "%g %s %s %q %d\n", r.Weight, r.EffectiveMethod(), masked(secret.Text(r.Path)), r.Headers, len(r.Body))
		h.Write(r.Body)
		switch name := secret.Text(r.Name()); {
		case i > mostListed:
		case i == mostListed:
			list = append(list, fmt.Sprintf("and %d more", len(requests)-i))
		case r.Weight > 0:
			list = append(list, fmt.Sprintf("%g %s", r.Weight, name))
		default:
			list = append(list, name)
		}
	}
	return list, hex.EncodeToString(h.Sum(nil))
}

func command(t plan.Target) []string {
	words := t.Command
	if t.BuiltIn != "" && len(words) > 0 {
		words = append([]string{"procfit"}, words[1:]...) // go run puts the binary elsewhere each time
	}
	if len(t.Env) > 0 {
		words = slices.Concat([]string{"env"}, secret.Variables(t.Env), words) // the user's environment is distinguished: reproduce.sh exports it
	}
	return words
}

// executable is the path of the target's program, also behind env or nice, but not behind
// go run; empty: procfit compiles it, or is it, or it is not found, as the start will say.
func executable(t plan.Target) string {
	if t.BuiltIn != "" || t.Build != "" || t.Kind() == journal.KindGoBench || len(t.Command) == 0 {
		return ""
	}
	path, _ := exec.LookPath(plan.Program(t.Command))
	return path
}

// executables are those of the target and, of a gate, then that of the old command.
func executables(t plan.Target) []string {
	list := []string{executable(t)}
	if len(t.Against) > 0 {
		t.Command = t.Against
		list = append(list, executable(t))
	}
	return list
}

// sumOf is the SHA-256 of files, one after the other; empty: none, or one cannot be read.
func sumOf(paths ...string) string {
	h := sha256.New()
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return ""
		}
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return ""
		}
	}
	if len(paths) == 0 {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// revision is the commit that the executable was built from, as the go command wrote it.
func revision(t plan.Target) string {
	info, err := buildinfo.ReadFile(executable(t))
	if err != nil {
		return "" // it is not a Go program, or not there
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+dirty"
		}
	}
	if commit == "" {
		return ""
	}
	return phrase.Clip(phrase.Clean(commit), 100) + changed
}

// sumOfBody is of a body as --body gives it, where that has variables: a credential is one, too.
func sumOfBody(body []byte, asked spec.Spec) string {
	if text := asked.Text("body"); !strings.HasPrefix(text, "@") && spec.Variables(text) != nil {
		body = []byte(text)
	}
	if len(body) == 0 {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(body))
}

// masked is a text without the names of variables: a credential and the variable that a proposed
// command has in its place are the same.
func masked(text string) string {
	return spec.Replace(text, func(string) string { return secret.Redacted })
}

// runtimeVariables are those of the user's environment that bear on the Go runtime.
func runtimeVariables(environ []string) []string {
	var out []string
	for _, v := range environ {
		if name, _, _ := strings.Cut(v, "="); slices.Contains([]string{"GOGC", "GOMEMLIMIT", "GODEBUG"}, name) {
			out = append(out, v)
		}
	}
	slices.Sort(out) // in another order they are the same
	return out
}

// discreet is a Runner that quotes no credential in why a trial is invalid: that has what the user
// gave, and what programs printed.
type discreet struct {
	plan.Runner
	secrets *secret.Keeper
}

func (d discreet) Run(ctx context.Context, task plan.Task, observe plan.Observer) (journal.Trial, error) {
	t, err := d.Runner.Run(ctx, task, func(a plan.Activity) {
		a.Detail = d.secrets.Quoted(a.Detail)
		observe.Tell(a)
	})
	t.InvalidReason = d.secrets.Quoted(t.InvalidReason)
	if !LooksAtMachine {
		alone(&t.Usage)
		for i := range t.Phases {
			alone(t.Phases[i].Usage)
		}
	}
	return t, err
}

// alone says that other programs used nothing. That this is not known would not do: then
// all that they may have used guards.
func alone(u *journal.Usage) {
	if u != nil && u.HostUse != nil {
		u.HostUse.OtherCPUSeconds = new(0.0)
	}
}
