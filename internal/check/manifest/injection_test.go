package manifest

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/maxprocs/facts"
)

// TestInjection holds what CRI-O makes of one container, by both formulas: "5 lower" is
// the value and its effect, "limit" is why there is none.
func TestInjection(t *testing.T) {
	const refer = "env: [{name: GOMAXPROCS, valueFrom: {resourceFieldRef: {resource: requests.cpu}}}]"
	for name, tc := range map[string]struct {
		container, annotations, release string
		cpus, floor                     int
		newest, first, reads, around    string
	}{
		"a request":                         {container: "resources: {requests: {cpu: 2500m}}", cpus: 64, newest: "5 lower", first: "3 lower"},
		"a node that is not known":          {container: "resources: {requests: {cpu: 2500m}}", newest: "5 unknown", first: "3 unknown"},
		"no request":                        {cpus: 64, newest: "1 lower", first: "1 lower"},
		"the floor":                         {cpus: 64, floor: 8, newest: "8 lower", first: "8 lower"},
		"the floor is above a node":         {cpus: 4, floor: 8, newest: "8 higher", first: "8 higher"},
		"a small node":                      {container: "resources: {requests: {cpu: 2}}", cpus: 4, newest: "4 same", first: "2 lower"},
		"thousandths are rounded up":        {container: "resources: {requests: {cpu: 2000000001n}}", cpus: 64, newest: "5 lower", first: "3 lower"},
		"a limit":                           {container: "resources: {limits: {cpu: 2}}", cpus: 64, newest: "limit", first: "limit"},
		"a limit of zero is none":           {container: "resources: {limits: {cpu: 0}, requests: {cpu: 1}}", cpus: 64, newest: "2 lower", first: "1 lower"},
		"a limit of the pod":                {around: "resources: {limits: {cpu: 2}}", cpus: 64, newest: "limit", first: "limit"},
		"a request of the pod alone":        {around: "resources: {requests: {cpu: 2}}", cpus: 64, newest: "1 lower", first: "1 lower"},
		"the variable":                      {container: `env: [{name: GOMAXPROCS, value: "2"}]`, cpus: 64, newest: "environment", first: "environment"},
		"the variable, not valid":           {container: `env: [{name: GOMAXPROCS, value: "many"}]`, cpus: 64, newest: "environment", first: "environment"},
		"the variable by request":           {container: refer + ", resources: {requests: {cpu: 3}}", cpus: 64, newest: "environment", first: "environment"},
		"the variable in a Secret":          {container: "env: [{name: GOMAXPROCS, valueFrom: {secretKeyRef: {name: s, key: k}}}]", cpus: 64, newest: "environment", first: "environment"},
		"the annotation":                    {annotations: `skip-gomaxprocs.crio.io: "true"`, cpus: 64, newest: "annotation", first: "annotation"},
		"the annotation, not true":          {annotations: `skip-gomaxprocs.crio.io: "yes"`, cpus: 64, newest: "1 lower", first: "1 lower"},
		"a workload partition":              {annotations: `target.workload.openshift.io/management: "{}"`, cpus: 64, newest: "1 lower", first: "partition"},
		"an old Go":                         {release: "1.24", container: "resources: {limits: {cpu: 2}}", cpus: 64, newest: "limit", first: "limit", reads: "never"},
		"a new Go":                          {release: "1.25", container: "resources: {requests: {cpu: 1}}", cpus: 64, newest: "2 lower", first: "1 lower", reads: "follows"},
		"a new Go whose GODEBUG forbids it": {release: "1.25", container: "resources: {limits: {cpu: 2}}, env: [{name: GODEBUG, value: containermaxprocs=0}]", cpus: 64, newest: "limit", first: "limit", reads: "never"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, first := range []bool{false, true} {
				text := fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop, annotations: {%s}}\nspec: {containers: [{name: c, image: i, %s}], %s}\n", tc.annotations, tc.container, tc.around)
				o := Options{NodeCPUs: tc.cpus, Programs: &check.Programs{}, CRIO: &facts.CRIO{Floor: max(1, tc.floor), First: first}}
				if tc.release != "" {
					o.Programs.Default = check.Program{GoVersion: "go" + tc.release}
				}
				v := valueOf(t, text, o)
				want, got := tc.newest, string(v.Injection.Kept)
				if first {
					want = tc.first
				}
				if got == "" {
					got = fmt.Sprint(v.Injection.Procs, " ", v.Effect())
				} else if v.Effect() != check.EffectNone || v.Injection.Procs != 0 {
					t.Errorf("%s, and it has an effect: %+v", got, v.Injection)
				}
				if got != want {
					t.Errorf("first %v: %q, want %q; now %s: %s", first, got, want, v.Text, v.Source)
				}
				if reads := string(v.Injection.Reads); reads != cmp.Or(tc.reads, "unknown") || v.Injection.Namespace != "shop" || v.Injection.Patch {
					t.Errorf("%+v", v.Injection)
				}
			}
		})
	}
}

// valueOf is the one value of a file.
func valueOf(t *testing.T, text string, o Options) check.Value {
	t.Helper()
	r, err := check.Run(context.Background(), check.Options{Paths: []string{"-"}, Stdin: strings.NewReader(text), Checkers: []check.Checker{New(o)}})
	if err != nil || len(r.Problems) > 0 || len(r.Values) != 1 {
		t.Fatalf("%v: %+v", err, r)
	}
	return r.Values[0]
}

// What is no pod has no injection, and neither is anything asked for without a floor. A
// patch is marked as one.
func TestNoInjection(t *testing.T) {
	crio := &facts.CRIO{Floor: 1}
	for text, o := range map[string]Options{
		"services: {web: {image: x, environment: {GOMAXPROCS: 2}}}":                          {CRIO: crio},
		"apiVersion: v1\nkind: Pod\nspec: {containers: [{name: c, image: i}]}":               {},
		`{"containerDefinitions": [{"name": "c", "image": "i", "cpu": 256}], "family": "f"}`: {CRIO: crio},
	} {
		if v := valueOf(t, text, o); v.Injection != nil {
			t.Errorf("%s: %+v", text, v.Injection)
		}
	}
	if v := valueOf(t, "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: c}]}", Options{CRIO: crio}); v.Injection == nil || !v.Injection.Patch {
		t.Errorf("a patch has %+v", v.Injection)
	}
}
