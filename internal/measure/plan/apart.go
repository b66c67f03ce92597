package plan

import (
	"context"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// fewestCPUs is the machine from which on the load gets CPUs of its own. Of fewer it
// would leave too little to sweep.
const fewestCPUs = 4

// Split is which CPUs the target and the load have, each for itself.
type Split struct {
	Target, Load cpuset.Set
	Sizing       *journal.Sizing // what it was chosen by
}

// Arranger is a Runner that can set load and target apart on its machine.
type Arranger interface {
	// Arrange measures what the load costs and gives it CPUs of its own, for all
	// trials that follow. nil is that it could not be told, or that there are no CPUs
	// to give: then load and target share them as before. It follows Prepare.
	Arrange(ctx context.Context, plan journal.Plan, observe Observer) (*Split, error)
}

// ApartOn tells whether the load is to get CPUs of its own on a machine of so many
// CPUs that can be used.
func (s Spec) ApartOn(effective float64) bool {
	return s.Split == nil && s.Target.Pods == nil && s.Target.Attach == nil && !s.Load.Shared && s.LoadOnTargetHost() && effective >= fewestCPUs && s.Target.CPUs == nil && s.Load.CPUs == nil
}

// TargetCPUs are those that the target may run on; nil: any.
func (s Spec) TargetCPUs() cpuset.Set {
	if s.Split != nil {
		return s.Split.Target
	}
	return s.Target.CPUs
}

// LoadCPUs are those that the load runs on; nil: any.
func (s Spec) LoadCPUs() cpuset.Set {
	if s.Split != nil {
		return s.Split.Load
	}
	return s.Load.CPUs
}

// Arrangement is how load and target share CPUs; nil where there is no load.
func (s Spec) Arrangement() *journal.Arrangement {
	if s.Target.Kind() != journal.KindServer {
		return nil
	}
	if !s.LoadOnTargetHost() {
		return new(journal.ArrangementElsewhere)
	}
	return new(journal.Arrange(s.TargetCPUs(), s.LoadCPUs()))
}
