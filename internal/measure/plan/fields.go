package plan

import (
	"math"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
)

// Flags are a Spec as flags give it: what takes a file, or several flags, is still text.
type Flags struct {
	Spec

	URLs           []string
	Requests, Body string    // Body is a text, or @FILE; of a call of gRPC its message
	Call           load.GRPC // of gRPC, if it has a method
	Neighbour      Neighbour // what runs next to the target, if it has a command
	Race           Budget    // of a sweep that is not a grid

	TargetNamed, LoadNamed string // CPUs by a name such as node0, in place of their list

	OwnProcs bool                // GOMAXPROCS in the environment stays as the user gives it
	Parts    map[string][]string // of a field, by its name: those that the command has; nil: all
}

// MoreOfURL is what the reference says of --url, whichever help a command gives it.
const MoreOfURL = "A method may come first: 'POST http://127.0.0.1:8080/orders'; without one it is GET, or POST with --body. " +
	"Several --url are a mix of requests to one server. A number and = before one is its weight, for example 3= for three requests of each four."

// NewFlags are those of a sweep before any is given.
func NewFlags() *Flags {
	f := &Flags{Spec: Default(), Race: Budget{Goal: journal.GoalProven}, Parts: map[string][]string{}}
	f.Load.Pace = load.PaceConstant
	return f
}

// Bounds against typing errors.
const (
	// MaxRepeats is how many blocks a grid has at most: more than some dozens settle
	// nothing that a quieter machine would not.
	MaxRepeats  = 1000
	maxTrials   = 100_000
	maxReplicas = 256
)

