package manifest

import (
	"slices"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

// injection is what CRI-O decides by, besides the CPU limit and the environment.
type injection struct {
	namespace string
	request   float64 // CPUs
	by        facts.CRIO
	patch     bool
}

// injection reads what CRI-O sees of the container. The kubelet counts a request in
// thousandths of a CPU, rounded up. A pod of QoS class Guaranteed has a CPU limit in each
// container, so that its class decides nothing more.
func (k *container) injection(by facts.CRIO, s *store) *injection {
	i := injection{namespace: k.object.namespace, by: by, patch: k.partial}
	i.by.Skip, i.by.Partitioned = k.skips, k.partitioned
	milli := int64(0)
	if request := k.effective(k.cpu, s).request; request.positive() {
		thousandth, _ := parseQuantity("1m")
		milli, i.request = request.ceil(thousandth), request.cpus()
	}
	i.by.Shares = cgroup.Shares.Weight(milli)
	return &i
}

// injected is what CRI-O makes of the unit; nil: nobody asked. A variable whose value is
// not known is one that is there.
func (u *unit) injected(s rule.Subject) *check.Injection {
	if u.crio == nil {
		return nil
	}
	f := s.Facts
	if f.Env.State == facts.Unreadable {
		f.Env.State = facts.Known
	}
	out := &check.Injection{Namespace: u.crio.namespace, Request: u.crio.request, Reads: u.reads(s), Copies: 1, Patch: u.crio.patch}
	d := facts.Decide(f, u.crio.by)
	own, limited := f.Own()
	switch {
	case slices.ContainsFunc(d.Candidates, func(c facts.Candidate) bool { return c.What == facts.KindRequest }):
		out.Procs = d.Procs
	case f.Env.State == facts.Known:
		out.Kept = check.KeptEnvironment
	case limited && own.State == facts.Known:
		out.Kept = check.KeptLimit
	case u.crio.by.Skip:
		out.Kept = check.KeptAnnotation
	default:
		out.Kept = check.KeptPartition
	}
	return out
}

// reads is what the program does with a CPU limit.
func (u *unit) reads(s rule.Subject) check.Reads {
	switch {
	case !u.program.Known():
		return check.ReadsUnknown
	case u.program.Automaxprocs != "":
		return check.ReadsOnce
	case s.FollowsLimit():
		return check.ReadsFollows
	}
	return check.ReadsNever
}
