package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// guesses are flags that hyperfine, k6, wrk, hey, docker and kubectl have, or that say what
// another command does, and what does the same here: flags, perhaps with a value, where the
// first that a command has counts, and then a command. procfit only names it: no flag has two names.
var guesses = map[string][]string{
	// Load generators.
	"c": {"--connections"}, "concurrency": {"--connections"}, "vus": {"--connections"}, "clients": {"--connections"}, "t": {"--threads", "--connections"},
	"d": {"--trial-time", "--for"}, "z": {"--trial-time", "--for"}, "duration": {"--trial-time", "--for"}, "trial-time": {"--for"}, "time": {"--for"}, "max-time": {"--for"}, "timelimit": {"--for"},
	"R": {"--rate"}, "r": {"--rate"}, "qps": {"--rate"}, "rps": {"--rate"}, "requests-per-second": {"--rate"},
	"H": {"--header"}, "data": {"--body"}, "X": {"--url"}, "method": {"--url"},
	// Repeats.
	"runs": {"--repeats"}, "min-runs": {"--repeats"}, "count": {"--repeats"}, "iterations": {"--repeats"}, "max-runs": {"--until trials=64"}, "max-trials": {"--until trials=64"}, "w": {"--trial-time warmup=1s", "--watch"}, "warmup": {"--trial-time warmup=1s", "--for 10s,warmup=1s"},
	"margin-p99": {"--margin p99=20%"}, "threshold": {"--margin"},
	// Values and limits.
	"gomaxprocs": {"--procs"}, "p": {"--procs"}, "maxprocs": {"--procs"}, "quota": {"--limit"}, "cpu": {"--limit", "--cpus"}, "cpu-limit": {"--limit"}, "cgroup": {"procfit explain PID"}, "pid": {"procfit explain PID"},
	"node-cpus": {"--cpus"}, "server-cpuset": {"--cpus target=0-3"}, "target-cpuset": {"--cpus target=0-3"}, "cpuset": {"--cpus target=0-3"}, "cpuset-cpus": {"--cpus target=0-3"}, "load-cpuset": {"--cpus load=4,5"},
	// Other commands.
	"gate": {compareGuess}, "against": {compareGuess}, "baseline": {compareGuess},
	"attach": {"procfit live :PORT --rate N"},
	"kube":   {"procfit kube sweep deployment/NAME"}, "canary": {"procfit kube canary deployment/NAME"}, "clean": {"procfit kube clean"}, "cluster": {"procfit kube check"},
	"n": {"--for", "procfit kube check --namespace NAME"}, "A": {"procfit kube check"}, "all-namespaces": {"procfit kube check"},
	// Files and output.
	"format": {"--output"}, "config": {"--file"}, "results": {"--out"}, "output-dir": {"--out"}, "export-json": {"--out", "--json"}, "export-markdown": {"--out"},
	"name": {"--out"}, "title": {"--out"}, "port": {"--listen"}, "addr": {"--listen"},
	"exclude": {"--ignore"}, "skip": {"--ignore"}, "fail-on": {"--severity"},
}

const compareGuess = "procfit compare OLD NEW"

// guessed is what to use for a flag that a command does not have; empty: procfit knows of nothing.
func guessed(cmd *cobra.Command, name string) string {
	for _, instead := range guesses[name] {
		if strings.HasPrefix(instead, "procfit ") {
			return instead
		}
		flag, value, _ := strings.Cut(strings.TrimPrefix(instead, "--"), " ")
		if f := cmd.Flags().Lookup(flag); f != nil && !f.Changed { // what is given already is not meant
			if of, ok := f.Value.(*asFlag); ok && of.Holds != "" && value == "" {
				instead += " " + of.Holds
			}
			return instead
		}
	}
	return ""
}
