package plan

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/ready"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
)

// Flags are a Spec as flags give it: what takes a file, or several of the flags, is still
// text.
type Flags struct {
	Spec

	URLs                           []string
	Requests, Body, BodyFile, Data string // Data is the message of the call, or @FILE
	Attach                         string
	Call                           load.GRPC // of gRPC, if it has a method
	Neighbour                      Neighbour // what runs beside the target, if it has a command
	Race                           Budget    // of a sweep that is not a grid
	Grid                           bool

	ServerNamed, LoadNamed string // CPUs by a name such as node0, in place of their list
}

// NewFlags are those of a sweep before any is given.
func NewFlags() *Flags {
	return &Flags{Spec: Default(), Race: Budget{Goal: journal.GoalProven}}
}

// Fields are all that a Spec is asked for by, bound to the flags. A value is checked when
// it is set; what contradicts another, Validate finds.
func (f *Flags) Fields() []field.Field {
	return slices.Concat(
		field.In(field.Run, f.runFields()...), field.In(field.Compare, f.compareFields()...),
		field.In(field.Load, f.loadFields()...), field.In(field.Load, f.protocolFields()...),
		field.In(field.CPUs, f.cpuFields()...), field.In(field.Stop, f.stopFields()...),
	)
}

// Bounds against typing errors.
const (
	// MaxRepeats is how many blocks a grid has at most: more than some dozens settle
	// nothing that a quieter machine would not.
	MaxRepeats  = 1000
	maxTrials   = 100_000
	maxReplicas = 256
)

func (f *Flags) runFields() []field.Field {
	t := &f.Target
	return []field.Field{
		{Name: "url", Holds: "URL", Help: "the server's URL: load goes there; several URLs, with weights as in 3=http://…/a, are a mix of requests", Value: field.Texts(&f.URLs), Header: "target.url load.requests load.requests_sha256"},
		{Name: "build", Holds: "package", Help: "compile this Go package and run it; the words after -- are its arguments", Value: field.Text(&t.Build), Not: "kube attach", Header: "name target.build target.sha256"},
		{Name: "env", Holds: "NAME=VALUE", Help: "set a variable for the program, with {port} filled in; may be repeated", Value: field.Several(&t.Env, variable), Not: "kube attach", Header: "target.command"},
		{Name: "name", Holds: "title", Help: "title of the report and of its folder (default the program's name)", Value: field.Parsed(&f.Name, "", title), Header: "name"},
		{Name: "attach", Holds: "PID", Help: "measure a server that is already running, at --rate and without changing it: a PID, or :8080 where it listens", Value: field.Text(&f.Attach), Not: "kube", Header: "target.attached"},
		{Name: "ready", Holds: "URL", Help: "load the server when this URL answers; or tcp, grpc, or a command that exits with 0 (default --url answers below 500)", Value: field.Parsed(&t.Ready, "", f.readyProbe), Not: "kube attach", Header: "target.ready"},
		{Name: "ready-status", Holds: "statuses", Help: "HTTP statuses that mean that the server is ready: 200-399 or 200,401", Value: field.Parsed(&t.Ready.Statuses, "", ready.ParseStatuses), Not: "kube attach", Header: "target.ready_status"},
		{Name: "ready-timeout", Holds: "time", Help: "how long the program may take to be ready", Value: field.Time(&t.ReadyTimeout, 1, "30s"), Header: "load.ready_timeout_seconds"},
		{Name: "prepare", Holds: "command", Help: "run this command before each run of a batch program, unmeasured", Value: field.Parsed(&t.Prepare, "", words), Not: "kube attach", Header: "target.prepare"},
		{Name: "beside", Holds: "command", Help: "run this command next to the program in every trial, as a sidecar; {port} is the program's", Value: field.Parsed(&f.Neighbour.Command, "", words), Not: "kube attach", Header: "target.beside"},
		{Name: "grace", Holds: "time", Help: "time from SIGTERM to SIGKILL when procfit stops the program", Value: field.Time(&t.Grace, 0, "5s"), Aside: field.OfWaiting},
		{Name: "trial-timeout", Holds: "time", Help: "end a run of a batch program that takes longer than this; its trial is invalid", Value: field.Time(&t.RunTimeout, 0, "30s"), Header: "load.trial_timeout_seconds"},
	}
}