// Fields are all that a Spec is asked for by, bound to the flags; each command takes some.
// A value is checked when it is set; what contradicts another, Validate finds.
func (f *Flags) Fields() []field.Field {
	t, l, call, race := &f.Target, &f.Load, &f.Call, &f.Race
	waits := ""
	for _, p := range f.parts("timeout") {
		waits += p.Name + ": " + p.Help + ". "
	}
	return slices.Concat([][]field.Field{
		field.In(field.Run, []field.Field{
			{
				Name: "url", Holds: "URL", Often: true, Help: "URL of the server; {port} is a free port",
				More:  MoreOfURL,
				Value: field.Several(&f.URLs, field.Some),
			},
			{Name: "build", Holds: "PACKAGE", Often: true, Help: "compile this Go package and run it", More: "The words after -- are its arguments.", Value: field.Parsed(&t.Build, "", field.Some)},
			{Name: "env", Holds: "NAME=VALUE", Often: true, Help: "set a variable for the program; may be repeated", Value: field.Several(&t.Env, f.variable), Secret: (*secret.Finder).Variable},
			{
				Name: "ready", Holds: "PROBE", Often: true, Help: "what says that the server is ready: tcp, a URL, …",
				More: "Without it: --url answers with a status below 500. tcp: its port accepts a connection. grpc: its health service says SERVING. A URL: that answers with such a status. " +
					"200-399 or 200,401: --url answers with one of these; 'URL 200-399': that URL does. Anything else is a command that exits with 0, in which {port} and {url} are filled in.",
				Value: field.Parsed(&t.Ready, "", f.readyProbe),
			},
			{
				Name: "any-program", Help: "accept a program whose GOMAXPROCS cannot be read; the answer is at most likely",
				More:  "Without it, a program that is not a Go program is refused, and a value is named only if procfit read from the program's memory that it ran with that value, and with which by default. It is for a Go program that another program starts where procfit cannot see it.",
				Value: field.Switch(&t.AnyProgram),
			},
			{Name: "prepare", Holds: "COMMAND", Help: "run this command before each run of a batch program, unmeasured", Value: field.Parsed(&t.Prepare, "", words)},
			{
				Name: "beside", Holds: "COMMAND", Help: "run this command next to the program in every trial, as a sidecar does",
				More: "{port} in it is the port of the program.", Value: field.Parsed(&f.Neighbour.Command, "", words),
			},
			{
				Name: "profile", Holds: "URL", Bare: ProfileOwn, Help: "profile the verdict's value and the default, by function (net/http/pprof)",
				More:  "After the trials each of the two runs once more, for 10s or --trial-time, with a CPU and an allocation profile. The server serves them below /debug/pprof/ of --url, or at the address after =, such as http://127.0.0.1:6060/debug/pprof/, in which {port} is filled in. Go benchmarks write theirs themselves.",
				Value: field.Parsed(&f.Profile, "", profileAddress),
			},
			{
				Name: "timeout", Holds: "NAME=TIME", Help: "longest waits (default " + field.Defaults(f.parts("timeout")) + ")",
				More:  waits + "As in --timeout ready=2m,stop=20s.",
				Value: field.Parts(f.parts("timeout")...),
			},
		}...),
		field.In(field.Compare, []field.Field{
			{
				Name: "procs", Holds: "VALUES", Often: true, Help: "values of GOMAXPROCS: 1..8 or 1,2,4",
				More:  "auto is default and every value from 1 to twice the CPUs that the program may use, and to at least 5; procfit measures those that decide. Where each value is measured equally often (--repeats, or --rate without --slo or --vary), these are the powers of two, and the number of CPUs, one less and one more. default leaves GOMAXPROCS to the program. A value that is named is measured at least three times.",
				Value: field.Shown(&f.Procs, "auto", ParseProcs, Procs.text),
			},
			{
				Name: "replicas", Holds: "LIST", Often: true, Help: "copies that share the load: 1,2,4",
				More: "Each copy listens at its own {port}, and with a CPU limit has its own cgroup.", Value: field.Commas(&f.Replicas, "1", field.Whole(1, maxReplicas)),
			},
			{Name: "go", Holds: "VERSIONS", Often: true, Help: "Go versions to compile --build with: 1.24,1.26", More: "Each is a comparison of its own.", Value: field.Commas(&f.GoVersions, "", goVersion)},
			{
				Name: "vary", Holds: "NAME=LIST", Help: "a variable to measure next to GOMAXPROCS: GOGC=50,100,off; may be repeated",
				More:  "unset is without the variable. procfit measures one variable after the other, each at the best values of the others, and of equal values names the one that takes less memory: of GOGC and GOMEMLIMIT the smaller one, of other variables the one that is named first.",
				Value: field.Several(&f.Vary, f.axis),
			},
			{
				Name: "max-memory", Holds: "SIZE", Help: "the most memory that a copy of the program may use: 512MiB",
				More: "A setting whose peak resident memory is above it in any trial is not recommended, and not measured again.", Value: field.Parsed(&f.MaxMemory, "", size),
			},
			{Name: "slo", Holds: "LATENCY", Often: true, Help: "find the highest rate within a latency: p99=20ms", Value: field.Parsed(&l.SLO, "", field.Maybe(slo.Parse))},
			{
				Name: "metric", Holds: "NAME=REGEXP", Help: "a number in the output of the program or of --load; may be repeated",
				More:  "The group of the regular expression is the number: 'throughput=([0-9.]+) rows/s'. NAME:lower and NAME:higher say which is better; without one, lower is for names of times, percentiles and errors, such as p99, seconds or errors, and higher for all others.",
				Value: field.Several(&l.Metrics, load.ParseMetric),
			},
			{
				Name: "margin", Holds: "SHARE", Help: "less throughput, more p99 that still counts as equal (default " + field.Defaults(f.parts("margin")) + ")",
				Value: field.Parts(f.parts("margin")...),
			},
			{Name: "seed", Holds: "N", Help: "seed of the random order of settings and requests (default from the clock)", Value: field.Shown(&f.Seed, "", field.Maybe(seed), func(v *uint64) string { return strconv.FormatUint(*v, 10) })},
		}...),
		field.In(field.Load, []field.Field{
			{Name: "connections", Holds: "N", Often: true, Help: "connections of the load", Value: field.Number(&l.Connections, 1, math.MaxInt)},
			{
				Name: "rate", Holds: "N", Often: true, Help: "req/s of the open loop",
				More: "A number also finds the smallest value of GOMAXPROCS that carries it. auto is half of what the default carries, as the first trials show.", Value: field.Shown(&l.Rate, "auto", Rate, rateText),
			},
			{Name: "pace", Holds: "PACE", Help: "how requests are spaced: constant, or poisson (at random, as users do)", Value: field.Choice(&l.Pace, load.PaceConstant, load.PacePoisson)},
			{
				Name: "trial-time", Holds: "TIME", Often: true, Help: "measured time of a trial: 10s, or 10s,warmup=1s (default " + field.Defaults(f.parts("trial-time")) + ")",
				More:  "Each loop has half of it. If it is not given, the open loop is as long as its p99 needs, both are longer if the program has few long garbage collections, and the runs of a batch program use 1s. warmup is load before the measured time; a batch program has it only if it is given.",
				Value: field.Parts(f.parts("trial-time")...),
			},
			{Name: "header", Holds: "'NAME: VALUE'", Often: true, Help: "a header of each request; may be repeated", Value: field.Texts(&l.Headers), Secret: (*secret.Finder).Header},
			{
				Name: "body", Holds: "TEXT", Often: true, Help: "body of each request: a text, or @FILE",
				More: "@- is standard input. With --grpc it is the message of the call, as JSON; without --body that is {}.", Value: field.Text(&f.Body),
			},
			{
				Name: "requests", Holds: "FILE", Help: "send the requests of this file in random order; - is standard input",
				More: "The format is vegeta's, plain or JSON.", Value: field.Parsed(&f.Requests, "", field.Some),
			},
			{Name: "max-errors", Holds: "SHARE", Help: "a trial is invalid if a greater share of its requests fails", Value: field.Share(&l.MaxErrors, math.Inf(1))},
			{
				Name: "load", Holds: "COMMAND", Often: true, Help: "load generator, such as 'wrk -d{duration} {url}'",
				More:  "The output of wrk, wrk2, hey, k6, vegeta and procfit load --json is understood; any other command needs --metric. {url}, {urls}, {host}, {port}, {duration}, {connections} and {rate} are filled in.",
				Value: field.Parsed(&l.Command, "", generator),
			},
		}...),
		field.In(field.Protocol, []field.Field{
			{Name: "streams", Holds: "N", Help: "requests at a time on each HTTP/2 connection", Value: field.Number(&l.Streams, 1, math.MaxInt), Not: "load"},
			{
				Name: "grpc", Holds: "METHOD", Help: "call this gRPC method: package.Service/Method; --body is the message",
				More: "The URL is https://, or without TLS h2c:// or http://. The server's reflection describes the types, unless --proto does.", Value: field.Parsed(&call.Method, "", field.Some), Not: "load",
			},
			{
				Name: "proto", Holds: "FILE", Help: "types of the gRPC call: a .proto file or a descriptor set; may be repeated",
				More: "A file whose name does not end in .proto is a descriptor set, as protoc --descriptor_set_out --include_imports writes it.", Value: field.Several(&call.Proto, f.protoFile), Needs: "grpc", Not: "load",
			},
			{
				Name: "tls", Holds: "NAME=VALUE", Help: "for https: ca=FILE, cert=FILE, key=FILE, name=HOST, insecure; one or several",
				More:  "ca: CA certificates to trust in place of the system's. cert and key: the client certificate and its private key. name: the name that the server's certificate must have, in place of the URL's host. insecure: the server's certificate is not verified. All files are PEM. As in --tls ca=ca.pem,name=api.internal.",
				Value: field.Parts(f.parts("tls")...), Not: "load",
			},
		}...),
		field.In(field.CPUs, []field.Field{
			{
				Name: "limit", Holds: "LIMITS", Often: true, Help: "CPU limits to measure under: 500m, or none,0.5,2",
				More:  "It is the CPU limit of the program's cgroup, as limits.cpu of Kubernetes is. beside=CPUS is the limit of the --beside command; without it, that command has the limit of the program.",
				Value: field.Shown(&f.Quotas, "", f.limitsAndBeside, f.limitsText),
			},
			{
				Name: "cpus", File: "of", Holds: "NAME=LIST", Help: "CPUs of the program and of its load: target=0-5,load=6,7, or load=shared",
				More:  "In place of a list: node0, the CPUs of a node of memory; cores, one thread of each core; performance or efficiency, a kind of cores. load=shared leaves the load on the CPUs of the program, also where four or more would give it some of its own.",
				Value: field.Parts(f.pins()...),
			},
		}...),
		field.In(field.Stop, []field.Field{
			{
				Name: "until", Holds: "GOAL", Help: "end once the answer is proven or likely, or after trials=N (default proven)",
				More: "Without trials=N, each comparison has at most 40 to 96 trials, by the number of its values, and more with --vary or if --procs names more than 31 values; --dry-run prints how many.", Value: field.Parts(f.parts("until")...),
			},
			{Name: "for", Holds: "TIME", Often: true, Help: "the most time that the trials take: 10m", More: "A run that is resumed has what its trials so far leave of it.", Value: field.Time(&race.MaxTime, 1, "10m")},
			{
				Name: "repeats", Holds: "N", Help: "measure every setting this often, whatever the trials show; 6 is a good start",
				More: "The trials are a grid: N blocks, each with every setting once, and one of them twice. Intervals need six blocks.", Value: field.Shown(&f.Repeats, "", field.Whole(1, MaxRepeats), strconv.Itoa),
			},
		}...),
	}...)
}
