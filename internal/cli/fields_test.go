package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

// texts are values of each field of a sweep.
var texts = map[string][]string{
	"url": {"http://127.0.0.1:{port}/b", "2=http://127.0.0.1:{port}/a"}, "build": {"./cmd/x", "."}, "env": {"A=b", "GOGC=50", "SPACE=a b"}, "name": {"a title", "--out"},
	"attach": {":8080", "77"}, "ready": {"tcp", "grpc", "http://127.0.0.1:{port}/ready", "true 'a b'"}, "ready-status": {"200-399", "200,401"}, "ready-timeout": {"7s", "1m30s"},
	"prepare": {"true a", "true '-- b'"}, "beside": {"true 1", "true '--out x'"}, "grace": {"1s", "0s"}, "trial-timeout": {"9s", "1h"},
	"procs": {"unset,1,2", "1..4", "unset,3"}, "replicas": {"2", "1,3"}, "go": {"1.24", "go1.25,1.26"}, "against": {"true {port}", "true old {port}"},
	"slo": {"p99=20ms", "p90=1s"}, "price": {"cpu=0.04", "cpu=1,replica=2"}, "metric": {"throughput=([0-9]+) rows", "late:lower=x=(.*)"}, "margin": {"7%", "0.02"}, "margin-p99": {"33%", "1.5"}, "seed": {"7", "0"},
	"connections": {"5", "1"}, "rate": {"100", "2.5e3"}, "pace": {"poisson", "constant"}, "duration": {"4s", "1m"}, "warmup": {"0s", "20ms"}, "method": {"PUT", "HEAD"}, "header": {"Accept: a", "Host: x"},
	"body": {"a text", "-"}, "body-file": {"-"}, "requests": {"-"}, "request-timeout": {"2s", "1h"}, "max-errors": {"3%", "0.5"}, "load": {"wrk {url}", "true '{url}'"},
	"streams": {"4", "9"}, "grpc": {"a.B/C", "a.B/D"}, "data": {`{"a": 1}`, "{}"}, "proto": {"a.proto", "b.proto"}, "protoset": {"set"}, "cacert": {"ca.pem"}, "cert": {"cert.pem"}, "key": {"key.pem"},
	"insecure": {"true", "false"}, "server-name": {"h"}, "engine": {"raw", "portable"},
	"quota": {"1", "none,0.5"}, "beside-quota": {"none", "0.5"}, "server-cpuset": {"0", "0-1"}, "load-cpuset": {"0", "1"}, "shared-cpus": {"true", "false"},
	"until": {"likely", "proven"}, "max-trials": {"90", "95"}, "max-time": {"1h", "10m"}, "grid": {"true", "false"}, "repeats": {"7", "3"},
	"baseline": {"old", "a b"}, "gate": {"true", "false"}, "out": {"new", "-"}, "live": {":0"}, "json": {"true"}, "dry-run": {"true"},
	"kube": {"deployment/api", "--clean"}, "namespace": {"shop"}, "context": {"c"}, "kubeconfig": {"f"}, "node": {"n1,n2"}, "image": {"i:v1"}, "clean": {"true"}, "container": {"app"}, "parallel": {"true"},
	"load-from": {"local"}, "resize": {"true"}, "canary": {"true"}, "share": {"5%"}, "slice": {"30s"}, "prometheus": {"http://p:9090"}, "query": {`errors=sum(x{pod=~"$pods"})`, `requests=y{pod=~"$pods"}`}, "yes": {"true"},
}

func quiet() stdio {
	return newStdio(context.Background(), strings.NewReader(""), io.Discard, io.Discard, nil)
}

