package page_test

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

// profiledLike is a journal's line of a setting; scale is what it takes of each function.
func profiledLike(a journal.Setting, scale func(name string) float64) journal.Profiled {
	of := func(kind string, names ...string) *journal.Profile {
		p := &journal.Profile{File: "profiles/" + a.Label + "-" + kind + ".pprof", Seconds: 10}
		for i, name := range names {
			value := 4 * scale(name) / float64(i+1)
			p.Functions = append(p.Functions, journal.ProfiledFunction{Name: name, Value: value})
			p.Total += value
		}
		return p
	}
	cpu := of("cpu", "github.com/a/b/c.(*Server[go.shape.struct { github.com/x/y.Z }]).Handle", "runtime.scanobject", "encoding/json.(*encodeState).string", "runtime.findRunnable", "syscall.Syscall6", "strconv.formatBits")
	return journal.Profiled{Kind: journal.KindProfiled, Setting: a, CPU: cpu, Allocations: of("allocations", "encoding/json.Marshal", "bytes.growSlice"), ObservedProcs: new(2)}
}

// withProfiles is a sweep whose verdict's value takes less of some functions.
func withProfiles() *verdict.Result {
	r := pagetest.Typical()
	pair := r.ToProfile()
	list := []journal.Profiled{profiledLike(pair[0], func(string) float64 { return 1 })}
	for _, a := range pair[1:] {
		list = append(list, profiledLike(a, func(name string) float64 {
			return map[bool]float64{true: 0.4, false: 1.02}[name == "runtime.findRunnable" || name == "runtime.scanobject"]
		}))
	}
	r.Profile(list)
	return r
}

func TestProfiles(t *testing.T) {
	r := pagetest.Typical()
	r.Profile([]journal.Profiled{profiledLike(r.ToProfile()[0], func(string) float64 { return 1 })})
	has(t, unwrapped(onTerminal(t, r, text.Options{Width: 100})), "To see all: go tool pprof profiles/default-cpu.pprof and go tool pprof profiles/default-allocations.pprof.")
	r = pagetest.Typical()
	pair := r.ToProfile()
	a, b := profiledLike(pair[0], func(string) float64 { return 1 }), profiledLike(pair[1], func(string) float64 { return 1 })
	a.CPU, b.Allocations = nil, nil
	r.Profile([]journal.Profiled{a, b})
	has(t, unwrapped(onTerminal(t, r, text.Options{Width: 100})), "go tool pprof "+b.CPU.File+" and go tool pprof "+a.Allocations.File+".")
}

// A warning reports a missing profile, with what serves one.
func TestNoProfile(t *testing.T) {
	r := pagetest.Typical()
	r.Profile([]journal.Profiled{{Setting: r.ToProfile()[0], Missing: "http://127.0.0.1:1/debug/pprof/heap: it answered 404 Not Found"}})
	has(t, unwrapped(onTerminal(t, r, text.Options{Width: 100})),
		"GOMAXPROCS default was not profiled, or not completely: http://127.0.0.1:1/debug/pprof/heap: it answered 404 Not Found", `import _ "net/http/pprof"`, "--profile=http://127.0.0.1:6060/debug/pprof/")
	r.Profile([]journal.Profiled{{Setting: r.ToProfile()[0], CPU: &journal.Profile{File: "profiles/default-cpu.pprof"}}}) // without a sample
	if report := inMarkdown(r); strings.Contains(report, "see Profiles") || strings.Contains(report, "# Profiles") {
		t.Errorf("a section without a profile, or a checklist that names one:\n%s", report)
	}
}
