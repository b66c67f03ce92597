package facts

import "strings"

// The annotations of a pod that CRI-O looks at before it injects GOMAXPROCS.
const (
	// CRIOSkip with the value "true" switches the injection off for a pod.
	CRIOSkip = "skip-gomaxprocs.crio.io"
	// CRIOPartition is the activation annotation of OpenShift's workload partitioning.
	CRIOPartition = "target.workload.openshift.io/management"
)

// CRIO is what a container gets from CRI-O with min_injected_gomaxprocs: GOMAXPROCS in its
// environment if it has no CPU limit. If CRI-O injects nothing, the value is that of Go.
//
// Two formulas are in use. The first releases (cri-o/cri-o#9860, backports #9886, #9887
// and #10010) inject max(floor, ceil(shares ÷ 1024)), and nothing into pods of a workload
// partition. Later ones (#9961, backports #10009 and #10019) inject max(floor,
// ceil(2 × shares ÷ 1024)), into pods of a workload partition too. Neither looks at the
// CPUs of the node. The rules and the figures are those of CRI-O's published tests
// (gomaxprocs_hooks_linux_test.go, test/gomaxprocs.bats); no CRI-O was run to check them.
type CRIO struct {
	Shares int64  // cpu.shares that the kubelet asks for: the request × 1024, and 2 without one
	Source string // where these come from, a sentence for the reasons; "": the caller
	Floor  int    // min_injected_gomaxprocs; below 1: nothing is injected
	First  bool   // the formula of the first releases

	Guaranteed  bool // the pod is of QoS class Guaranteed
	Skip        bool // the pod has the annotation CRIOSkip with the value "true"
	Partitioned bool // the pod is of a workload partition, as by CRIOPartition
}

// Name implements Policy.
func (p CRIO) Name() PolicyName {
	if p.First {
		return PolicyCRIOFirst
	}
	return PolicyCRIO
}

// Injects is the value that CRI-O puts into the environment, or why it puts none. It does
// not look at a limit or at a variable that is there already; Decide does.
func (p CRIO) Injects() (n int, why string) {
	switch {
	case p.Floor < 1:
		return 0, "min_injected_gomaxprocs is 0"
	case p.Skip:
		return 0, "the pod has the annotation " + CRIOSkip
	case p.Partitioned && p.First:
		return 0, "the pod is of a workload partition, which the first releases skip"
	case p.Guaranteed:
		return 0, "the pod is of QoS class Guaranteed"
	}
	const perCPU = 1024
	shares := p.Shares
	if shares < 0 {
		shares = 0
	}
	if !p.First {
		shares *= 2
	}
	if n = toInt(float64((shares + perCPU - 1) / perCPU)); n < p.Floor {
		n = p.Floor
	}
	return n, ""
}

func (p CRIO) decide(f Facts) Decision {
	d := newDecision(p, f)
	n, why := p.Injects()
	own, found := f.Own()
	switch {
	case f.Env.State == Known:
		why = "GOMAXPROCS is in the environment"
	case found && own.State == Known:
		why = "the container has a CPU limit (" + strings.TrimSpace(own.File) + ")"
	}
	if why != "" {
		theirs := Go{}.decide(f)
		d.because("CRI-O injects nothing: %s; the runtime decides", why)
		d.Outcome, d.Procs, d.Candidates, d.Unknown = theirs.Outcome, theirs.Procs, theirs.Candidates, theirs.Unknown
		d.Reasons = append(d.Reasons, theirs.Reasons...)
		return d
	}
	if p.Source != "" {
		d.because("%s", p.Source)
	}
	factor := "2 × "
	if p.First {
		factor = ""
	}
	d.because("CRI-O injects GOMAXPROCS=%d: the larger of the floor of %d and %s%d ÷ 1024, rounded up", n, p.Floor, factor, p.Shares)
	if all := f.AffinityCPUs(); all > 0 && n > all {
		d.because("CRI-O does not look at the affinity, which is %s", plural(all, "CPU", "CPUs"))
	}
	d.because("with the variable set, the runtime no longer follows changes of the limit")
	d.add(Candidate{What: KindRequest, CPUs: float64(p.Shares) / 1024, Procs: n})
	return d.win(KindRequest, n)
}
