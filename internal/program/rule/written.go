package rule

import "fmt"

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
