package plan

import (
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
	switch {
	case len(t.Command) > 0:
		return Wrong("attach", ": it runs already: leave out the command")
	case t.URL == "":
		return Wrong("url", ": say where the load goes, as in --url http://127.0.0.1:8080/")
	case s.Load.Rate == 0:
		return Wrong("rate", ": give a number: a server that is in use gets the rate that you choose, not the most that it can carry")
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
