package page

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

// profiledLike is a journal's line of a setting; scale is what a request of it takes of each
// function.
func profiledLike(a journal.Setting, requests float64, scale func(name string) float64) journal.Profiled {
	of := func(names []string, unit float64, parts bool) *journal.Profile {
		p := &journal.Profile{File: "profiles/" + a.Label + "-cpu.pprof", Seconds: 10}
		if requests > 0 {
			p.Requests = &requests
		}
		for i, name := range names {
			part := journal.Part{Value: unit * scale(name) / float64(i+1), Samples: 400 * scale(name) / float64(i+1)}
			p.Functions = append(p.Functions, journal.ProfiledFunction{Name: name, Part: part})
			p.Total, p.Samples = p.Total+part.Value, p.Samples+part.Samples
		}
		if parts {
			p.Collector, p.Scheduler = &journal.Part{Value: 0.2 * p.Total, Samples: 0.2 * p.Samples}, &journal.Part{Value: 0.1 * p.Total * scale("runtime.findRunnable"), Samples: 0.1 * p.Samples}
		}
		return p
	}
	cpu := of([]string{"github.com/a/b/c.(*Server[go.shape.struct { github.com/x/y.Z }]).Handle", "runtime.scanobject", "encoding/json.(*encodeState).string", "runtime.findRunnable", "syscall.Syscall6", "strconv.formatBits"}, 4, true)
	memory := of([]string{"encoding/json.Marshal", "bytes.growSlice"}, 1<<30, false)
	memory.File = "profiles/" + a.Label + "-allocations.pprof"
	return journal.Profiled{Kind: journal.KindProfiled, Setting: a, CPU: cpu, Allocations: memory, ObservedProcs: new(2)}
}

// withProfiles is a sweep whose verdict's value takes less of some functions.
func withProfiles(requests float64) *verdict.Result {
	r := pagetest.Typical()
	pair := r.ToProfile()[0]
	list := []journal.Profiled{profiledLike(pair[0], requests, func(string) float64 { return 1 })}
	for _, a := range pair[1:] {
		list = append(list, profiledLike(a, requests, func(name string) float64 {
			return map[bool]float64{true: 0.4, false: 1.02}[name == "runtime.findRunnable" || name == "runtime.scanobject"]
		}))
	}
	r.Profile(list)
	return r
}

func TestProfiles(t *testing.T) {
	pagetest.Golden(t, "profiles.txt", []byte(onTerminal(t, withProfiles(50_000), text.Options{Width: 100})))
	shares := onTerminal(t, withProfiles(0), text.Options{Width: 100})
	if !strings.Contains(shares, "CPU time by function") || strings.Contains(shares, "per request, by function") || strings.Contains(shares, "A request takes") {
		t.Errorf("without a number of requests:\n%s", shares)
	}
	r := pagetest.Typical()
	r.Profile([]journal.Profiled{profiledLike(r.ToProfile()[0][0], 9, func(string) float64 { return 1 })})
	if one := strings.Join(strings.Fields(onTerminal(t, r, text.Options{Width: 100})), " "); !strings.Contains(one, "Only the default was profiled.") || !strings.Contains(one, "The default ran once more under its full load, for a profile of 10 s (") {
		t.Errorf("of one:\n%s", one)
	}
	benchmarks := withProfiles(0)
	benchmarks.Target.Kind, benchmarks.Profiles[0].CPU.Seconds = journal.KindGoBench, []float64{3, 2}
	if note := (profiled{&benchmarks.Profiles[0], benchmarks}).note(); !strings.HasPrefix(note, "Each setting ran once more, for profiles of 3 s and 2 s (") {
		t.Errorf("of benchmarks: %s", note)
	}
	for _, width := range []int{36, 48, 80} {
		for line := range strings.Lines(onTerminal(t, withProfiles(50_000), text.Options{Width: width})) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
				t.Errorf("width %d: %d columns in %q", width, n, line)
			}
		}
	}
}

