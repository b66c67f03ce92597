package rule

import (
	"fmt"
	"math"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Written is how a manifest sets GOMAXPROCS, beyond the value that comes of it, and
// what it says of CPUs beside a limit.
type Written struct {
	// Resource is what a resourceFieldRef takes it from: "limits.cpu"; "" where the
	// value is written.
	Resource string
	Divisor  string // "" where none is written
	Amount   string // of the resource: "1500m"; "" where the manifest names none

	Refused  string  // why an API server takes the manifest for wrong; "": it does not
	Kubelet  bool    // it is the kubelet that refuses: the pod is there, and no container starts
	Twice    bool    // the variable stands twice in the same list
	Image    bool    // it is fixed in an image, whatever that runs on
	Requests float64 // CPUs that it asks for; 0: none, or not known
}

// NodeCPUs tells that the value is drawn from a limit that is not there, which makes it
// the CPUs of the node.
func (w *Written) NodeCPUs() bool {
	return w != nil && w.Resource == limitsCPU && w.Amount == ""
}

const limitsCPU = "limits.cpu"

// divided is the thousandfold of a CPU limit.
func (w *Written) divided() bool { return w != nil && w.Resource != "" && w.Divisor == "1m" }

// reference names the way the value is drawn, for a sentence.
func (w *Written) reference() string { return fmt.Sprintf("resourceFieldRef %s", w.Resource) }

func checkDivisor(s Subject) []Finding {
	if s.Written == nil || s.Written.Resource == "" || s.Written.Divisor != "" {
		return nil
	}
	return []Finding{{
		Message: s.Written.reference() + ` has no divisor: the API server stores "0", which tools that compare it with this file show as a difference forever`,
		Fix:     `write divisor: "1", which gives the same value`,
	}}
}

func checkRefused(s Subject) []Finding {
	if s.Written == nil || s.Written.Refused == "" {
		return nil
	}
	if s.Written.Kubelet {
		return []Finding{{
			Message: "the API server takes it, and the kubelet never starts the container: " + s.Written.Refused,
			Fix:     "name a container of the same pod, or leave the name out, which means this one",
		}}
	}
	return []Finding{{Message: "the API server refuses it: " + s.Written.Refused, Fix: "write it as the API server takes it: a value in quotes, or a resourceFieldRef with divisor \"1\""}}
}

func checkNoLimitToRefer(s Subject) []Finding {
	if !s.Written.NodeCPUs() {
		return nil
	}
	return []Finding{{
		Message: "GOMAXPROCS is taken from limits.cpu, and there is no CPU limit: it gets the CPUs of the node",
		Fix:     "give the container a CPU limit, or write the number of CPUs that it is meant to use",
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
		Message: fmt.Sprintf("requests %s and has no CPU limit: it %s", number.CPUs(s.Written.Requests), s.runs(n)),
		Fix:     fmt.Sprintf("set GOMAXPROCS, to %d or more, or a CPU limit; procfit sweep shows which value is best", int(math.Ceil(s.Written.Requests))),
	}}
}

func checkTwice(s Subject) []Finding {
	if s.Written == nil || !s.Written.Twice {
		return nil
	}
	return []Finding{{
		Message: "GOMAXPROCS stands twice in its variables, and the last one counts",
		Fix:     "remove all but the one that is meant",
	}}
}

func checkFixedInImage(s Subject) []Finding {
	n, counts := s.EnvProcs()
	if s.Written == nil || !s.Written.Image || !counts {
		return nil
	}
	return []Finding{{
		Message: fmt.Sprintf("the image fixes GOMAXPROCS=%d for whatever limit it runs under", n),
		Fix:     "remove it here, and set it beside the limit where it is needed",
	}}
}

func checkThousandths(s Subject) []Finding {
	if !s.Written.divided() {
		return nil
	}
	message := s.Written.reference() + " with divisor 1m counts thousandths of a CPU"
	if n, counts := s.EnvProcs(); counts {
		message += fmt.Sprintf(": GOMAXPROCS=%d", n)
	}
	fix := `write divisor: "1"`
	if s.sized() {
		fix += fmt.Sprintf(", which makes it %d", s.Fit.Procs)
	}
	return []Finding{{Message: message, Fix: fix}}
}
