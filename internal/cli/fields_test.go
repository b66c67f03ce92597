package cli

import (
	"context"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/test/need"
)

// texts are values of each field of a sweep.
var texts = map[string][]string{
	"url": {"http://127.0.0.1:{port}/b", "2=http://127.0.0.1:{port}/a", "POST http://127.0.0.1:{port}/c"}, "build": {"./cmd/x", "."}, "env": {"A=b", "GOGC=50", "SPACE=a b"},
	"ready":       {"tcp", "grpc", "http://127.0.0.1:{port}/ready", "true 'a b'", "200-399", "http://127.0.0.1:{port}/ready 200,401"},
	"any-program": {"true"}, "prepare": {"true a", "true '-- b'"}, "beside": {"true 1", "true '--out x'"}, "timeout": {"ready=7s", "ready=1m30s,stop=1s", "request=2s", "run=9s"},
	"procs": {"default,1,2", "1..4", "default,3", "1-3"}, "replicas": {"2", "1,3"}, "go": {"1.24", "go1.25,1.26"}, "vary": {"GOGC=50,100", "GOMEMLIMIT=64MiB,off"}, "max-memory": {"512MiB", "1Gi"}, "profile": {plan.ProfileOwn, "http://127.0.0.1:6060/debug/pprof/"},
	"slo": {"p99=20ms", "p90=1s"}, "metric": {"throughput=([0-9]+) rows", "late:lower=x=(.*)"}, "margin": {"7%", "p99=33%", "0.02,p99=150%"}, "seed": {"7", "0"},
	"connections": {"5", "1"}, "rate": {"100", "2.5e3"}, "pace": {"poisson", "constant"}, "trial-time": {"4s", "1m,warmup=0s", "warmup=20ms"}, "header": {"Accept: a", "Host: x"},
	"body": {"a text", "-", "@-"}, "requests": {"-"}, "max-errors": {"3%", "0.5"}, "load": {"wrk {url}", "true '{url}'"},
	"streams": {"4", "9"}, "grpc": {"a.B/C", "a.B/D"}, "proto": {"a.proto", "b.proto", "set"}, "tls": {"ca=ca.pem", "cert=cert.pem,key=key.pem", "insecure", "name=h"},
	"limit": {"none,0.5,beside=0.2", "500m"}, "cpus": {"target=0", "target=0-1,3,load=1", "load=2,4", "load=shared"},
	"until": {"likely", "proven,trials=90", "trials=95"}, "for": {"1h", "10m"}, "repeats": {"7", "3"},
	"file": {"none"}, "out": {"new", "-"}, "serve": {":0"}, "json": {"true"}, "output": {"json"}, "quiet": {"true"}, "dry-run": {"true"},
	"namespace": {"shop"}, "context": {"c"}, "kubeconfig": {"f"}, "node": {"n1"}, "image": {"i:v1"}, "container": {"app"},
	"load-from": {"local"}, "share": {"5%"}, "slice": {"30s"}, "burn-in": {"1s"}, "baseline": {"2m"}, "budget": {"500", "0.5%"}, "metrics": {":2112/metrics", "http://127.0.0.1:9/metrics"}, "aa": {"true"}, "prometheus": {"http://p:9090"}, "query": {`errors=sum(x{pod=~"$pods"})`, `requests=y{pod=~"$pods"}`}, "yes": {"true"}, "allow-unsafe-methods": {"true"},
}

// someParts are values for commands that have only some parts of a field.
var someParts = map[string]map[string][]string{
	"kube sweep":  {"tls": {"insecure", "name=h"}},
	"kube canary": {"timeout": {"ready=7s"}, "margin": {"p99=33%"}, "for": {"1h", "10m,warmup=1m"}},
	"compare":     {"until": {"trials=90"}},
	"live":        {"for": {"1h"}, "timeout": {"request=2s"}, "cpus": {"load=0", "load=shared"}},
}

func quiet() stdio {
	return newStdio(context.Background(), strings.NewReader(""), io.Discard, io.Discard, nil)
}

