package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/inspect/explain"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

// whatIfFlags are as they were written; hasX tells whether the flag is there,
// since 0 and "" are values.
type whatIfFlags struct {
	cpus                      int
	limit, env, release, lang string
	reserve, request          float64

	hasCPUs, hasLimit, hasEnv, hasRequest bool
}

// given notes which flags are there.
func (w *whatIfFlags) given(f *pflag.FlagSet) {
	w.hasCPUs, w.hasLimit, w.hasEnv = f.Changed("cpus"), f.Changed("limit"), f.Changed("env")
	w.hasRequest = f.Changed("request")
}

func (w *whatIfFlags) flags(f *pflag.FlagSet) {
	f.IntVar(&w.cpus, "cpus", 0, "what if it might run on this `number` of CPUs")
	f.StringVar(&w.limit, "limit", "", "what if these were the CPU `limits`, its own group's first, then its parent's: 20,1.5; or none")
	f.StringVar(&w.env, "env", "", "what if GOMAXPROCS had this `value` in the environment; unset for none")
	f.StringVar(&w.release, "go", "", "what if it were built with this Go `version`, and go.mod named it too")
	f.StringVar(&w.lang, "lang", "", "what if this `version` were the go line of its go.mod")
	f.Float64Var(&w.reserve, "reserve", 0, "what fits if this many `CPUs` are left to others in the same limit, a sidecar say")
	f.Float64Var(&w.request, "request", 0, "what a CPU request of this many `CPUs` means beside the limit")
}

func (w whatIfFlags) parse() (explain.WhatIf, error) {
	out := explain.WhatIf{LimitText: w.limit, GoVersion: w.release, Language: w.lang, Reserve: w.reserve}
	if w.hasCPUs && (w.cpus < 1 || w.cpus > math.MaxInt32) {
		return out, usageError("--cpus %d: want a positive number of CPUs", w.cpus)
	}
	if err := (facts.Go{Version: w.release}).Check(); err != nil {
		return out, usageError("--go: %w", err)
	}
	if err := (facts.Go{Language: w.lang}).Check(); err != nil {
		return out, usageError("--lang: %w", err)
	}
	if w.hasLimit {
		var err error
		if out.Limits, err = explain.ParseLimits(w.limit); err != nil {
			return out, usageError("--limit %w", err)
		}
	}
	if w.hasRequest && !(w.request >= 0.001 && w.request <= math.MaxInt32) {
		return out, usageError("--request %v: want CPUs as a number of at least 0.001, as in 0.25", w.request)
	}
	if w.hasCPUs {
		out.CPUs = &w.cpus
	}
	if w.hasEnv {
		out.Env = &w.env
	}
	return out, nil
}

// checkPolicy tells that there is a policy of this name.
func checkPolicy(name string) error {
	if !slices.Contains(explain.Policies(), name) {
		return usageError("--policy %q: known are %s", name, strings.Join(explain.Policies(), ", "))
	}
	return nil
}

// checkReserve takes no CPUs, which is the default, or more, where the policy leaves
// any.
func checkReserve(cpus float64, policy string) error {
	switch {
	case !(cpus >= 0 && cpus <= math.MaxInt32):
		return usageError("--reserve %v: want CPUs above zero, as in 0.5", cpus)
	case cpus > 0 && policy != "" && policy != string(facts.PolicyFit):
		return usageError("--reserve and --policy %s: only fit leaves CPUs to others", policy)
	}
	return nil
}

// request is what was asked of a CPU request, and the weight of the program's group
// where that was read. A --limit is another group's.
func (o *explainOptions) request(from source, f facts.Facts) explain.Request {
	out := explain.Request{Asked: o.whatIf.request}
	own, found := f.Own()
	if from.tree == nil || !found || o.whatIf.hasLimit {
		return out
	}
	w, err := cgroup.ReadWeight(from.tree, f.Cgroup.Version, own.Dir)
	switch {
	case err == nil:
		out.Weight = &w
	case !errors.Is(err, cgroup.ErrNoWeight):
		out.Unknown = err.Error()
	}
	return out
}

// printValue prints the number alone. What makes it uncertain goes to standard error.
func printValue(std stdio, e explain.Explanation) error {
	n, err := e.Value()
	if err != nil {
		return fmt.Errorf("%w; procfit explain has every step", err)
	}
	for _, u := range e.Unknown() {
		std.notef("%s; %d is an upper bound", phrase.Clean(u), n)
	}
	_, err = fmt.Fprintln(std.out, n)
	return err
}
