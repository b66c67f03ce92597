package plan

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Attached is a server that runs already. It is measured as it stands, at a rate that
// the user chooses: nothing of it is started, changed or stopped.
type Attached struct {
	PID     int
	Started uint64 // in ticks since boot; with the PID it names one process
	Name    string
	Procs   *int // its live GOMAXPROCS; nil: not known
}

// checkAttached looks at what cannot be asked of a server that runs already.
func (s Spec) checkAttached() *FieldError {
	t := s.Target
	if t.Attach == nil {
		return nil
	}
	const ownStart = ": the attached server is measured as it runs; leave it out"
	switch {
	case t.Pods != nil:
		return Wrong(FieldAttach, ": it is on this machine, and pods are in a cluster: choose one")
	case len(t.Command) > 0 || t.Build != "":
		return Wrong(FieldAttach, ": it runs already: leave out the command")
	case t.URL == "":
		return Wrong(FieldURL, ": say where the load goes, as in --url http://127.0.0.1:8080/")
	case s.Load.Rate == 0:
		return Wrong(FieldRate, ": give a number: a server that is in use gets the rate that you choose, not the most that it can carry")
	case s.Load.SLO != nil:
		return Wrong(FieldSLO, ": it would seek the most that the server can carry, and that is in use; give a --rate alone")
	case !s.Procs.Auto:
		return Wrong(FieldProcs, ownStart)
	case slices.ContainsFunc(s.Quotas, func(q *float64) bool { return q != nil }):
		return Wrong(FieldQuota, ownStart)
	case len(s.Replicas) != 1 || s.Replicas[0] != 1:
		return Wrong(FieldReplicas, ownStart)
	case len(s.GoVersions) > 0:
		return Wrong(FieldGoVersions, ownStart)
	case len(t.Against) > 0:
		return Wrong(FieldAgainst, ownStart)
	case len(t.Env) > 0:
		return Wrong(FieldEnv, ownStart)
	case t.CPUs != nil:
		return Wrong(FieldTargetCPUs, ownStart)
	case t.ReadyGiven():
		return Wrong(FieldReady, ownStart)
	}
	return nil
}

// setting is the one setting that an attached server has: what it runs with.
func (a Attached) setting() journal.Setting {
	setting := withProcs(journal.Setting{Replicas: 1}, a.Procs, "")
	if a.Procs == nil {
		setting.Label = "as it runs"
	}
	return setting
}
