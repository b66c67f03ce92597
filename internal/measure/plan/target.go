package plan

import (
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Pods are pods of a cluster as the target: copies of an object's.
type Pods struct {
	Object, Namespace, Container string
	SHA256                       string // of the template that they are copied from
	LoadElsewhere                bool   // the load comes from another node than theirs
	LoadFromHere                 bool   // it comes from this machine, through the API server
	Batch                        bool   // they run and end, and no load is offered
}

func (s Spec) checkPods() *FieldError {
	t, l := s.Target, s.Load
	if t.Pods == nil {
		return nil
	}
	if len(t.Command) > 0 {
		return Wrong("command", ": pods run what their image holds: remove it")
	}
	switch {
	case t.Pods.Batch && t.URL != "":
		return Wrong("url", ": a Job serves nothing: remove it")
	case t.Pods.Batch && (t.RunFor != 0 || l.Warmup != 0):
		return Wrong("trial-time", ": a trial of a Job is one run of it: remove it")
	case t.Pods.Batch:
	case t.URL == "":
		return Wrong("url", ": no address to load: name one as in http://%s:8080/", PodPlaceholder)
	case !strings.Contains(t.URL, PodPlaceholder):
		return Wrong("url", " %q: write %s in place of the host, since each pod has its own", secret.Text(t.URL), PodPlaceholder)
	}
	return nil
}

// Attached is a server that runs already. It is measured as it is, at a rate that
// the user chooses: nothing of it is started, changed or stopped.
type Attached struct {
	PID     int
	Started uint64 // in ticks since boot; with the PID it names one process
	Name    string
	Procs   *int // its live GOMAXPROCS; nil: not known
}

func (s Spec) checkAttached() *FieldError {
	t := s.Target
	if t.Attach == nil {
		return nil
	}
	switch {
	case len(t.Command) > 0:
		return Wrong("command", ": the server is running already: remove the command")
	case t.URL == "":
		return Wrong("url", ": say where the load goes, as in --url http://127.0.0.1:8080/")
	case s.Load.Rate == 0:
		return Wrong("rate", ": give a number: a server that is in use gets the rate that you choose, not the most that it can carry")
	}
	return nil
}

func (a Attached) setting() journal.Setting {
	setting := withProcs(journal.Setting{Replicas: 1}, a.Procs, "")
	if a.Procs == nil {
		setting.Label = "as it runs"
	}
	return setting
}

// Neighbour is a program that runs next to the target in every trial, as a sidecar does.
type Neighbour struct {
	Command []string // argv; {port} is that of the target's first copy
	Quota   *float64 // the CPU limit of its own group; nil: that of the setting, 0: none
	Shares  int64    // of its own group, as Target.Shares
}

// NeedsGroups reports whether anything is to run under a limit or with shares of ours.
func (s Spec) NeedsGroups() bool {
	limited := slices.ContainsFunc(s.Quotas, func(q *float64) bool { return q != nil })
	b := s.Target.Beside
	return limited || s.Target.Shares > 0 || b != nil && (b.Shares > 0 || b.Quota != nil && *b.Quota > 0)
}

func (s Spec) checkBeside() *FieldError {
	t := s.Target
	b := t.Beside
	if b == nil {
		return nil
	}
	hasPort := slices.ContainsFunc(b.Command, func(w string) bool { return strings.Contains(w, PortPlaceholder) })
	switch {
	case len(b.Command) == 0 || b.Command[0] == "":
		return Wrong("beside", ": expected a command, for example --beside './sidecar -upstream 127.0.0.1:{port}'")
	case hasPort && !s.commandHas(PortPlaceholder):
		return Wrong("beside", ": it has {port}, but neither the target's command nor --env has: there is no such port")
	}
	return nil
}
