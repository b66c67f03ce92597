package explain

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/test/must"
)

func requested(t *testing.T, r Request) string {
	t.Helper()
	e := New(rule.NewSubject(machine(8, 2, "", 0)), "x", "")
	e.Request = r
	_, after, _ := strings.Cut(said(t, e, false), "\nits CPU request: ")
	return after
}

func TestRequest(t *testing.T) {
	for _, tc := range map[string]struct {
		request Request
		want    []string
	}{
		"asked": {Request{Asked: 0.25}, []string{
			"0.25 CPUs, which does not decide GOMAXPROCS\n  a request is its share when CPUs are scarce, and not a limit",
			"  with GOMAXPROCS=1, as the request, it could not use the rest of its CPUs: it should be 2\n",
			"  Kubernetes converts it to cpu.shares 256 (cgroup v1), or cpu.weight 35 (v2; 10 before runc 1.3.2 and crun 1.23)\n",
		}},
		"as large as the limit": {Request{Asked: 2}, []string{"2 CPUs, which does not decide GOMAXPROCS\n"}},
		"shares": {Request{Weight: &cgroup.Weight{Version: 1, Value: 256, File: "/g/cpu.shares"}}, []string{
			"its cgroup has a weight, which does not", "/g/cpu.shares: 256 corresponds to a request of 0.25 CPUs\n",
		}},
		"weight": {Request{Weight: &cgroup.Weight{Version: 2, Value: 39, File: "/g/cpu.weight"}}, []string{
			"/g/cpu.weight: 39 corresponds to a request of 0.976 to 1 CPU, with runc before 1.3.2 and crun before 1.23\n", "  or corresponds to a request of 0.289 to 0.298 CPUs, with these and later releases\n",
		}},
		"none":   {Request{Weight: &cgroup.Weight{Version: 1, Value: 2, File: "/g/cpu.shares"}}, []string{"cpu.shares: 2 corresponds to no request, or one of up to 0.002 CPUs\n"}},
		"most":   {Request{Weight: &cgroup.Weight{Version: 1, Value: 262144, File: "/g/cpu.shares"}}, []string{"a request of 256 CPUs\n"}},
		"idle":   {Request{Weight: &cgroup.Weight{Version: 2, File: "/g/cpu.weight"}}, []string{"cpu.weight: 0 is the weight of an idle cgroup: "}},
		"closed": {Request{Unknown: "/g/cpu.weight: permission denied"}, []string{"not known, which does not", "the weight of its cgroup is not known: /g/cpu.weight: permission denied\n"}},
	} {
		must.Say(t, requested(t, tc.request), tc.want...)
	}
	if got := requested(t, Request{Asked: 2}); strings.Contains(got, "could not use the rest") {
		t.Errorf("a request of all that it has gives nothing up:\n%s", got)
	}
	// It should use the value of a measurement, as the first line says.
	o := machine(8, 4, "", 2)
	o.Expected = &rule.Expected{Procs: 2, LimitCPUs: new(4.0), CPUs: 8, Measured: "2026-01-31"}
	e := New(rule.NewSubject(o), "x", "")
	e.Request = Request{Asked: 0.5}
	must.Say(t, said(t, e, false), "could not use the rest of its CPUs: it should be 2\n")
	// What every group has is nobody's request; next to one that was asked it is reported.
	usual := &cgroup.Weight{Version: 2, Value: 100, File: "/g/cpu.weight"}
	if got := requested(t, Request{Weight: usual}); got != "" {
		t.Errorf("%s", got)
	}
	must.Say(t, requested(t, Request{Asked: 1, Weight: usual}), "100 is the default of the kernel, and corresponds to")
}

func TestRequestDocument(t *testing.T) {
	var b strings.Builder
	e := New(rule.NewSubject(machine(8, 2, "", 0)), "x", "")
	e.Request = Request{Asked: 0.25, Weight: &cgroup.Weight{Version: 2, Value: 10, File: "/g/cpu.weight"}}
	must.OK(t, e.WriteJSON(&b))
	var d Document
	must.OK(t, json.Unmarshal([]byte(b.String()), &d))
	r := d.Request
	if r == nil || *r.Asked != 0.25 || *r.Weight != 10 || r.Version != 2 || len(r.StandsFor) != 2 || r.StandsFor[0].Low > 0.25 || r.StandsFor[0].High < 0.25 {
		t.Errorf("%+v in %s", r, b.String())
	}
	b.Reset()
	if err := New(rule.NewSubject(machine(8, 2, "", 0)), "x", "").WriteJSON(&b); err != nil || strings.Contains(b.String(), `"request"`) {
		t.Errorf("%v: %s", err, b.String())
	}
}