func (f *Flags) compareFields() []field.Field {
	l := &f.Load
	return []field.Field{
		{Name: "procs", Holds: "values", Help: "GOMAXPROCS values to measure: auto, unset,1,2,4 or 1..8", Value: field.Parsed(&f.Procs, "auto", ParseProcs), Not: "attach", Header: "plan.settings plan.aa plan.max_trials plan.listed"},
		{Name: "replicas", Holds: "numbers", Help: "how many copies of the program share the load, each in its own cgroup: 2, or 1,2,4", Value: field.Commas(&f.Replicas, "1", field.Whole(1, maxReplicas)), Not: "attach", Header: "plan.settings plan.aa plan.max_trials"},
		{Name: "go", Holds: "versions", Help: "Go versions to compile --build with, each a setting: 1.24,1.26", Value: field.Commas(&f.GoVersions, "", goVersion), Not: "kube attach", Header: "plan.settings plan.aa plan.max_trials"},
		{Name: "against", Holds: "command", Help: "the old command: old and new run in pairs, and their difference is judged", Value: field.Parsed(&f.Target.Against, "", words), Not: "kube attach", Header: "target.against plan.gate_against plan.settings plan.aa plan.max_trials"},
		{Name: "slo", Holds: "latency", Help: "compare settings by the highest rate that keeps this latency: p99=20ms", Value: field.Parsed(&l.SLO, "", field.Maybe(slo.Parse)), Not: "attach", Header: "plan.slo plan.pilots"},
		{Name: "price", Holds: "prices", Help: "with --slo and --rate: what a setting costs, cpu=0.04,replica=0.01 (default its CPU limits)", Value: field.Parsed(&l.Price, "", field.Maybe(slo.ParsePrice)), Header: "plan.price"},
		{Name: "metric", Holds: "NAME=REGEXP", Help: "a number in the output of the program or of --load; NAME:lower or NAME:higher says what is better; may be repeated", Value: field.Several(&l.Metrics, load.ParseMetric), Header: "load.metrics"},
		{Name: "margin", Holds: "share", Help: "how much less throughput still counts as equally good", Value: field.Share(&f.Margin, 1), Header: "plan.margin"},
		{Name: "margin-p99", Holds: "share", Help: "how much more p99 latency still counts as equally good", Value: field.Share(&f.MarginP99, math.Inf(1)), Header: "plan.margin_p99"},
		{Name: "seed", Holds: "number", Help: "seed of everything random: the order of settings and requests (default from the clock)", Value: field.Parsed(&f.Seed, "", field.Maybe(seed)), Header: "plan.seed"},
	}
}

