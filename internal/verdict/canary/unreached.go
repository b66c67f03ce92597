package canary

import "slices"

const (
	// idleCPUs is what a pod uses at most that no request reaches: for probes of the
	// kubelet, and for the Go runtime. idleRate is how many of them it may count as
	// requests in a second.
	idleCPUs = 0.002
	idleRate = 1
	// ToldAfter is after how many slices without a request the canary says so.
	ToldAfter = 2
)

// Patience is after how many slices without a request a round ends: half of them.
func (h Header) Patience() int { return max(ToldAfter+1, (h.Slices()+1)/2) }

// Idle tells that no request came to a setting's pods: they used next to no CPU time, or
// where that is not known they counted none. What is not known at all is not idle.
func (a Seen) Idle() bool {
	counted := a.metric(Requests)
	cpus, requests := share(a.cpuSeconds(), a.podSeconds()), share(counted, a.podSeconds())
	switch {
	case cpus == nil:
		return counted != nil && *counted == 0
	case requests != nil && *requests >= idleRate:
		return false
	}
	return *cpus < idleCPUs
}

// idle tells that no request came to any setting.
func (s Slice) idle() bool {
	return len(s.Settings) > 0 && !slices.ContainsFunc(s.Settings, func(a Seen) bool { return !a.Idle() })
}

// unreached tells that no request came in any slice.
func unreached(list []Slice) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(s Slice) bool { return !s.idle() })
}
