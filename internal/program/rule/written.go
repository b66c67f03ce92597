package rule

import (
	"fmt"
	"math"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Written is how a manifest sets GOMAXPROCS, in addition to the resulting value, and what
// it says about CPUs in addition to a limit.
type Written struct {
	// Resource is the source of a resourceFieldRef: "limits.cpu"; "": the value is
	// written.
	Resource string
	Divisor  string // "": none is written
	Amount   string // of the resource: "1500m"; "": the manifest has none
	Sibling  bool   // the resource is that of another container of the pod

	Refused  string  // why an API server rejects the manifest; "": it does not
	Quantity bool    // it is an amount of CPUs that is rejected, not the variable
	Kubelet  bool    // the kubelet rejects it: the pod exists, but no container starts
	Twice    bool    // the variable is set twice in the same list
	Image    bool    // it is fixed in an image, wherever that runs
	Requests float64 // CPUs that it asks for; 0: none, or not known
}

// NodeCPUs reports whether the value refers to a limit that does not exist. It is then
// the number of CPUs of the node.
func (w *Written) NodeCPUs() bool {
	return w != nil && w.Resource == limitsCPU && w.Amount == ""
}

const limitsCPU = "limits.cpu"

// fromLimit reports whether the value is read from the container's own limit whenever it
// starts.
func (w *Written) fromLimit() bool {
	return w != nil && w.Resource == limitsCPU && w.Amount != "" && !w.Sibling
}

func (w *Written) reference() string { return fmt.Sprintf("resourceFieldRef %s", w.Resource) }

func checkDivisor(s Subject) []Finding {
	if s.Written == nil || s.Written.Resource == "" || s.Written.Divisor != "" {
		return nil
	}
	return []Finding{{
		Message: s.Written.reference() + ` has no divisor, the unit that it counts in: the API server stores "0", and tools that compare the cluster with this file show a difference forever`,
		Fix:     `write divisor: "1" (whole CPUs), which gives the same value`,
	}}
}

func checkRefused(s Subject) []Finding {
	if s.Written == nil || s.Written.Refused == "" {
		return nil
	}
	if s.Written.Kubelet {
		return []Finding{{
			Message: "the API server accepts it, but the kubelet never starts the container: " + s.Written.Refused,
			Fix:     "name a container of the same pod, or remove the name, which then means this container",
		}}
	}
	fix := `use either a value in quotes, or a valueFrom with a resourceFieldRef and divisor: "1" (whole CPUs)`
	if s.Written.Quantity {
		fix = "write CPUs as a number, such as 2 or 500m"
	}
	return []Finding{{Message: "the API server rejects the manifest: " + s.Written.Refused, Fix: fix}}
}

func checkNoLimitToRefer(s Subject) []Finding {
	if !s.Written.NodeCPUs() {
		return nil
	}
	return []Finding{{
		Message: "GOMAXPROCS is taken from limits.cpu, but there is no CPU limit: it becomes the number of CPUs of the node",
		Fix:     "set a CPU limit on the container, or write the number of CPUs that it should use",
	}}
}

func checkNoLimit(s Subject) []Finding {
	n, known := s.Procs()
	if s.Written == nil || s.Written.Requests <= 0 || !known || s.SetBy != SetByAuto || s.Written.Image {
		return nil
	}
	if _, limited := s.Facts.Tightest(); limited || s.Facts.Env.State == facts.Unreadable || float64(n) <= math.Ceil(s.Written.Requests) {
		return nil
	}
	return []Finding{{
		Message: fmt.Sprintf("requests %s and has no CPU limit: it %s", number.CPUs(s.Written.Requests), s.Uses(n)),
		Fix:     fmt.Sprintf("set GOMAXPROCS to the CPUs that it should use: its request, rounded up, is %d; or set a CPU limit; procfit sweep shows which value is best", int(math.Ceil(s.Written.Requests))),
	}}
}

func checkTwice(s Subject) []Finding {
	if s.Written == nil || !s.Written.Twice {
		return nil
	}
	return []Finding{{
		Message: "GOMAXPROCS is set twice in env; the last one wins",
		Fix:     "remove all entries but the one that you need",
	}}
}

func checkFixedInImage(s Subject) []Finding {
	n, counts := s.EnvProcs()
	if s.Written == nil || !s.Written.Image || !counts {
		return nil
	}
	return []Finding{{
		Message: fmt.Sprintf("the image fixes GOMAXPROCS=%d for every limit that it runs with", n),
		Fix:     "remove it here; if it is needed, set it in the manifest, next to the CPU limit",
	}}
}

func checkThousandths(s Subject) []Finding {
	if w := s.Written; w == nil || w.Resource == "" || w.Divisor != "1m" {
		return nil
	}
	message := s.Written.reference() + " with divisor 1m counts thousandths of a CPU"
	if n, counts := s.EnvProcs(); counts {
		message += fmt.Sprintf(": GOMAXPROCS=%d", n)
	}
	fix := `write divisor: "1" (whole CPUs)`
	if s.sized() {
		fix += fmt.Sprintf(", which makes it %d", s.Fit.Procs)
	}
	return []Finding{{Message: message, Fix: fix}}
}
