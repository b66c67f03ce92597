package explain

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
)

// What a reserve was measured by is all there: of which group, for how long, by whom, and that
// it is of now.
func TestMeasuredReserve(t *testing.T) {
	limits := must.Get(ParseLimits("2"))(t)
	eight := 8
	neighbours := observe.Neighbours{
		PID: 17, Dir: "/sys/fs/cgroup/cpu/pod", Over: 5 * time.Second, All: 1.631, Own: 1.25, Counted: true, Throttled: new(0.25),
		Others: []observe.Used{{PID: 21, Name: "envoy", CPUs: 0.3}, {PID: 25, Name: "log\x1b[2J", CPUs: 0.07}},
	}
	text := func(n observe.Neighbours) string {
		t.Helper()
		s := WhatIf{CPUs: &eight, Limits: limits, LimitText: "2", Reserve: n.Reserve()}.Apply(Nowhere())
		e := New(s, "process 17 (x)", string(facts.PolicyFit))
		e.Neighbours = &n
		return said(t, e, false)
	}
	got := text(neighbours)
	must.Say(t, got,
		"fit chooses 1\n", "0.39 CPUs reserved for others: 2 − 0.39\n", "its reserve: 0.39 CPUs, which the others in the same limit used\n",
		"/sys/fs/cgroup/cpu/pod: its processes used 1.63 CPUs over 5 s (as the kernel counts); process 17 itself used 1.25 CPUs\n",
		`CPUs used by others: envoy (process 21) 0.30, log\x1b[2J (process 25) 0.07 and the rest 0.01`+"\n",
		"the limit throttled them in 25% of its periods meanwhile, so they may have wanted more\n", "may need more at their peak",
	)
	alone := neighbours
	alone.Dir, alone.CPUs, alone.All, alone.Others, alone.Throttled = "", 4, 1.254, nil, nil
	got = text(alone)
	for _, want := range []string{"fit chooses 2\n", "its reserve: 0 CPUs: the others on its 4 CPUs used less than 0.01 CPUs\n", "no limit is below its 4 CPUs, on which all programs together used 1.25 CPUs over 5 s"} {
		if !strings.Contains(got, want) || strings.Contains(got, "throttled") || strings.Contains(got, "others: ") {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	unseen := neighbours
	unseen.Others = nil
	must.Say(t, text(unseen), "its reserve: 0.39 CPUs, ", "procfit sees no process that used this: it ended meanwhile, or is in another PID namespace")
	part := neighbours
	part.Dir, part.CPUs, part.Part, part.Others = "", 2, true, []observe.Used{{PID: 21, Name: "envoy", CPUs: 3}}
	must.Say(t, text(part), "CPUs that others used, on these CPUs and on other ones: envoy (process 21) 3.00\n")
	summed := neighbours
	summed.Counted = false
	must.Say(t, text(summed), "by the sum of its processes: this kernel has no count of the cgroup, and a process that ended in between is missing")

	var b bytes.Buffer
	must.OK(t, Explanation{Neighbours: &neighbours}.WriteJSON(&b))
	var out struct {
		Reserve *reserveJSON `json:"reserve"`
	}
	if err := json.Unmarshal(b.Bytes(), &out); err != nil || out.Reserve.CPUs != 0.39 || out.Reserve.Group != neighbours.Dir || *out.Reserve.ThrottledRatio != 0.25 || len(out.Reserve.Others) != 2 || out.Reserve.Others[0] != (neighbourJSON{21, "envoy", 0.3}) {
		t.Errorf("%+v, %v", out.Reserve, err)
	}
}