// sweepFlags are the flags of a sweep, as they are given.
func sweepFlags(t *testing.T, args []string) *sweepOptions {
	t.Helper()
	cmd := &cobra.Command{}
	o := newSweepOptions(quiet(), cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	o.command = cmd.Flags().Args()
	return o
}

// Every flag of sweep, load and lab run is of a field, and every field tells where it
// belongs and what of the header it decides.
func TestEveryFlagIsAField(t *testing.T) {
	root := newRoot(quiet())
	for _, words := range [][]string{{"sweep"}, {"load"}, {"lab", "run"}} {
		cmd, _, err := root.Find(words)
		if err != nil {
			t.Fatal(err)
		}
		cmd.InitDefaultHelpFlag()
		n := 0
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			n++
			if f.Name == "help" {
				return
			}
			of, ok := f.Value.(*asFlag)
			switch {
			case !ok:
				t.Errorf("%v --%s is not of a field", words, f.Name)
			case !slices.Contains(field.Groups(), of.Group):
				t.Errorf("%v --%s: of no group of the help: %q", words, f.Name, of.Group)
			case of.Help == "" || len(of.Help) > 130:
				t.Errorf("%v --%s: the help has %d characters: want 1 to 130", words, f.Name, len(of.Help))
			case words[0] != "load" && (of.Header == "") == (of.Aside == ""):
				t.Errorf("%v --%s: want the keys of the header that it decides, or why there are none", words, f.Name)
			}
		})
		if help := cmd.UsageString(); strings.Count(help, "\n      --")+strings.Count(help, "\n  -") != n {
			t.Errorf("%v: the help has not all of %d flags once:\n%s", words, n, help)
		}
	}
}

// A field decides those keys of the header that it names, and no others.
func TestFieldsDecideTheHeader(t *testing.T) {
	server := []string{"--url", "http://127.0.0.1:{port}/", "--seed", "1"}
	grid := append([]string{"--repeats", "4"}, server...)
	call := []string{"--url", "h2c://127.0.0.1:{port}", "--seed", "1", "--grpc", "a.B/Z"}
	bases := map[string][]string{
		"prepare": {"--seed", "1"}, "trial-timeout": {"--seed", "1"}, "repeats": grid, "grid": nil, "build": {"--url", "http://127.0.0.1:{port}/", "--seed", "1", "--env", "P={port}"},
		"streams": call, "data": call, "proto": call, "protoset": call, "beside-quota": append([]string{"--beside", "true"}, server...), "price": append([]string{"--slo", "p99=1s", "--rate", "9"}, server...),
		"pace": append([]string{"--rate", "9"}, server...), "insecure": {"--url", "https://127.0.0.1:{port}/", "--seed", "1"}, "server-name": {"--url", "https://127.0.0.1:{port}/", "--seed", "1"},
		"rate": grid, "go": {"--seed", "1", "--build", "."},
	}
	elsewhere := map[string]string{
		"attach": "there must be such a process: sweep_attach", "grid": "it changes the plan: sweep_race", "cacert": "it must be a certificate: sweep_protocols", "cert": "it must be a certificate", "key": "it must be a key",
		"proto": "it must be a file with types: sweep_protocols", "protoset": "it must be a file with types", "grpc": "it needs another URL: sweep_protocols", "body-file": "as body", "requests": "it must have requests: sweep_mix",
		"go": "it needs toolchains", "load": "a generator must be there: sweep_load", "shared-cpus": "it takes four CPUs: the tests of session",
	}
	for _, f := range plan.NewFlags().Fields() {
		if elsewhere[f.Name] != "" {
			continue
		}
		base, ok := bases[f.Name]
		if !ok {
			base = server
		}
		var changed []string
		for _, text := range texts[f.Name] {
			before, after := headerOf(t, base), headerOf(t, append(butFor(base, f.Name), "--"+f.Name+"="+text))
			for key := range after {
				if !reflect.DeepEqual(before[key], after[key]) && !slices.Contains(changed, key) {
					changed = append(changed, key)
				}
			}
			for key := range before {
				if _, ok := after[key]; !ok && !slices.Contains(changed, key) {
					changed = append(changed, key)
				}
			}
		}
		keys := strings.Fields(f.Header)
		if f.Header != "" && len(changed) == 0 {
			t.Errorf("--%s: nothing of %s has changed", f.Name, f.Header)
		}
		for _, key := range changed {
			if !slices.Contains(keys, key) {
				t.Errorf("--%s has changed %s, of which its field does not speak: %s%s", f.Name, key, f.Header, f.Aside)
			}
		}
	}
}

