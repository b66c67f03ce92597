package check

import (
	"testing"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

// TestImpact adds up containers of two namespaces, and one of a patch.
func TestImpact(t *testing.T) {
	number := func(n int) *int { return &n }
	of := func(path, object string, now *int, i Injection) Value {
		i.Copies = max(1, i.Copies)
		return Value{Place: rule.Place{Path: path, Object: object}, Procs: now, Go: i.Reads != ReadsUnknown, Injection: &i}
	}
	r := &Report{Values: []Value{
		of("a.yaml", "Deployment/api", number(64), Injection{Namespace: "shop", Procs: 2, Reads: ReadsFollows, Copies: 3}),
		of("a.yaml", "Deployment/api", number(1), Injection{Namespace: "shop", Procs: 2, Reads: ReadsUnknown}),
		of("a.yaml", "Deployment/api", number(2), Injection{Namespace: "shop", Procs: 2, Reads: ReadsOnce}),
		of("a.yaml", "Deployment/old", number(64), Injection{Namespace: "shop", Kept: KeptLimit, Reads: ReadsNever}),
		of("b.yaml", "Deployment/api", nil, Injection{Procs: 2, Reads: ReadsUnknown}), // the same name in another file
		of("b.yaml", "Deployment/web", nil, Injection{Kept: KeptLimit, Reads: ReadsUnknown}),
		of("b.yaml", "Deployment/set", number(4), Injection{Kept: KeptEnvironment, Reads: ReadsNever}),
		of("b.yaml", "Deployment/nginx", nil, Injection{Procs: 2, Kept: KeptForeign, Reads: ReadsUnknown}),
		of("b.yaml", "Deployment/patch", nil, Injection{Procs: 2, Patch: true}),
		{Place: rule.Place{Path: "compose.yaml"}},
	}}
	m := r.Impact(facts.CRIO{Floor: 2})
	if len(m.Values) != 8 || m.Patches != 1 || len(m.Namespaces) != 2 || m.Namespaces[0].Namespace != "" || m.Namespaces[1].Namespace != "shop" {
		t.Fatalf("%d values, %d patches, %+v", len(m.Values), m.Patches, m.Namespaces)
	}
	for _, tc := range []struct {
		what        string
		of          Totals
		workloads   Affected
		containers  Affected
		knownGo     int
		effects     [5]int // in the order of Effects
		unread, led Hole
	}{
		{"all", m.Total, Affected{6, 2}, Affected{10, 5}, 3, [5]int{3, 1, 1, 1, 4}, Hole{1, 1}, Hole{3, 2}},
		{"none named", m.Namespaces[0], Affected{4, 1}, Affected{4, 1}, 0, [5]int{0, 0, 1, 0, 3}, Hole{0, 1}, Hole{0, 1}},
		{"shop", m.Namespaces[1], Affected{2, 1}, Affected{6, 4}, 3, [5]int{3, 1, 0, 1, 1}, Hole{1, 0}, Hole{3, 1}},
	} {
		got := tc.of
		if got.Workloads != tc.workloads || got.Containers != tc.containers || got.KnownGo != tc.knownGo || got.Unread != tc.unread || got.Unfollowed != tc.led {
			t.Errorf("%s: %+v", tc.what, got)
		}
		for i, e := range Effects() {
			if got.Effects[e] != tc.effects[i] {
				t.Errorf("%s: %s: %d, want %d", tc.what, e, got.Effects[e], tc.effects[i])
			}
		}
	}
	if k := m.Total.Kept; k[KeptLimit] != 2 || k[KeptEnvironment] != 1 || k[KeptForeign] != 1 || len(k) != 3 {
		t.Errorf("kept: %v", k)
	}
	if s := m.Total.Containers.Share(); s != 0.5 {
		t.Errorf("%g affected", s)
	}
	if s := (&Report{}).Impact(facts.CRIO{Floor: 1}).Total.Containers.Share(); s != 0 {
		t.Errorf("%g of nothing affected", s)
	}
}
