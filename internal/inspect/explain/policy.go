package explain

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

// RequestPolicy is a policy by CPU request that a user asks for.
type RequestPolicy struct {
	Name   facts.PolicyName // of such a policy; "": none
	Factor float64          // of PolicyRequest
	Floor  int
}

// ParseRequestPolicy reads request=K, crio and crio-first; false: it is another text.
func ParseRequestPolicy(text string) (p RequestPolicy, ok bool, err error) {
	factor, ok := strings.CutPrefix(text, string(facts.PolicyRequest)+"=")
	switch {
	case ok:
		p.Name = facts.PolicyRequest
		if p.Factor, err = number.ParseCPUs(factor); err != nil {
			err = fmt.Errorf("%q: expected a factor above zero, such as request=1 or request=1.5", text)
		}
	case text == string(facts.PolicyCRIO) || text == string(facts.PolicyCRIOFirst):
		p.Name, ok = facts.PolicyName(text), true
	}
	return p, ok, err
}

// RequestPolicies are such policies as a user may write them.
func RequestPolicies() []string {
	return []string{string(facts.PolicyRequest) + "=1", string(facts.PolicyRequest) + "=2", string(facts.PolicyCRIO), string(facts.PolicyCRIOFirst)}
}

// ByRequest shows only what this policy decides, by the request that was asked about, or
// else by the weight of the program's cgroup. Add the request before.
func (e Explanation) ByRequest(p RequestPolicy) Explanation {
	f := e.subject.Facts
	milli, source := e.request.milli()
	var by facts.Policy = facts.Request{CPUs: float64(milli) / 1000, Source: source, Factor: p.Factor, Floor: p.Floor}
	if p.Name != facts.PolicyRequest {
		by = facts.CRIO{
			Shares: cgroup.Shares.Weight(milli), Source: source, Floor: p.Floor, First: p.Name == facts.PolicyCRIOFirst,
			Guaranteed: guaranteed(f.Cgroup.Path),
		}
	}
	d := facts.Decide(f, by)
	if why := e.request.unread(); why != "" {
		d.Unknown = append(d.Unknown, why)
	}
	e.policy, e.decisions, e.unread = string(p.Name), []facts.Decision{d}, e.request.unread()
	return e
}

// guaranteed reports whether a cgroup is of a pod of this QoS class: the other classes
// have a cgroup of their own below that of all pods.
func guaranteed(path string) bool {
	return strings.Contains(path, "kubepods") && !strings.Contains(path, "burstable") && !strings.Contains(path, "besteffort")
}

// unread says why the request is not known; empty: it is, or there is none.
func (r Request) unread() string {
	if r.Asked > 0 || r.Unknown == "" {
		return ""
	}
	return "the weight of its cgroup is not known: " + r.Unknown
}

// milli is the request in thousandths of a CPU, and where it comes from. Of a weight it is
// the largest request with that weight. A weight of v2 leads to two requests, by the way
// in which the container runtime has converted it: the newer way counts, and the other is
// named.
func (r Request) milli() (milli int64, source string) {
	switch {
	case r.Asked > 0:
		return milliOf(r.Asked), "its CPU request is " + number.CPUs(r.Asked)
	case r.unread() != "":
		return 0, r.unread()
	case r.Weight == nil || r.Weight.Value == 0:
		return 0, "no CPU request is known"
	}
	all := cgroup.Conversions(r.Weight.Version)
	for i := len(all) - 1; i >= 0; i-- {
		if low, high, ok := all[i].Requests(r.Weight.Value); ok {
			if low == 0 { // as of a container without a request
				high = 0
			}
			return high, strings.Join(r.weight(), "; ")
		}
	}
	return 0, strings.Join(r.weight(), "; ")
}
