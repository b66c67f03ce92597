package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/cli/entry"
	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/inspect/explain"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

// whatIfFlags take the place of what is read.
func (o *explainOptions) whatIfFields() []field.Field {
	w := &o.whatIf
	return []field.Field{
		{Name: "cpus", Holds: "N", Help: "what if it might run on this number of CPUs", Value: field.Parsed(&w.CPUs, "", field.Maybe(field.Whole(1, math.MaxInt32)))},
		{Name: "limit", Holds: "LIMITS", Help: "what if these were the CPU limits, from its own cgroup up: 20,500m; or none", Value: field.Parsed(&w.Limits, "", func(text string) ([]facts.Limit, error) {
			w.LimitText = text
			return explain.ParseLimits(text)
		})},
		{Name: "gomaxprocs", Holds: "VALUE", Help: "what if GOMAXPROCS had this value in the environment; unset for none", Value: field.Parsed(&w.Env, "", field.Maybe(anyText))},
		{Name: "go", Holds: "VERSION", Help: "what if it were built with this Go version, and go.mod named it too", Value: field.Parsed(&w.GoVersion, "", goRelease)},
		{Name: "lang", Holds: "VERSION", Help: "what if this version were the go line of its go.mod", Value: field.Parsed(&w.Language, "", goModLine)},
		entry.Reserve(&w.Reserve),
		{Name: "request", Holds: "CPUS", Help: "what a CPU request of this many CPUs means next to the limit", Value: field.Parsed(&o.request, "", number.ParseCPUs)},
	}
}

func anyText(text string) (string, error) { return text, nil }

// goRelease reads the version of a Go toolchain.
func goRelease(text string) (string, error) {
	if (facts.Go{Version: text}).Check() != nil {
		return "", fmt.Errorf("%q: expected a Go version such as 1.26 or go1.26.8", text)
	}
	return text, nil
}

// goModLine reads the go line of a go.mod.
func goModLine(text string) (string, error) {
	if (facts.Go{Language: text}).Check() != nil {
		return "", fmt.Errorf("%q: expected a Go version such as 1.24", text)
	}
	return text, nil
}

// request is what was asked of a CPU request, and the weight of the program's group
// where that was read. A --limit is another group's.
func (o *explainOptions) asked(from source, f facts.Facts) explain.Request {
	out := explain.Request{Asked: o.request}
	own, found := f.Own()
	if from.tree == nil || !found || o.has("limit") {
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

// policyValue is the choice of a policy, or of one by request.
type policyValue struct {
	field.Value
	words []string
}

// Words implements field.Closed.
func (v policyValue) Words() []string { return v.words }

// policyField is --policy with the policies that need a request too.
func (o *explainOptions) policyField() field.Field {
	f := entry.Policy(&o.policy, "print only what one policy decides")
	words := slices.Concat(rule.Policies(), explain.RequestPolicies())
	shown := slices.Concat(rule.Policies(), []string{"request=K", "crio", "crio-first"})
	f.Help = "one policy: " + phrase.Or(shown)
	f.Value = policyValue{words: words, Value: field.Parsed(&o.policy, "", func(text string) (string, error) {
		if slices.Contains(rule.Policies(), text) {
			o.by.Name = ""
			return text, nil
		}
		by, ok, err := explain.ParseRequestPolicy(text)
		if err == nil && !ok {
			err = fmt.Errorf("%q: expected %s%s", text, phrase.Or(shown), phrase.DidYouMean(text, words))
		}
		o.by.Name, o.by.Factor = by.Name, by.Factor
		return text, err
	})}
	return f
}

// checkRequest refuses a request, or a floor, that the policy does not use.
func (o *explainOptions) checkRequest() error {
	switch {
	case o.by.Name != "":
		return nil
	case o.has("floor"):
		return usageError("--floor and --policy %s: only request=K, crio and crio-first have a floor; remove one of them", o.policy)
	case o.request > 0 && o.policy != "":
		return usageError("--request and --policy %s: only request=K, crio and crio-first use a request; remove one of them", o.policy)
	case o.request > 0 && o.value:
		return usageError("--request and --value: a request decides only by a policy; add --policy request=1, crio or crio-first")
	}
	return nil
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
