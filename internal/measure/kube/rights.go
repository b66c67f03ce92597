package kube

import (
	"context"
	"fmt"
	"strings"
	"sync"

	authv1 "k8s.io/api/authorization/v1"
)

// Right is something that must be allowed, as a role names it.
type Right struct {
	Verb, Group, Resource string // Resource may have a subresource: pods/log
	Cluster               bool   // not in a namespace
}

func (r Right) String() string {
	s := r.Verb + " " + r.Resource
	if r.Group != "" {
		s += "." + r.Group
	}
	return s
}

// wants is what a sweep is about to do, as far as rights go by it.
type wants struct {
	subject reference
	claims  bool // the subject has volume claims
	resize  bool
	inside  bool // the load comes from a pod
	canary  bool // the pods take part in a Service
}

// rights are those without which there is no sweep; better are those without which it
// knows less.
func (w wants) rights() (must, better []Right) {
	core := func(resource string, verbs ...string) {
		for _, v := range verbs {
			must = append(must, Right{Verb: v, Resource: resource})
		}
	}
	core("pods", "create", "get", "list", "delete")
	if !w.canary {
		core("pods/log", "get")
	}
	core("configmaps", "create", "get", "list", "update", "delete")
	core("services", "list")
	core("pods/portforward", "get", "create")
	objects := map[string]Right{
		"Deployment": {Group: "apps", Resource: "deployments"}, "StatefulSet": {Group: "apps", Resource: "statefulsets"}, "DaemonSet": {Group: "apps", Resource: "daemonsets"},
		"Job": {Group: "batch", Resource: "jobs"}, "CronJob": {Group: "batch", Resource: "cronjobs"},
	}
	if r, ok := objects[w.subject.kind]; ok {
		r.Verb = "get"
		must = append(must, r)
	}
	if w.claims {
		core("persistentvolumeclaims", "get")
	}
	if w.resize {
		core("pods/resize", "patch")
	}
	better = []Right{{Verb: "list", Resource: "nodes", Cluster: true}, rightEye}
	if w.canary {
		for _, r := range []string{"replicasets", "statefulsets", "daemonsets"} {
			must = append(must, Right{Verb: "list", Group: "apps", Resource: r})
		}
		better = append(better, rightHPAs, rightPDBs)
	}
	must = append(must, Right{Verb: "get", Resource: "nodes", Cluster: true})
	return must, better
}

// rightEye is what the evidence takes that comes from beside the target.
var rightEye = Right{Verb: "patch", Resource: "pods/ephemeralcontainers"}

// Those by which it is known what else counts a canary's pods.
var (
	rightHPAs = Right{Verb: "list", Group: "autoscaling", Resource: "horizontalpodautoscalers"}
	rightPDBs = Right{Verb: "list", Group: "policy", Resource: "poddisruptionbudgets"}
)

// missing asks which of the rights the user lacks.
func (c *cluster) missing(ctx context.Context, rights []Right) ([]Right, error) {
	lacks := make([]bool, len(rights))
	errs := make([]error, len(rights))
	var all sync.WaitGroup
	for i, r := range rights {
		all.Go(func() {
			errs[i] = c.call(ctx, func(ctx context.Context) error {
				allowed, err := c.may(ctx, c.review(r))
				lacks[i] = !allowed
				return err
			})
		})
	}
	all.Wait()
	var list []Right
	for i, r := range rights {
		if errs[i] != nil {
			return nil, fmt.Errorf("what may be done in namespace %s: %w", c.namespace, errs[i])
		}
		if lacks[i] {
			list = append(list, r)
		}
	}
	return list, nil
}

func (c *cluster) review(r Right) *authv1.SelfSubjectAccessReview {
	resource, sub, _ := strings.Cut(r.Resource, "/")
	namespace := c.namespace
	if r.Cluster {
		namespace = ""
	}
	return &authv1.SelfSubjectAccessReview{Spec: authv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authv1.ResourceAttributes{
		Namespace: namespace, Verb: r.Verb, Group: r.Group, Resource: resource, Subresource: sub,
	}}}
}
