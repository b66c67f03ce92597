package page_test

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/resize"
)

// resized is a program that set GOMAXPROCS at the start, and has a pool.
func resized() *resize.Rehearsal {
	set := new(true)
	reading := func(procs, normal int) resize.Reading {
		return resize.Reading{Procs: procs, DefaultProcs: normal, FitProcs: normal, Threads: 7 + procs}
	}
	loaded := func(rate, cpus float64) *resize.Load {
		return &resize.Load{PerSecond: rate, Requests: 300, P50Seconds: new(0.0012), P99Seconds: new(0.0214), CPUs: &cpus, ThrottledRatio: new(0.034)}
	}
	return &resize.Rehearsal{
		Schema: resize.Schema, Name: "server", Load: journal.Load{Connections: 16}, Host: journal.Host{AffinityCPUs: 8},
		Program: resize.Program{GoVersion: "go1.26.8", FollowsLimits: true, RuntimeProcs: 2, Custom: set, Automaxprocs: "v1.6.0"}, RatePerSecond: 150,
		Fresh: []resize.Fresh{{LimitCPUs: 2, Reading: reading(2, 2), Most: loaded(310, 1.99)}, {LimitCPUs: 6, Reading: reading(6, 6), Most: loaded(920, 5.9)}},
		Steps: []resize.Step{
			{AtSeconds: 0.00003, Seconds: 30, LimitCPUs: 2, Reading: reading(2, 2), Paced: loaded(150, 0.98), Most: loaded(308, 1.98)},
			{AtSeconds: 30.01, Seconds: 30, LimitCPUs: 6, Reading: reading(2, 6), Paced: loaded(150, 0.97), Most: loaded(402, 2)},
			{AtSeconds: 60.02, Seconds: 30, LimitCPUs: 2, Reading: reading(2, 2), FollowedSeconds: new(6.21), Paced: loaded(150, 0.99), Most: loaded(309, 1.99)},
		},
	}
}

// resizeText is a page of a rehearsal, on one line.
func resizeText(t *testing.T, r *resize.Rehearsal) string {
	t.Helper()
	return unwrapped(rendered(t, page.Resize(r), text.Options{}))
}

func TestResizeGolden(t *testing.T) {
	r := resized()
	r.Judge()
	documenttest.Golden(t, "resize.txt", []byte(rendered(t, page.Resize(r), text.Options{})))
}

// Each laggard has a sentence, a reason and a fix, whatever is known of its step.
func TestLaggardsAreWorded(t *testing.T) {
	shown := map[string]bool{}
	for _, code := range []resize.Code{resize.Environment, resize.Fixed, resize.AtStart, resize.OldGo, resize.Pool, resize.Slow, resize.Killed, resize.Restarted} {
		r := resized()
		r.Program.EnvProcs = new(4)
		r.Laggards = []resize.Laggard{{Code: code, Step: 1}, {Code: code, Step: 2}}
		r.Steps[2].Ended = "the target was killed by SIGKILL during the trial; it said:\nx"
		note := documenttest.Find[document.Notes](page.Resize(r).Blocks)[0][0]
		if got := resizeText(t, r); !strings.Contains(got, "DID NOT FOLLOW") || shown[note.Message] || note.Message == "" || note.Fix == "" {
			t.Errorf("%s: %+v in\n%s", code, note, got)
		}
		shown[note.Message] = true
	}
}

// Where a pool could not be judged, the page reports that, and why.
func TestPoolsUnjudged(t *testing.T) {
	r := resized()
	r.Laggards, r.PoolsUnjudged = nil, []int{1}
	r.Steps[1].Most.OtherCPUs = new(3.0)
	unjudged := func(why string) {
		t.Helper()
		has(t, resizeText(t, r), "402 req/s, and a fresh start 920 req/s. Whether a pool kept its size is not known, because "+why+".")
	}
	unjudged("other programs used 3 CPUs")
	r.Unfinished = "interrupted"
	unjudged("the rehearsal ended before procfit measured that fresh start again")
	has(t, resizeText(t, r), "NOT FINISHED ", "The rehearsal ended after 3 steps: interrupted.")
	r.Steps[1].Most.OtherCPUs = nil
	unjudged("the CPU time of other programs is not known")
	r.Steps[1].Most.CPUs = nil
	unjudged("its CPU time is not known")
}

// Where nothing had to follow, that is the answer.
func TestNothingToFollow(t *testing.T) {
	r := resized()
	r.Program = resize.Program{GoVersion: "go1.19.8", RuntimeProcs: 2}
	for i := range r.Fresh {
		r.Fresh[i].Procs, r.Fresh[i].DefaultProcs, r.Fresh[i].Most.PerSecond = 2, 2, 300
	}
	for i := range r.Steps {
		r.Steps[i].Procs, r.Steps[i].DefaultProcs, r.Steps[i].FollowedSeconds = 2, 2, nil
	}
	r.Judge()
	has(t, resizeText(t, r), "NOTHING TO FOLLOW On this machine GOMAXPROCS is 2 under each of these limits")
}