// What the sentences say of a request is what the table has.
func TestProfileSentencesAreTrue(t *testing.T) {
	said := map[string]int{}
	for seed := range 200 {
		random := rand.New(rand.NewPCG(uint64(seed), 3))
		r := pagetest.Typical()
		var list []journal.Profiled
		for _, a := range r.ToProfile()[0] {
			list = append(list, profiledLike(a, 1000+50_000*random.Float64(), func(string) float64 { return 0.2 + random.Float64() }))
		}
		r.Profile(list)
		p := profiled{&r.Profiles[0], r}
		table := p.table(p.CPU, "CPU time by function", number.Time())
		all := table.Rows[len(table.Rows)-1].Cells
		sentence := p.sentences()[0]
		for _, i := range []int{1, 2} {
			if value := all[i].Value; !strings.Contains(sentence, value) {
				t.Errorf("no %s in %q", value, sentence)
			}
		}
		changed := all[3].Value
		switch {
		case strings.Contains(sentence, "about as much"):
			said["same"]++
			if changed != noChange && changed != "0.0%" {
				t.Errorf("%s, but %q", changed, sentence)
			}
		case strings.Contains(sentence, " less CPU time") && strings.HasPrefix(changed, "−"), strings.Contains(sentence, " more CPU time") && (strings.HasPrefix(changed, "+") || strings.HasSuffix(changed, "×")):
			said["differs"]++
		default:
			t.Errorf("%s, but %q", changed, sentence)
		}
	}
	if said["same"] == 0 || said["differs"] == 0 {
		t.Errorf("not all was said: %v", said)
	}
}

func TestFunctionNames(t *testing.T) {
	for name, want := range map[string]string{
		"runtime.mallocgc":                                       "runtime.mallocgc",
		"github.com/a/b/c.(*S).Handle":                           "c.(*S).Handle",
		"github.com/a/b.F[go.shape.struct { github.com/x/y.Z }]": "b.F[go.shape.struct { github.com/x/y.Z }]",
		"main.\x1b]0;owned\x07":                                  `main.\x1b]0;owned\x07`,
		"a/" + strings.Repeat("x", 99):                           strings.Repeat("x", functionRoom-1) + "…",
		"(lib.so)":                                               "(lib.so)", "": "",
	} {
		if got := functionName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// What a profile's change is called.
func TestProfileChanges(t *testing.T) {
	two := []verdict.ProfileValue{{Share: new(0.1)}, {Share: new(0.2)}}
	for want, row := range map[string]verdict.ProfileRow{
		"+10.0%": {Values: two, Change: new(0.1), Clear: true}, noChange: {Values: two, Change: new(0.1)}, "gone": {Values: two, Change: new(-1.0), Clear: true},
		"new": {Values: two, Clear: true}, "3.0×": {Values: two, Change: new(2.0), Clear: true}, absent: {Values: []verdict.ProfileValue{{Share: new(0.1)}, {}}, Change: new(0.1), Clear: true},
	} {
		if got := profileChange(row); got != want {
			t.Errorf("%+v: %q, want %q", row, got, want)
		}
	}
}

// A warning reports a missing profile, with what serves one.
func TestNoProfile(t *testing.T) {
	r := pagetest.Typical()
	r.Profile([]journal.Profiled{{Setting: r.ToProfile()[0][0], Missing: "http://127.0.0.1:1/debug/pprof/heap: it answered 404 Not Found"}})
	got := strings.Join(strings.Fields(onTerminal(t, r, text.Options{Width: 100})), " ")
	for _, want := range []string{"GOMAXPROCS unset was not profiled, or not completely: http://127.0.0.1:1/debug/pprof/heap: it answered 404 Not Found", `import _ "net/http/pprof"`, "--profile=http://127.0.0.1:6060/debug/pprof/"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, b := range New(r).Report().Blocks {
		if h, ok := b.(document.Heading); ok && regexp.MustCompile("^Profiles").MatchString(h.Text) {
			t.Errorf("a section without a profile: %s", fmt.Sprint(h))
		}
	}
}
