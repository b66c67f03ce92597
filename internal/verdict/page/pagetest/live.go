package pagetest

import (
	"math"
	"time"

	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/live"
)

// LiveContents is a live experiment's journal: 1 takes a fifth less CPU time per request than
// 2, the value at start, and 4 was left twice.
func LiveContents() *journal.Contents {
	const blocks = 30
	started := time.Date(2026, 3, 2, 9, 10, 0, 0, time.UTC)
	h := journal.Header{
		Name: "process 4711", Started: started, Tool: journal.Tool{Version: "v0.9.0", GoVersion: "go1.26.1"},
		Spec:   spec.Spec{Command: "live", Operands: []string{"/run/app/procfit.sock"}}.With(spec.Set("procs", "1,4")),
		Target: journal.Target{Kind: journal.KindLive, GoVersion: "go1.26.8"}, TargetHost: journal.Host{Hostname: "node1", CPUs: 8, EffectiveCPUs: 8, OS: "linux", Arch: "amd64", Kernel: "6.12.9"},
		Load: journal.Load{DurationSeconds: 1800}, Plan: journal.Plan{Margin: 0.05, MarginP99: 0.2, Seed: 7, Settings: live.Settings(2, []int{1, 4}, false)},
		Live: &journal.Live{SizedAtStart: []string{"github.com/redis/go-redis/v9 (connections of its pools)"},
			PID: 4711, Unit: "request", Start: 2, LimitCPUs: 2, LatencyBy: live.ByArrival, SliceSeconds: 5, BurnInSeconds: 2, BaselineSeconds: 60,
			SlowSeconds: 0.1, Budget: 500, InSystemMax: 44.6, RequestsPerSecond: 400, CPUs: 0.9,
		},
	}
	c := &journal.Contents{Header: h, End: &journal.End{Code: journal.EndDecided, Time: started.Add(30 * time.Minute)}}
	for block := -2; block < blocks; block++ {
		for order, s := range h.Plan.Settings {
			if block < 0 && order > 0 || order == 2 && block > 1 {
				continue // the baseline is of the value at start, and 4 is out
			}
			at := float64(3*block + 7*order)
			wobble, requests := 1+0.01*math.Sin(at), uint64(2000+400*math.Sin(float64(block)))
			each := 0.002 * wobble
			if order == 1 {
				each *= 0.8
			}
			t := journal.Trial{
				Kind: journal.KindTrial, Setting: s, Role: journal.RoleMeasure, Origin: journal.OriginLive, Block: block, Order: order, Started: started, DurationSeconds: 7, Valid: true, ObservedProcs: []*int{s.Procs},
				Usage: journal.Usage{MeasuredSeconds: 5},
				Live:  &journal.Slice{Before: 2, BurnInSeconds: 2, Requests: requests, CPUSeconds: each * float64(requests), P50Seconds: new(0.004 * wobble), P99Seconds: new(0.021 * wobble), InSystemMax: 40},
			}
			switch {
			case block < 0:
				t.Role, t.Block = journal.RolePilot, block+2
			case order == 2:
				t.Valid, t.InvalidCode, t.DurationSeconds, t.MeasuredSeconds = false, journal.InvalidLeft, 0.63, 0
				t.Live = &journal.Slice{Before: 2, BurnInSeconds: 2, InSystemMax: 244.3}
			}
			c.Trials = append(c.Trials, t)
		}
	}
	return c
}