func butFor(args []string, name string) (rest []string) {
	for i := 0; i < len(args); i += 2 {
		if args[i] != "--"+name {
			rest = append(rest, args[i:i+2]...)
		}
	}
	return rest
}

// headerOf is what the header of a sweep says of its target, load and plan.
func headerOf(t *testing.T, args []string) map[string]any {
	t.Helper()
	o := sweepFlags(t, append(slices.Clone(args), "--", "true", "{port}"))
	if !o.has("url") {
		o.command = []string{"true"}
	}
	s, err := o.resolve(t.Context(), quiet())
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	keys := map[string]any{"name": s.Header.Name}
	for part, v := range map[string]any{"target": s.Header.Target, "load": s.Header.Load, "plan": s.Header.Plan} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var below map[string]any
		if err := json.Unmarshal(b, &below); err != nil {
			t.Fatal(err)
		}
		for key, v := range below {
			keys[part+"."+key] = v
		}
	}
	return keys
}

// What a report gives as the command that measures again is read as the same sweep.
func TestMeasuredAgainIsTheSame(t *testing.T) {
	const prefix = `exec "${PROCFIT:-procfit}" `
	r := rand.New(rand.NewPCG(25, 3))
	for range 500 {
		args := randomSweep(r)
		first := sweepFlags(t, args)
		result := pagetest.Typical()
		result.Tool, result.Plan.Seed = journal.Tool{Args: first.tool("sweep").Args}, 99
		script := page.New(result).Reproduce
		_, line, ok := strings.Cut(script, prefix)
		if !ok {
			t.Fatalf("no command in %s", script)
		}
		words, err := load.Split(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		second := sweepFlags(t, words[1:])
		if got, want := asked(second), asked(first); got != want {
			t.Fatalf("%q\nis given as %q\n got %s\nwant %s", args, words, got, want)
		}
		a, err := settle(first.spec, quiet())
		if err != nil {
			continue // which is not of what may go together
		}
		b, err := settle(second.spec, quiet())
		if a.Seed == nil {
			a.Seed = new(uint64(99))
		}
		if err != nil || !reflect.DeepEqual(a, b) || !slices.Equal(first.command, second.command) {
			t.Fatalf("%q\nis given as %q, %v:\n%+v\n%+v", args, words, err, a, b)
		}
	}
}

// randomSweep is a command line of some of the flags, in any order and form.
func randomSweep(r *rand.Rand) (args []string) {
	fields := newSweepOptions(quiet(), &cobra.Command{}).fields
	for _, i := range r.Perm(len(fields))[:r.IntN(12)] {
		f := fields[i]
		list := texts[f.Name]
		for range 1 + r.IntN(2) {
			text := list[r.IntN(len(list))]
			switch {
			case f.Holds == "" && text == "true" && r.IntN(2) == 0:
				args = append(args, "--"+f.Name)
			case f.Holds == "" || r.IntN(2) == 0:
				args = append(args, "--"+f.Name+"="+text)
			case f.Short != "" && r.IntN(2) == 0:
				args = append(args, "-"+f.Short, text)
			default:
				args = append(args, "--"+f.Name, text)
			}
		}
	}
	if r.IntN(4) > 0 {
		args = append(args, "--", "./x", "--seed", "3", "{port}")
	}
	return args
}

// asked is what the flags hold, but for where the results go and the seed.
func asked(o *sweepOptions) string {
	var b strings.Builder
	for _, f := range o.fields {
		if f.Name == "out" || f.Name == "seed" {
			continue
		}
		fmt.Fprintf(&b, "%s=%q ", f.Name, f.Value.String())
		if list, ok := f.Value.(field.List); ok {
			fmt.Fprintf(&b, "%q ", list.Texts())
		}
	}
	return b.String()
}

// Every field has values here, so that none escapes these tests.
func TestEveryFieldHasTexts(t *testing.T) {
	for _, f := range newSweepOptions(quiet(), &cobra.Command{}).fields {
		if len(texts[f.Name]) == 0 {
			t.Errorf("no value of --%s is tried", f.Name)
		}
	}
}