func (f *Flags) loadFields() []field.Field {
	l := &f.Load
	return []field.Field{
		{Name: "connections", Holds: "number", Help: "connections that the load keeps open: as many as in production, not as GOMAXPROCS", Value: field.Number(&l.Connections, 1, math.MaxInt), Header: "load.connections"},
		{Name: "rate", Holds: "number", Help: "requests per second of the open loop; a number asks for the smallest value that carries it", Value: field.Parsed(&l.Rate, "auto", Rate), Header: "load.rate_per_second plan.smallest_for_rate plan.pilots"},
		{Name: "pace", Holds: "constant", Help: "how the open loop spaces its requests: constant, or poisson (at random, as users do) (default constant)", Value: field.Choice(&l.Pace, load.PaceConstant, load.PacePoisson), Not: "load", Header: "load.pace"},
		{Name: "duration", Holds: "time", Help: "measured time of a trial, half of it for each loop; the runs of a batch program use 1s if it is not given", Value: field.Time(&l.Duration, 1, "3s"), Header: "load.duration_seconds load.open_seconds_max"},
		{Name: "warmup", Holds: "time", Help: "load before the measured time; a batch program has none if it is not given", Value: field.Time(&l.Warmup, 0, "500ms"), Header: "load.warmup_seconds"},
		{Name: "method", Holds: "method", Help: "HTTP method (default GET, or POST with a body)", Value: field.Text(&l.Method), Not: "load", Header: "load.method"},
		{Name: "header", Holds: "'Name: value'", Help: "a header to send with each request; may be repeated", Value: field.Texts(&l.Headers), Not: "load", Header: "load.headers"},
		{Name: "body", Holds: "text", Help: "text to send as the body", Value: field.Text(&f.Body), Not: "load", Header: "load.body_sha256 load.body_bytes load.method"},
		{Name: "body-file", Holds: "file", Help: "file to send as the body; - is standard input", Value: field.Text(&f.BodyFile), Not: "body load", Header: "load.body_sha256 load.body_bytes load.method"},
		{Name: "requests", Holds: "file", Help: "send the requests of this file in random order: vegeta's plain or JSON format; - is standard input", Value: field.Text(&f.Requests), Not: "load", Header: "load.requests load.requests_sha256"},
		{Name: "request-timeout", Holds: "time", Help: "a request that takes longer than this is an error", Value: field.Time(&l.RequestTimeout, 1, "10s"), Aside: field.OfWaiting},
		{Name: "max-errors", Holds: "share", Help: "a trial is invalid if a greater share of its requests fails", Value: field.Share(&l.MaxErrors, math.Inf(1)), Header: "load.error_ratio_max"},
		{Name: "load", Holds: "command", Help: "use this load generator: 'wrk -c{connections} -d{duration} {url}', hey, oha, k6, …; or any command with --metric", Value: field.Parsed(&l.Command, "", generator), Not: "kube", Header: "load.command load.method load.open_seconds_max"},
	}
}

// protocolFields say what is spoken with the server.
func (f *Flags) protocolFields() []field.Field {
	l, tls, call := &f.Load, &f.Load.TLS, &f.Call
	return []field.Field{
		{Name: "streams", Holds: "number", Help: "requests at a time on each connection of HTTP/2", Value: field.Number(&l.Streams, 1, math.MaxInt), Not: "load", Header: "load.streams"},
		{Name: "grpc", Holds: "package.Service/Method", Help: "call this method over https:// or h2c://; the server's reflection describes its types", Value: field.Text(&call.Method), Not: "load", Header: "load.grpc load.method"},
		{Name: "data", Holds: "JSON", Help: "message of the gRPC call, or @FILE; @- is standard input (default {})", Value: field.Text(&f.Data), Needs: "grpc", Not: "load", Header: "load.grpc"},
		{Name: "proto", Holds: "file", Help: ".proto file with the types of the gRPC call, if the server has no reflection; may be repeated", Value: field.Texts(&call.Proto), Needs: "grpc", Not: "kube load", Header: "load.grpc"},
		{Name: "protoset", Holds: "file", Help: "the types of the gRPC call, as protoc --descriptor_set_out --include_imports writes them", Value: field.Text(&call.Protoset), Needs: "grpc", Not: "kube load", Header: "load.grpc"},
		{Name: "cacert", Holds: "file", Help: "CA certificates to trust in place of the system's, in PEM", Value: field.Text(&tls.CACert), Not: "kube load", Header: "load.tls"},
		{Name: "cert", Holds: "file", Help: "client certificate, in PEM", Value: field.Text(&tls.Cert), Not: "kube load", Header: "load.tls"},
		{Name: "key", Holds: "file", Help: "private key of the client certificate, in PEM", Value: field.Text(&tls.Key), Not: "kube load", Aside: "a journal says nothing of private keys; --cert names the certificate"},
		{Name: "insecure", Help: "do not verify the server's certificate", Value: field.Switch(&tls.Insecure), Not: "load", Header: "load.tls"},
		{Name: "server-name", Holds: "name", Help: "name that the server's certificate must have (default the URL's host)", Value: field.Text(&tls.ServerName), Not: "load", Header: "load.tls"},
		{Name: "engine", Holds: "raw", Help: "procfit's engine: raw (plain HTTP/1.1, Linux) or portable (every protocol) (default the first that can)", Value: field.Text(&l.Engine), Not: "load", Header: "load.engine"},
	}
}

