package pagetest

import (
	"math"
	"time"

	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// CanaryContents is a canary's journal: 1 beside the control, and in a second round 2.
// At 1 the program takes a fifth less CPU time a request; at 2 it is as unset, since
// that is what unset comes to.
func CanaryContents() *canary.Contents {
	const slices = 8
	started := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	c := &canary.Contents{Header: canary.Header{
		Name: "api", Started: started, Tool: journal.Tool{Version: "v0.9.0", GoVersion: "go1.26.1", Args: []string{"sweep", "--kube", "deployment/api", "--canary"}},
		Object: "deployment/api", Namespace: "shop", Container: "app", Node: journal.Host{Hostname: "node1", CPUs: 8}, QuotaCPUs: new(2.0),
		Services: []canary.Service{{Name: "api", Endpoints: 18}}, Counting: []canary.Counter{{Kind: "HorizontalPodAutoscaler", Name: "api", Effect: canary.EffectMean}},
		Rounds: [][]journal.Setting{{canary.SettingOf(nil), canary.SettingOf(new(1))}, {canary.SettingOf(nil), canary.SettingOf(new(2))}},
		Pods:   1, Share: 0.1, HarmRatio: 0.2, SliceSeconds: 60, DurationSeconds: 60 * slices, WarmupSeconds: 30,
		Prometheus: "http://prometheus:9090",
		Queries:    []canary.Query{{Name: canary.Requests, Text: `sum(increase(http_requests_total{pod=~"$pods"}[$slice]))`}, {Name: "p99", Text: `slow{pod=~"$pods"}`}},
	}, End: &canary.End{Code: canary.EndComplete}}
	for round, settings := range c.Header.Rounds {
		for i := range slices {
			at := len(c.Slices)
			s := canary.Slice{Round: round, Index: i, Started: started.Add(time.Duration(at) * time.Minute), Seconds: 60}
			for j, a := range settings {
				wobble := 1 + 0.02*math.Sin(float64(3*at+5*j))
				requests, each, procs := 1200*(1+0.5*math.Sin(float64(at)))+60, 0.0002*wobble, 2
				if a.Label == "1" {
					each, procs = 0.8*each, 1
				}
				s.Settings = append(s.Settings, canary.Seen{
					Setting: a, Pods: []string{"procfit-abcdefgh-1"}, ObservedProcs: []*int{&procs}, Requests: &requests, Queries: map[string]*float64{"p99": new(0.021 * wobble)},
					Counted: canary.Counted{
						PodSeconds: new(60.0), CPUSeconds: new(requests * each), RunQueueWaitSeconds: new(requests * each / 9),
						Periods: new(int64(600)), ThrottledPeriods: new(int64(2 + i)), SchedLatencyP99Seconds: new(0.0004 * wobble),
					},
				})
			}
			c.Slices = append(c.Slices, s)
		}
	}
	return c
}

// Canary is what it comes to.
func Canary() *canary.Result { return canary.Analyze(CanaryContents()) }

// HostileCanary has texts from outside that would harm a terminal or a page, and figures
// that no machine measures.
func HostileCanary() *canary.Result {
	const evil = "\x1b[31m\u202e<script>`|*\n"
	c := CanaryContents()
	h := &c.Header
	h.Name, h.Object, h.Namespace, h.Container, h.Node.Hostname, h.Prometheus = evil, evil, evil, evil, evil, evil
	h.Tool = journal.Tool{Version: evil, GoVersion: evil, Args: []string{evil}}
	h.Services[0].Name, h.Counting[0].Name = evil, evil
	h.Queries[1].Name, h.Queries[1].Text = evil, evil
	h.Rounds[0][1].Label = evil
	for i := range c.Slices {
		for j := range c.Slices[i].Settings {
			a := &c.Slices[i].Settings[j]
			if a.Label == "1" {
				a.Label = evil
			}
			a.Unknown, a.Queries = []string{evil}, map[string]*float64{evil: new(1e308)}
		}
	}
	c.End = &canary.End{Code: canary.EndHarm, Harm: &canary.Harm{Code: canary.HarmUnready, Setting: evil, Pod: evil, Detail: evil}}
	return canary.Analyze(c)
}
