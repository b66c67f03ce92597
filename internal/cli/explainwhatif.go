package cli

import (
	"context"
	"errors"
	"fmt"
	goversion "go/version"
	"io/fs"
	"math"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/cli/entry"
	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/inspect/explain"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

type explainOptions struct {
	fieldFlags
	out     printing
	pids    []int
	root    string
	policy  string
	memory  bool
	value   bool
	whatIf  explain.WhatIf
	request float64 // CPUs; 0: not asked
	measure bool    // the reserve
}

// factSource is where a program is looked at by its PID; 0 is the one that no PID names.
type factSource struct {
	subject func(pid int) (rule.Subject, error)
	memory  func(pid int) (facts.Memory, error)
	live    *observe.Reader // nil: no process runs there
	tree    fs.FS           // where files of the system are looked up; nil: nowhere
	close   func() error
}

func (o *explainOptions) whatIfFields() []field.Field {
	w := &o.whatIf
	return []field.Field{
		{Name: "cpus", Holds: "N", Help: "what if it might run on this number of CPUs", Value: field.Parsed(&w.CPUs, "", field.Maybe(field.Whole(1, math.MaxInt32)))},
		{Name: "limit", Holds: "LIMITS", Help: "what if these were the CPU limits, from its own cgroup up: 20,500m; or none", Value: field.Parsed(&w.Limits, "", func(text string) ([]facts.Limit, error) {
			w.LimitText = text
			return explain.ParseLimits(text)
		})},
		{Name: "gomaxprocs", Holds: "VALUE", Help: "what if GOMAXPROCS had this value in the environment; default for none", Value: field.Parsed(&w.Env, "", field.Maybe(func(text string) (string, error) { return text, nil }))},
		{Name: "go", Holds: "VERSION", Help: "what if it were built with this Go version, and go.mod named it too", Value: field.Parsed(&w.GoVersion, "", goRelease)},
		{Name: "lang", Holds: "VERSION", Help: "what if this version were the go line of its go.mod", Value: field.Parsed(&w.Language, "", goModLine)},
		o.reserveField(),
		{Name: "request", Holds: "CPUS", Help: "what a CPU request of this many CPUs means next to the limit", Value: field.Parsed(&o.request, "", number.ParseCPUs), Not: "policy value"},
	}
}

const measuredReserve = "auto"

// reserveField is --reserve, which may be measured too.
func (o *explainOptions) reserveField() field.Field {
	f := entry.Reserve(&o.whatIf.Reserve)
	f.Help = "leave CPUs to others in the limit: 0.5, 500m, or auto: what they use now"
	f.Value = field.Parsed(&o.whatIf.Reserve, "", func(text string) (float64, error) {
		if o.measure = text == measuredReserve; o.measure {
			return 0, nil
		}
		cpus, err := number.ParseCPUs(text)
		if err != nil {
			err = fmt.Errorf("%w, or %s", err, measuredReserve)
		}
		return cpus, err
	})
	return f
}

// checkReserve refuses a reserve that no policy uses, or that cannot be measured.
func (o *explainOptions) checkReserve() error {
	cpus := o.whatIf.Reserve
	if o.measure {
		cpus = 1
	}
	if err := entry.CheckReserve(cpus, o.policy); err != nil {
		return asUsage(err)
	}
	if !o.measure {
		return nil
	}
	for _, name := range []string{"root", "cpus", "limit"} {
		if o.Has(name) {
			return usageError("--reserve %s and --%s: the others are measured in the limit of a process that runs; remove --%[2]s, or give --reserve a number", measuredReserve, name)
		}
	}
	if len(o.pids) == 0 {
		return usageError("--reserve %s measures what others use in the limit of a process: name it; try: procfit explain --reserve %[1]s PID", measuredReserve)
	}
	return nil
}

const reserveLook = 5 * time.Second

// neighbours measures the reserve; nil: it is not to be measured.
func (o *explainOptions) neighbours(ctx context.Context, std stdio, s rule.Subject) (*observe.Neighbours, error) {
	if !o.measure {
		return nil, nil
	}
	where := "in the limit"
	if _, limited := s.Limit(); !limited {
		where = "on the CPUs"
	}
	std.notef("measuring for %s what others use %s of process %d", number.Minutes(reserveLook), where, s.PID)
	n, err := observe.LookAtNeighbours(ctx, s, reserveLook)
	if err != nil {
		return nil, fmt.Errorf("--reserve %s: %w", measuredReserve, err)
	}
	if o.whatIf.Reserve = n.Reserve(); o.value {
		std.notef("they used %s", number.CPUs(n.Reserve()))
	}
	return &n, nil
}

func goRelease(text string) (string, error) {
	if (facts.Go{Version: text}).Check() != nil {
		return "", fmt.Errorf("%q: expected a Go version such as 1.26 or go1.26.8", text)
	}
	return text, nil
}

// newestGo is the newest release of Go whose choice is compared with procfit's, by test/goruntime.
const newestGo = "1.27"

// assumes notes that a release which a flag names is not known. Empty: none is named.
func assumes(std stdio, release string) {
	release = strings.TrimPrefix(release, "go")
	if release != "" && goversion.Compare(goversion.Lang("go"+release), "go"+newestGo) > 0 {
		std.notef("--go %s: procfit knows the releases of Go up to %s, and assumes that %[1]s chooses as %[2]s does", release, newestGo)
	}
}

func goModLine(text string) (string, error) {
	if (facts.Go{Language: text}).Check() != nil {
		return "", fmt.Errorf("%q: expected a Go version such as 1.24", text)
	}
	return text, nil
}

// asked is a CPU request, and the weight of its group where that was read: a --limit is another group's.
func (o *explainOptions) asked(from factSource, f facts.Facts) explain.Request {
	out := explain.Request{Asked: o.request}
	own, found := f.Own()
	if from.tree == nil || o.Has("limit") || !found {
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
		std.notef("%s, so %s", phrase.Clean(u), e.Uncertain(n))
	}
	_, err = fmt.Fprintln(std.out, n)
	return err
}
