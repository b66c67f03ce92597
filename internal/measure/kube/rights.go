package kube

import "github.com/procfit/procfit/internal/host/cluster"

// rights are those without which there is no sweep of a subject; better are those without
// which it knows less. canary says that its pods take part in a Service.
func rights(subject reference, canary bool) (must, better []cluster.Right) {
	core := func(resource string, verbs ...string) {
		for _, v := range verbs {
			must = append(must, cluster.Right{Verb: v, Resource: resource})
		}
	}
	core("pods", "create", "get", "list", "delete")
	if !canary {
		core("pods/log", "get")
	}
	core("configmaps", "create", "get", "list", "update", "delete")
	core("services", "list")
	core("pods/portforward", "get", "create")
	if subject.group != "" {
		must = append(must, cluster.Right{Verb: "get", Group: subject.group, Resource: subject.resource})
	}
	better = []cluster.Right{{Verb: "list", Resource: "nodes", Cluster: true}, rightObserver}
	if canary {
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