// measurements are the commands that measure, by their names, made for a test.
var measurements = map[string]func(std stdio, cmd *cobra.Command) (m *measurement, take func() error){
	"sweep": func(std stdio, cmd *cobra.Command) (*measurement, func() error) {
		m := newSweepOptions()
		m.bind(std, cmd, m.Fields)
		return m, func() error { m.command = cmd.Flags().Args(); return nil }
	},
	"compare": func(std stdio, cmd *cobra.Command) (*measurement, func() error) {
		o := newCompareOptions()
		o.bind(std, cmd, o.Fields)
		return &o.measurement, func() error { return o.take(cmd.Flags().Args(), cmd.ArgsLenAtDash()) }
	},
	"kube sweep": func(std stdio, cmd *cobra.Command) (*measurement, func() error) {
		m := &newKubeSweepOptions().measurement
		m.bind(std, cmd, m.Fields)
		return m, func() error { m.operands = cmd.Flags().Args(); return nil }
	},
	"kube canary": func(std stdio, cmd *cobra.Command) (*measurement, func() error) {
		m := &newKubeCanaryOptions().measurement
		m.bind(std, cmd, m.Fields)
		return m, func() error { m.operands = cmd.Flags().Args(); return nil }
	},
	"live": func(std stdio, cmd *cobra.Command) (*measurement, func() error) {
		m := &newLiveOptions().measurement
		m.bind(std, cmd, m.Fields)
		return m, func() error { m.operands = cmd.Flags().Args(); return nil }
	},
}

// measurementOf is a command line of one of them, read.
func measurementOf(t *testing.T, name string, args []string) *measurement {
	t.Helper()
	cmd := &cobra.Command{}
	m, take := measurements[name](quiet(), cmd)
	err := cmd.ParseFlags(args)
	if err == nil {
		err = take()
	}
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return m
}

// What a report gives as the command that measures again is read as the same run.
func TestMeasuredAgainIsTheSame(t *testing.T) {
	const prefix = `exec "${PROCFIT:-procfit}" `
	r := rand.New(rand.NewPCG(25, 3))
	runs := 20
	if need.Full() {
		runs = 80
	}
	for _, name := range slices.Sorted(maps.Keys(measurements)) {
		for range runs {
			args := randomRun(r, name)
			first := measurementOf(t, name, args)
			result := pagetest.Typical()
			if name == "kube canary" {
				result = pagetest.Canary()
			}
			want := first.asked(quiet())
			result.Spec, result.Plan.Seed = want, 99
			script := documenttest.File(page.Report(result), "reproduce.sh")
			_, line, ok := strings.Cut(script, prefix)
			if !ok {
				t.Fatalf("no command in %s", script)
			}
			words, err := load.Split(strings.TrimSpace(line))
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			own := strings.Fields(name)
			if !slices.Equal(words[:len(own)], own) {
				t.Fatalf("%s %q is given as %q", name, args, words)
			}
			got := measurementOf(t, name, words[len(own):]).asked(quiet())
			if without := []spec.Change{spec.Unset("out"), spec.Unset("seed")}; !slices.Equal(got.With(without...).Args(), want.With(without...).Args()) {
				t.Fatalf("%s %q\nis given as %q\n got %s\nwant %s", name, args, words, got.Shell(), want.Shell())
			}
		}
	}
}

// randomRun is a command line of some of the flags, in any order and form.
func randomRun(r *rand.Rand, name string) (args []string) {
	m, _ := measurements[name](quiet(), &cobra.Command{})
	fields := m.Fields
	for _, i := range r.Perm(len(fields))[:r.IntN(12)] {
		f := fields[i]
		list := texts[f.Name]                      // without one, this fails: no field escapes these tests
		if of, ok := someParts[name][f.Name]; ok { // each command has some of its parts
			list = of
		}
		if f.Name == "query" && name == "live" {
			list = []string{"errors=sum(x[$slice])", "late=y[$slice]"}
		}
		for range 1 + r.IntN(2) {
			text := list[r.IntN(len(list))]
			switch {
			case f.Name == "proto" && text == "set" && (slices.Contains(args, "set") || slices.Contains(args, "--proto=set")): // one is enough
			case f.Name == "vary" && strings.Contains(strings.ReplaceAll(strings.Join(args, " "), "--vary ", "--vary="), "--vary="+text[:strings.Index(text, "=")]+"="): // a variable is there once
			case f.Holds == "" && text == "true" && r.IntN(2) == 0:
				args = append(args, "--"+f.Name)
			case f.Bare != "" && text == f.Bare && r.IntN(2) == 0:
				args = append(args, "--"+f.Name)
			case f.Holds == "" || f.Bare != "" || r.IntN(2) == 0:
				args = append(args, "--"+f.Name+"="+text)
			case f.Short != "" && r.IntN(2) == 0:
				args = append(args, "-"+f.Short, text)
			default:
				args = append(args, "--"+f.Name, text)
			}
		}
	}
	switch name {
	case "compare":
		return append(args, "./old -addr :{port}", "--", "./new", "--seed", "3", "{port}")
	case "sweep":
		return append(args, "--", "./x", "--seed", "3", "{port}")
	}
	return append(args, "deployment/api")
}
