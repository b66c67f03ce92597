package pagetest

import (
	"math"
	"time"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// CanaryContents is a canary's journal: 1 next to the control, and in a second round 2.
// At 1 the program takes a fifth less CPU time a request; at 2 it is as unset, since
// that is what unset comes to.
func CanaryContents() *journal.Contents {
	const slices = 8
	started := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	c := &journal.Contents{Header: journal.Header{
		Name: "api", Started: started, Tool: journal.Tool{Version: "v0.9.0", GoVersion: "go1.26.1", Args: []string{"kube", "canary", "deployment/api"}},
		Target: journal.Target{Kind: journal.KindService, Object: "deployment/api", Namespace: "shop", Container: "app"}, TargetHost: journal.Host{Hostname: "node1", CPUs: 8, OS: "linux", Arch: "amd64", Kernel: "6.12.9"},
		Load: journal.Load{DurationSeconds: 60 * slices, WarmupSeconds: 30}, Plan: journal.Plan{MarginP99: 0.2},
		Canary: &journal.Canary{
			Services: []journal.Service{{Name: "api", Endpoints: 18}}, Counting: []journal.Counter{{Kind: "HorizontalPodAutoscaler", Name: "api", Effect: journal.EffectMean}},
			Rounds: [][]journal.Setting{{canary.SettingOf(nil), canary.SettingOf(new(1))}, {canary.SettingOf(nil), canary.SettingOf(new(2))}},
			Share:  0.1, SliceSeconds: 60, Prometheus: "http://prometheus:9090",
			Queries: []journal.Query{{Name: canary.Requests, Text: `sum(increase(http_requests_total{pod=~"$pods"}[$slice]))`}, {Name: "p99", Text: `slow{pod=~"$pods"}`}},
		},
	}, End: &journal.End{Code: journal.EndComplete}}
	for _, settings := range c.Header.Canary.Rounds {
		for j := range settings {
			settings[j].QuotaCPUs = new(2.0)
		}
		first := len(c.Trials)
		for i := range slices {
			at := first/len(settings) + i
			for j, a := range settings {
				wobble := 1 + 0.02*math.Sin(float64(3*at+5*j))
				requests, each, procs := 1200*(1+0.5*math.Sin(float64(at)))+60, 0.0002*wobble, 2
				if a.Label == "1" {
					each, procs = 0.8*each, 1
				}
				c.Trials = append(c.Trials, journal.Trial{
					Setting: a, Block: at, Started: started.Add(time.Duration(at) * time.Minute), DurationSeconds: 60, Pods: []journal.Pod{{Name: "procfit-abcdefgh-1"}}, ObservedProcs: []*int{&procs},
					Metrics: map[string]journal.Metric{canary.Requests: {Value: requests}, "p99": {Value: 0.021 * wobble}, canary.FigureSched: {Value: 0.0004 * wobble}},
					Usage: journal.Usage{
						MeasuredSeconds: 60, CPUSeconds: &journal.CPUSeconds{User: requests * each}, RunQueueWaitSeconds: new(requests * each / 9),
						Cgroup: &journal.Cgroup{Periods: 600, ThrottledPeriods: int64(2 + i)},
					},
				})
			}
		}
	}
	return c
}

// Canary is what it comes to.
func Canary() *verdict.Result { return canary.Analyze(CanaryContents()) }

// HostileCanary has texts from outside that would harm a terminal or a page, and metrics
// that no machine measures.
func HostileCanary() *verdict.Result {
	const evil = "\x1b[31m\u202e<script>`|*\n"
	c := CanaryContents()
	h := &c.Header
	h.Name, h.Target.Object, h.Target.Namespace, h.Target.Container, h.TargetHost.Hostname, h.Canary.Prometheus = evil, evil, evil, evil, evil, evil
	h.Tool = journal.Tool{Version: evil, GoVersion: evil, Args: []string{evil}}
	h.Canary.Services[0].Name, h.Canary.Counting[0].Name = evil, evil
	h.Canary.Queries[1].Name, h.Canary.Queries[1].Text = evil, evil
	h.Canary.Rounds[0][1].Label = evil
	for i := range c.Trials {
		a := &c.Trials[i]
		if a.Setting.Label == "1" {
			a.Setting.Label = evil
		}
		a.Warnings, a.Metrics = []journal.Warning{{Code: journal.WarnQuery, Detail: evil}}, map[string]journal.Metric{evil: {Value: 1e308}}
	}
	c.End = &journal.End{Code: journal.EndHarm, Harm: &journal.Harm{Code: journal.HarmUnready, Setting: evil, Pod: evil, Detail: evil}}
	return canary.Analyze(c)
}