func (f *Flags) cpuFields() []field.Field {
	t, l := &f.Target, &f.Load
	return []field.Field{
		{Name: "quota", Holds: "limits", Help: "CPU limits to measure under: none,0.5,2", Value: field.Parsed(&f.Quotas, "", limits), Not: "attach", Header: "plan.settings plan.aa plan.max_trials"},
		{Name: "beside-quota", Holds: "limit", Help: "CPU limit of the --beside command: 0.5, or none (default the program's)", Value: field.Parsed(&f.Neighbour.Quota, "", besideQuota), Needs: "beside", Header: "target.beside"},
		{Name: "server-cpuset", Holds: "CPUs", Help: "CPUs that the program may run on: 0-1,3, or node0, cores (a thread of each), performance, efficiency", Value: cpus(&t.CPUs, &f.ServerNamed), Not: "kube attach", Header: "target.server_cpuset load.arrangement"},
		{Name: "load-cpuset", Holds: "CPUs", Help: "CPUs that the load generator runs on: 0-1,3, or node0, cores, performance, efficiency", Value: cpus(&l.CPUs, &f.LoadNamed), Not: "kube", Header: "load.load_cpuset load.arrangement"},
		{Name: "shared-cpus", Help: "leave the load on the program's CPUs (default: it has its own if there are four or more)", Value: field.Switch(&l.Shared), Not: "kube server-cpuset load-cpuset", Header: "load.arrangement"},
	}
}

func (f *Flags) stopFields() []field.Field {
	race := &f.Race
	return []field.Field{
		{Name: "until", Holds: "proven", Help: "measure until the answer is proven, or only likely", Value: field.Choice(&race.Goal, journal.GoalProven, journal.GoalLikely), Header: "plan.goal"},
		{Name: "max-trials", Holds: "number", Help: "the most trials to run (default 40 to 96, depending on the values to choose from)", Value: field.Parsed(&race.MaxTrials, "", field.Whole(1, maxTrials)), Header: "plan.max_trials"},
		{Name: "max-time", Holds: "time", Help: "the most time that the trials take: 10m", Value: field.Time(&race.MaxTime, 1, "10m"), Header: "plan.max_seconds"},
		{Name: "grid", Help: "measure every setting equally often, in --repeats blocks, whatever the trials show", Value: field.Switch(&f.Grid), Header: "plan.strategy"},
		{Name: "repeats", Holds: "number", Help: "measure a grid of this many blocks, each with every setting once; intervals need six", Value: field.Number(&f.Repeats, 1, MaxRepeats), Header: "plan.blocks plan.strategy"},
	}
}

// cpus is a list of CPUs, or a name of some, which only their machine can tell.
func cpus(p *cpuset.Set, name *string) field.Value {
	return field.Parsed(p, "", func(text string) (cpuset.Set, error) {
		*name = ""
		if word := strings.TrimSpace(text); word != "" && unicode.IsLetter(rune(word[0])) {
			*name = word
			return nil, nil
		}
		set, err := cpuset.Parse(text)
		if err != nil {
			err = fmt.Errorf("%q: want CPU numbers and ranges, as in 0-1,3, or node0, cores, performance, efficiency", text)
		}
		return set, err
	})
}

// readyProbe reads tcp, grpc, a URL or a command.
func (f *Flags) readyProbe(text string) (p ready.Probe, err error) {
	isCommand := false
	if text != "" {
		p, isCommand = ready.Parse(text)
	}
	if isCommand {
		p.Command, err = words(text)
	}
	p.Statuses, p.Health = f.Target.Ready.Statuses, f.Target.Ready.Health
	return p, err
}

