package manifest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/check"
)

const scaledAPI = `apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  template:
    spec:
      containers:
      - {name: api, image: a, resources: {requests: {cpu: %s}%s}%s}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: api}
spec:
  scaleTargetRef: {kind: Deployment, name: api}
  maxReplicas: 9
  metrics:
  - {type: Resource, resource: {name: cpu, target: {%s}}}
`

// reportOf is what a check of a manifest finds.
func reportOf(t *testing.T, text string) *check.Report {
	t.Helper()
	r, err := check.Run(t.Context(), check.Options{Checkers: []check.Checker{New(Options{})}, Files: []*check.File{check.NewFile("api.yaml", []byte(text))}})
	if err != nil || len(r.Problems) > 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	return r
}

func reachOf(t *testing.T, request, limit, procs, target string) []check.Finding {
	t.Helper()
	if limit != "" {
		limit = fmt.Sprintf(", limits: {cpu: %s}", limit)
	}
	if procs != "" {
		procs = fmt.Sprintf(", env: [{name: GOMAXPROCS, value: %q}]", procs)
	}
	r := reportOf(t, fmt.Sprintf(scaledAPI, request, limit, procs, target))
	return slices.DeleteFunc(r.Findings, func(f check.Finding) bool { return f.Rule != "PF042" })
}

// TestReachRemedies does what each finding says, with the least change that it names: the
// finding is then gone, and it is still there without it.
func TestReachRemedies(t *testing.T) {
	percent := regexp.MustCompile(`lower the target to ([0-9]+)% or less`)
	value := regexp.MustCompile(`lower the target to ([0-9]+m) or less`)
	procs := regexp.MustCompile(`set GOMAXPROCS to ([0-9]+) or more(?:,|$)`)
	const utilization, average = "type: Utilization, averageUtilization: ", "type: AverageValue, averageValue: "
	for _, tc := range []struct{ request, limit, procs, target, severity, says string }{
		{"1800m", "", "1", utilization + "80", "warning", "at most about 1 CPU, which is 56% of the request of 1.8"},
		{"1800m", "2", "1", utilization + "60", "warning", "GOMAXPROCS=1"},
		{"1", "", "1", utilization + "97", "info", "tolerance of 10%"},
		{"1", "1", "", utilization + "100", "warning", "CPU limit of 1"},
		{"500m", "1", "", utilization + "250", "warning", "which is 200% of the request of 0.5"},
		{"1", "", "2", average + "3", "warning", "the target is 3 CPUs"},
	} {
		all := reachOf(t, tc.request, tc.limit, tc.procs, tc.target)
		if len(all) != 1 || string(all[0].Severity) != tc.severity || !strings.Contains(all[0].Message, tc.says) {
			t.Errorf("%+v: %+v", tc, all)
			continue
		}
		t.Logf("%s → %s", all[0].Message, all[0].Fix)
		tried := 0
		for way, done := range map[*regexp.Regexp]func(n string) []check.Finding{
			percent: func(n string) []check.Finding { return reachOf(t, tc.request, tc.limit, tc.procs, utilization+n) },
			value:   func(n string) []check.Finding { return reachOf(t, tc.request, tc.limit, tc.procs, average+n) },
			procs:   func(n string) []check.Finding { return reachOf(t, tc.request, tc.limit, n, tc.target) },
		} {
			if m := way.FindStringSubmatch(all[0].Fix); m != nil {
				tried++
				if left := done(m[1]); len(left) > 0 {
					t.Errorf("%+v: %s: still %s", tc, m[0], left[0].Message)
				}
			}
		}
		if tried == 0 {
			t.Errorf("%+v: no number in %q", tc, all[0].Fix)
		}
	}
}

const resizedAPI = `apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec: {template: {spec: {containers: [{name: api, image: a, resources: {requests: {cpu: 1}%s}, env: [{name: GOMAXPROCS, value: "2"}]}]}}}
---
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: tall}
spec: {targetRef: {kind: Deployment, name: api}}
`

// TestResizeFix: without a CPU limit there is none that the runtime could follow.
func TestResizeFix(t *testing.T) {
	for limit, want := range map[string]string{
		"":                   "set a CPU limit, and remove the variable: from Go 1.25 on the runtime follows the CPU limit",
		", limits: {cpu: 2}": "remove the variable: from Go 1.25 on the runtime follows the CPU limit",
	} {
		all := slices.DeleteFunc(reportOf(t, fmt.Sprintf(resizedAPI, limit)).Findings, func(f check.Finding) bool { return f.Rule != "PF043" })
		if len(all) != 1 || !strings.HasPrefix(all[0].Fix, want) {
			t.Errorf("%q: %+v, want %q", limit, all, want)
		}
	}
}
