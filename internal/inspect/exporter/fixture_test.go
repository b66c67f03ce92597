package exporter

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

func known(cpus float64) facts.Fact { return facts.Fact{State: facts.Known, CPUs: cpus} }

// latency is a histogram as the runtime would hold it; its type has no other way
// to be filled than from a process's memory.
func latency(counts map[int]uint64) *observe.Latency {
	l := new(observe.Latency)
	words := unsafe.Slice((*uint64)(unsafe.Pointer(l)), unsafe.Sizeof(*l)/8)
	for i, n := range counts {
		words[i] = n
	}
	return l
}

// fixture is a scan of a throttled service, an idle program of which little is
// known, and one that is named to do harm.
func fixture() observe.Snapshot {
	procs := 32
	api := rule.NewSubject(rule.Observed{
		Place: rule.Place{PID: 100}, Name: "api", Live: &procs, LiveSource: "symbol", NumCPU: 32,
		Expected: &rule.Expected{Procs: 2, LimitCPUs: new(2.0), CPUs: 32, GoVersion: "go1.23.1", Measured: "2026-01-31"},
		Facts: facts.Facts{
			GoVersion: "go1.24.6", Affinity: known(32), Online: known(32),
			Env:    facts.Fact{State: facts.Absent},
			Cgroup: facts.Cgroup{Fact: known(0), Version: 2, Path: "/kubepods/pod1/c1", MountRoot: "/"},
			Limits: []facts.Limit{{Fact: known(2), Burst: known(0.5), Dir: "/sys/fs/cgroup/kubepods/pod1/c1"}, {Fact: known(4), Dir: "/sys/fs/cgroup/kubepods/pod1"}},
		},
	})
	group := func(dir string, periods, ran int64, d time.Duration) rule.Throttling {
		return rule.Throttling{Dir: dir, Throttling: facts.Throttling{Periods: periods, ThrottledPeriods: ran, Throttled: d}}
	}
	groups := []rule.Throttling{
		group("/sys/fs/cgroup/kubepods/pod1/c1", 1000, 400, 90*time.Second),
		group("/sys/fs/cgroup/kubepods/pod1", 1000, 0, 0),
	}
	groups[0].Bursts, groups[0].Burst = 120, 6*time.Second
	api.Throttling = &groups[0]
	service := observe.Process{Subject: api, Findings: rule.Judge(api), Started: 4000, Threads: 40, Total: observe.Counts{
		Span: time.Hour, CPU: 1234560 * time.Millisecond,
		Counted: true, RunQueueWait: 34500 * time.Millisecond, Voluntary: 900000, Involuntary: 300000,
		MajorFaults: 81000, Held: &procstat.FaultUse{Duration: 10 * time.Second, Held: 21 * time.Second},
		Throttling: &groups[0], Groups: groups,
		Latency: latency(map[int]uint64{0: 10, 20: 70, 60: 15, 100: 4, 159: 1}),
	}}
	idle := observe.Process{Started: 1, Threads: 5, Total: observe.Counts{CPU: 10 * time.Millisecond}}
	idle.PID, idle.Name, idle.LiveUnknown = 7, "idle", "permission denied"
	idle.Facts.Env.State = facts.Unreadable
	hostile := observe.Process{Started: 2, Threads: 1, Total: observe.Counts{CPU: 20 * time.Millisecond, Counted: true, Voluntary: 3}}
	hostile.PID, hostile.Name = 8, "a\"b\\c\n\xff\x1b[31m} 1\nprocfit_process_gomaxprocs{pid=\"1\"} 99"+strings.Repeat("é", 100)
	hostile.Facts.GoVersion = "go1.99-" + strings.Repeat("x", 1000)
	hostile.Facts.Affinity = known(32)
	hostile.Subject = rule.NewSubject(hostile.Observed)
	return observe.Snapshot{
		At: time.Unix(1e9, 0), Processes: []observe.Process{idle, hostile, service}, Others: 80,
		Unreadable: []observe.Unreadable{
			{PID: 1, Cause: observe.Denied},
			{PID: 2, Cause: observe.DeniedRoot},
			{PID: 3, Cause: observe.Damaged},
			{PID: 4, Cause: observe.Other},
		},
		Counters: procstat.Tasks, CountersWhy: errors.New("taskstats: operation not permitted"),
	}
}

// still is a clock that stands.
func still() time.Time { return time.Unix(1e9, 0) }

func exporterOf(snap observe.Snapshot) *Exporter {
	return New(Options{Version: "v0.1.0", now: still, Scan: func(context.Context) (observe.Snapshot, error) { return snap, nil }})
}

// scrape is a GET; header is pairs.
func scrape(t testing.TB, h http.Handler, path string, header ...string) (code int, body string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// ours is the text without what the client says of this process.
func ours(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		name := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		if strings.HasPrefix(name, "procfit_") {
			out.WriteString(line)
		}
	}
	return out.String()
}
