package cluster_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// sevens is a policy of admission that gives each target GOMAXPROCS=7.
const sevens = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: procfit-sevens}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  matchConditions: [{name: targets, expression: "has(object.metadata.labels) && 'procfit.dev/role' in object.metadata.labels && object.metadata.labels['procfit.dev/role'] == 'target'"}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >
        Object{spec: Object.spec{containers: object.spec.containers.map(c,
        Object.spec.containers{name: c.name, env: [Object.spec.containers.env{name: "GOMAXPROCS", value: "7"}]})}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: procfit-sevens}
spec: {policyName: procfit-sevens, matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: sevens}}}}
`

// What admission makes of the environment is refused before anything is made; where it
// begins to in the middle of a sweep, its trials are invalid, and say so.
func TestSweepChangedByAdmission(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := openShop(ctx, t, "sevens")
	run := s.sweep(ctx, "out", "--trial-time", "2s", "--repeats", "3")
	must.OK(t, run.Start())
	s.target(ctx)
	kubectl(ctx, t, s.cluster, sevens, "apply", "-f", "-")
	t.Cleanup(func() {
		s.cluster.Kubectl(context.Background(), strings.NewReader(sevens), "delete", "--wait=false", "-f", "-")
	})
	run.Wait() // it may end without a comparison
	changed := 0
	for _, tr := range s.trials("out") {
		if tr.InvalidCode == journal.InvalidPodChanged && strings.Contains(tr.InvalidReason, "GOMAXPROCS is 7 instead of "+tr.Setting.Label) {
			changed++
		}
		for _, n := range tr.ObservedProcs {
			if tr.Valid && n != nil && *n == 7 {
				t.Errorf("%s is valid, and ran at 7", tr.Setting.Label)
			}
		}
	}
	if changed == 0 {
		t.Error("admission changed nothing in the middle")
	}
	s.empty(ctx)
	out, err := s.sweep(ctx, "refused").CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("GOMAXPROCS is 7 instead of")) {
		t.Errorf("%v: %s", err, out)
	}
	s.empty(ctx)
}

// An image that cannot be pulled makes its trials invalid, in the words of the kubelet.
func TestSweepImageNotPulled(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	s := openShop(ctx, t, "unpulled")
	kubectl(ctx, t, s.cluster, "", "set", "image", "deployment/api", "--namespace", s.name, "*=127.0.0.1:1/none:v1") // refused at once
	out, err := s.sweep(ctx, "out", "--procs", "1", "--timeout", "ready=10s").CombinedOutput()
	if err == nil {
		t.Errorf("ended well: %s", out)
	}
	trials := s.trials("out")
	for _, tr := range trials {
		if tr.Valid || tr.InvalidCode != journal.InvalidNoPod || !strings.Contains(tr.InvalidReason, "127.0.0.1:1/none:v1") {
			t.Errorf("%s: valid=%t %s %s", tr.Setting.Label, tr.Valid, tr.InvalidCode, tr.InvalidReason)
		}
	}
	if len(trials) == 0 {
		t.Errorf("no trial: %s", out)
	}
	s.empty(ctx)
}
