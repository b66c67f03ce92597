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
	for _, f := range []struct {
		field Field
		given bool
	}{
		{FieldCommand, len(t.Command) > 0}, {FieldAgainst, len(t.Against) > 0}, {FieldBuild, t.Build != ""}, {FieldPrepare, t.Prepare != nil},
		{FieldTargetCPUs, t.CPUs != nil}, {FieldLoadCPUs, l.CPUs != nil}, {FieldGoVersions, len(s.GoVersions) > 0}, {FieldShared, l.Shared}, {FieldLoad, l.Command != ""},
	} {
		if f.given {
			return Wrong(f.field, ": pods run what their image holds, and procfit in a pod offers the load: leave it out")
		}
	}
	if len(t.Env) > 0 {
		return Wrong(FieldEnv, ": pods have the environment of their object: set the variable there")
	}
	g := l.GRPC
	switch {
	case t.ReadyGiven():
		return Wrong(FieldReady, ": a pod's own readinessProbe says when it is ready: leave it out")
	case l.TLS.CACert != "" || l.TLS.Cert != "" || l.TLS.Key != "":
		return Wrong(FieldCACert, ": the pod of the load has no files of yours: leave it out, with --cert and --key")
	case g != nil && (len(g.Proto) > 0 || g.Protoset != ""):
		return Wrong(FieldProto, ": the pod of the load has no files of yours: leave it out, so that the server describes its types")
	}
	switch {
	case t.Pods.Batch && t.URL != "":
		return Wrong(FieldURL, ": a Job serves nothing: leave it out")
	case t.Pods.Batch && (t.RunFor != 0 || l.Warmup != 0):
		return Wrong(FieldDuration, ": a trial of a Job is one run of it: leave it out, with --warmup")
	case t.Pods.Batch:
	case t.URL == "":
		return Wrong(FieldURL, ": no address to load: name one as in http://%s:8080/", PodPlaceholder)
	case !strings.Contains(t.URL, PodPlaceholder):
		return Wrong(FieldURL, " %q: want %s in place of the host, as each pod has its own", secret.Text(t.URL), PodPlaceholder)
	}
	return nil
}