// besideQuota reads one limit; 0 is none.
func besideQuota(text string) (*float64, error) {
	list, err := limits(text)
	switch {
	case err != nil || len(list) != 1:
		return nil, fmt.Errorf("%q: want CPUs as a number above zero, or none", text)
	case list[0] == nil:
		return new(float64), nil
	}
	return list[0], nil
}

func seed(text string) (uint64, error) {
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		err = fmt.Errorf("%q: want a whole number from 0", text)
	}
	return v, err
}

// words splits a command as a shell would; nil where none is given.
func words(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	list, err := load.Split(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q: %w", secret.Text(text), err)
	case len(list) == 0:
		return nil, fmt.Errorf("%q: want a command", text)
	}
	return list, nil
}

// generator is a command that words splits, once the trial fills it in.
func generator(text string) (string, error) {
	_, err := words(text)
	return text, err
}

// limits reads "none,0.5,2", each once; nil stands for no limit.
func limits(text string) ([]*float64, error) {
	if text == "" {
		return []*float64{nil}, nil
	}
	var list []*float64
	for item := range strings.SplitSeq(text, ",") {
		var limit *float64
		if item = strings.TrimSpace(item); item != "none" {
			v, err := field.Above("CPUs as a number above zero, or none, as in none,0.5,2")(item)
			if err != nil {
				return nil, err
			}
			limit = &v
		}
		if err := tooLow(limit); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(have *float64) bool { return equal(have, limit) }) {
			list = append(list, limit)
		}
	}
	return list, nil
}

// minQuota is the kernel's smallest quota, 1 ms, in the period of 100 ms
// (kernel/sched/core.c, min_cfs_quota_period).
const minQuota = 0.01

// tooLow refuses a limit that the kernel does not know.
func tooLow(limit *float64) error {
	if limit == nil || *limit >= minQuota {
		return nil
	}
	return fmt.Errorf("%g: the kernel's smallest quota is 1 ms in a period of 100 ms, which is %g CPUs", *limit, minQuota)
}

// Rate reads requests per second; 0 stands for auto.
func Rate(text string) (float64, error) {
	if text == "auto" {
		return 0, nil
	}
	return field.Above("requests a second above zero, or auto")(text)
}

// goVersionForm takes 1.24, 1.24.6 and 1.26rc1, each with or without "go".
var goVersionForm = regexp.MustCompile(`^(go)?\d+\.\d+(\.\d+|(rc|beta)\d+)?$`)

func goVersion(text string) (string, error) {
	if !goVersionForm.MatchString(text) {
		return "", fmt.Errorf("%q is not a Go version such as 1.24 or 1.24.6", text)
	}
	return strings.TrimPrefix(text, "go"), nil
}

// longestName is how many characters a title has at most: it is a headline.
const longestName = 80

func title(text string) (string, error) {
	switch {
	case text != "" && strings.TrimSpace(text) == "":
		return "", fmt.Errorf("%q: want a title with at least one letter, or leave it out", text)
	case utf8.RuneCountInString(text) > longestName:
		return "", fmt.Errorf("of %d characters: at most %d", utf8.RuneCountInString(text), longestName)
	}
	return text, nil
}

// variable reads NAME=VALUE. It never quotes a value: it may be a credential.
func variable(text string) (string, error) {
	name, _, ok := strings.Cut(text, "=")
	switch {
	case !ok:
		return "", fmt.Errorf("has a word without =: want NAME=VALUE, as in GOGC=50")
	case strings.TrimSpace(name) == "":
		return "", fmt.Errorf("has no name before the =: want NAME=VALUE, as in GOGC=50")
	case name == "GOMAXPROCS":
		return "", fmt.Errorf("GOMAXPROCS: the sweep sets it itself; name the values with --procs")
	}
	return text, nil
}
