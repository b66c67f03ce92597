package kube

import "github.com/procfit/procfit/internal/host/cluster"

// wants is what a sweep is about to do, as far as rights go by it.
type wants struct {
	subject reference
	resize  bool
	canary  bool // the pods take part in a Service
}

// rights are those without which there is no sweep; better are those without which it
// knows less.
func (w wants) rights() (must, better []cluster.Right) {
	core := func(resource string, verbs ...string) {
		for _, v := range verbs {
			must = append(must, cluster.Right{Verb: v, Resource: resource})
		}
	}
	core("pods", "create", "get", "list", "delete")
	if !w.canary {
		core("pods/log", "get")
	}
	core("configmaps", "create", "get", "list", "update", "delete")
	core("services", "list")
	core("pods/portforward", "get", "create")
	if w.subject.group != "" {
		must = append(must, cluster.Right{Verb: "get", Group: w.subject.group, Resource: w.subject.resource})
	}
	if w.resize {
		core("pods/resize", "patch")
	}
	better = []cluster.Right{{Verb: "list", Resource: "nodes", Cluster: true}, rightObserver}
	if w.canary {
		for _, r := range []string{"replicasets", "statefulsets", "daemonsets"} {
			must = append(must, cluster.Right{Verb: "list", Group: "apps", Resource: r})
		}
		better = append(better, rightHPAs, rightPDBs)
	}
	must = append(must, cluster.Right{Verb: "get", Resource: "nodes", Cluster: true})
	return must, better
}

// rightObserver is what the evidence takes that comes from next to the target.
var rightObserver = cluster.Right{Verb: "patch", Resource: "pods/ephemeralcontainers"}

// Those by which it is known what else counts a canary's pods.
var (
	rightHPAs = cluster.Right{Verb: "list", Group: "autoscaling", Resource: "horizontalpodautoscalers"}
	rightPDBs = cluster.Right{Verb: "list", Group: "policy", Resource: "poddisruptionbudgets"}
)
