package plan

import (
	"strings"

	"github.com/procfit/procfit/internal/show/secret"
)

// Pods are pods of a cluster as the target: copies of an object's.
type Pods struct {
	Object, Namespace, Container string
	SHA256                       string // of the template that they are copied from
	// LoadElsewhere says that the load comes from another node than theirs.
	LoadElsewhere bool
	Batch         bool // they run and end, and no load is offered
	// Nodes are those that are measured on at the same time; fewer than two: one node.
	Nodes []string
}

// checkPods looks at what a sweep of pods cannot have.
func (s Spec) checkPods() *FieldError {
	t, l := s.Target, s.Load
	if t.Pods == nil {
		return nil
	}
	if len(t.Command) > 0 {
		return Wrong("command", ": pods run what their image holds: leave it out")
	}
	switch {
	case t.Pods.Batch && t.URL != "":
		return Wrong("url", ": a Job serves nothing: leave it out")
	case t.Pods.Batch && (t.RunFor != 0 || l.Warmup != 0):
		return Wrong("duration", ": a trial of a Job is one run of it: leave it out, with --warmup")
	case t.Pods.Batch:
	case t.URL == "":
		return Wrong("url", ": no address to load: name one as in http://%s:8080/", PodPlaceholder)
	case !strings.Contains(t.URL, PodPlaceholder):
		return Wrong("url", " %q: want %s in place of the host, as each pod has its own", secret.Text(t.URL), PodPlaceholder)
	}
	return nil
}
