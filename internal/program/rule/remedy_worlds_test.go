package rule

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
)

// ways are what a remedy can ask for, by its words, and what that makes of the
// program. The one that a remedy names first is the one to try.
var ways = []struct {
	words *regexp.Regexp
	do    func(o *Observed, value string)
}{
	{regexp.MustCompile(`remove it and the import of go.uber.org/automaxprocs`), func(o *Observed, _ string) { o.Facts.Env, o.Automaxprocs = facts.Fact{State: facts.Absent}, "" }},
	{regexp.MustCompile(`(?:set|write) GOMAXPROCS=(\d+)`), func(o *Observed, value string) { o.Facts.Env = known(value) }},
	{regexp.MustCompile(`remove GOMAXPROCS=\S+ from its environment|^remove it\b|enough, remove GOMAXPROCS`), func(o *Observed, _ string) { o.Facts.Env = facts.Fact{State: facts.Absent} }},
	{regexp.MustCompile(`GOMAXPROCS call to use (\d+)`), func(o *Observed, value string) { o.Facts.Env = known(value) }},
	{regexp.MustCompile(`^remove the import of go.uber.org/automaxprocs`), func(o *Observed, _ string) { o.Automaxprocs = "" }},
	{regexp.MustCompile(`import github.com/procfit/procfit/maxprocs/auto instead, which chooses (\d+)`), func(o *Observed, value string) { o.Automaxprocs, o.Facts.Env = "", known(value) }},
	{regexp.MustCompile(`set GODEBUG=(\S+) in its environment`), func(o *Observed, value string) { o.Facts.GODEBUG = known(value) }},
	{regexp.MustCompile(`restart it`), func(*Observed, string) {}},
	{regexp.MustCompile(`build it with Go (1\.\d+) or newer and go 1\.\d+ in go.mod`), newer},
	{regexp.MustCompile(`build it with Go (1\.\d+) or newer`), func(o *Observed, value string) { o.Facts.GoVersion = "go" + value }},
	{regexp.MustCompile(`go mod edit -go=1\.\d+ in its main module, and build it with Go (1\.\d+) or newer`), func(o *Observed, value string) {
		o.Facts.GoVersion, o.Facts.DefaultGODEBUG, o.Language = "go"+value, "", "1.25"
	}},
	{regexp.MustCompile(`remove containermaxprocs from GODEBUG, and build it with Go (1\.\d+) or newer`), func(o *Observed, value string) {
		o.Facts.GoVersion, o.Facts.GODEBUG = "go"+value, facts.Fact{State: facts.Absent}
	}},
	{regexp.MustCompile(`go mod edit -go=(1\.\d+)`), func(o *Observed, value string) { o.Facts.DefaultGODEBUG, o.Language = "", value }},
	{regexp.MustCompile(`write ` + godebugOn + ` in GODEBUG, and build it with Go (1\.\d+) or newer`), func(o *Observed, value string) {
		o.Facts.GoVersion, o.Facts.GODEBUG = "go"+value, known(godebugOn)
	}},
	{regexp.MustCompile(`write ` + godebugOn + ` in GODEBUG`), func(o *Observed, _ string) { o.Facts.GODEBUG = known(godebugOn) }},
	{regexp.MustCompile(`remove containermaxprocs from GODEBUG`), func(o *Observed, _ string) { o.Facts.GODEBUG = facts.Fact{State: facts.Absent} }},
}

func newer(o *Observed, value string) {
	o.Facts.GoVersion, o.Facts.DefaultGODEBUG, o.Language = "go"+value, "", ""
	if _, set := settings(o.Facts); set {
		o.Facts.GODEBUG = facts.Fact{State: facts.Absent}
	}
}

func settings(f facts.Facts) (string, bool) {
	return f.GODEBUG.Raw, strings.Contains(f.GODEBUG.Raw, "containermaxprocs")
}

// follow does what the remedy names first, and starts the program again.
func follow(o Observed, fix string) (after Observed, ok bool) {
	at := len(fix)
	for _, w := range ways {
		m := w.words.FindStringSubmatchIndex(fix)
		if m == nil || m[0] >= at { // of two at one place the longer is listed first
			continue
		}
		at, ok, after = m[0], true, o
		after.Live, after.LiveSource, after.Custom, after.NumCPU, after.Throttling = nil, "", nil, 0, nil
		if o.Custom != nil && !*o.Custom && o.Facts.Env.State == facts.Unreadable {
			after.Facts.Env.State = facts.Absent // or its value would be a custom one
		}
		value := ""
		if len(m) > 2 && m[2] >= 0 {
			value = fix[m[2]:m[3]]
		}
		w.do(&after, value)
	}
	return after, ok
}

// TestRemediesWork does in every world, with every release, what each finding says
// is to be done, and decides again: then the program runs with what fits, or with
// the number that the remedy itself names beside the way to what fits.
func TestRemediesWork(t *testing.T) {
	dirs, err := filepath.Glob("../../../maxprocs/facts/testdata/worlds/*/world.txt")
	if err != nil || len(dirs) < 60 {
		t.Fatalf("%d worlds, %v", len(dirs), err)
	}
	machines := map[string]Observed{
		"an ancestor": machine(64, 20, 1.5), "only an ancestor": machine(64, 0, 4), "half a CPU": machine(8, 0.5), "an ancestor of one CPU": machine(64, 20, 1),
		"2.5 CPUs": machine(8, 2.5), "no limit": machine(8), "a container's mount": machine(8, 2).mountRoot("/docker/x"),
		"a container's mount, an ancestor": machine(64, 20, 2).mountRoot("/docker/x"), "to die of": machine(8, 2, 3).ratio("150000 0"),
	}
	for _, file := range dirs {
		f := must.Get(facts.ReadFS(os.DirFS(filepath.Dir(file)), 0))(t)
		machines[filepath.Base(filepath.Dir(file))] = Observed{Facts: f}
	}
	tried := map[string]int{}
	for name, o := range machines {
		for _, version := range []string{"go1.21.13", "go1.24.6", "go1.25.3", "go1.26.1"} {
			for _, change := range []func(Observed) Observed{
				func(o Observed) Observed { return o },
				func(o Observed) Observed { return o.baked(off) },
				func(o Observed) Observed { return o.lang("1.24") },
				func(o Observed) Observed { return o.godebug("containermaxprocs=0") },
				func(o Observed) Observed { return o.withEnv("64") },
				func(o Observed) Observed { return o.withEnv("1") },
				func(o Observed) Observed { return o.neverSets().process() },
				func(o Observed) Observed { return o.neverSets().withEnv("64").process() },
				func(o Observed) Observed { return o.withEnv("64").process() },
				func(o Observed) Observed { return o.withEnv("2.5") },
				func(o Observed) Observed { return o.automaxprocs("v1.6.0") },
				func(o Observed) Observed { return o.automaxprocs("v1.6.0").withEnv("2") },
				func(o Observed) Observed { return o.foreign() },
				func(o Observed) Observed { return o.foreign().baked(off) },
				func(o Observed) Observed {
					if len(o.Facts.Limits) == 0 {
						return o
					}
					return o.held(0, 100, 63)
				},
			} {
				for _, live := range []int{0, 2, 64} {
					for _, custom := range []int{-1, 0, 1} {
						o := change(o.gover(version))
						if live > 0 {
							o = o.live(live)
							if custom >= 0 {
								o = o.custom(custom == 1)
							}
						}
						try(t, name+" "+version, o, tried)
					}
				}
			}
		}
	}
	for _, id := range []string{"PF001", "PF002", "PF003", "PF004", "PF005", "PF006", "PF007", "PF008", "PF010", "PF011", "PF012", "PF013", "PF014"} {
		if tried[id] == 0 {
			t.Errorf("no remedy of %s was tried", id)
		}
	}
}

func try(t *testing.T, name string, o Observed, tried map[string]int) {
	t.Helper()
	s := NewSubject(o)
	if s.Facts.EffectiveCPUs() == 0 {
		return // nothing is called right
	}
	judged := Judge(s)
	contradictions(t, name, judged)
	for _, f := range judged {
		switch f.Rule {
		case "PF009": // it names no value that is right
			continue
		case "PF012":
			tryLimit(t, name, o, f, tried)
			continue
		case "PF013":
			tryOverridden(t, name, s, f, tried)
			continue
		case "PF007":
			// Where it has nothing to do, and where the environment is hidden, it names no value.
			if f.Severity == Info || s.Facts.Env.State == facts.Unreadable {
				continue
			}
		case "PF003": // an empty value changes nothing, and so does its removal
			if f.Severity == Info {
				continue
			}
		}
		after, ok := follow(o, f.Fix)
		if !ok {
			continue
		}
		tried[f.Rule]++
		// A call overrides what is in the environment, which follow forgets with the live value.
		if f.Rule == "PF002" && s.SetBy == SetByCode && !s.automaxprocsActs() && !strings.Contains(f.Fix, "runtime.GOMAXPROCS call") {
			t.Errorf("%s: its code sets the value, and %s says %q", name, f.Rule, f.Fix)
		}
		n, known := started(after)
		fits, got := strconv.Itoa(s.Fit.Procs), strconv.Itoa(n)
		named := regexp.MustCompile(`chooses? `+got+`\b`).MatchString(f.Fix) || regexp.MustCompile(`good values for `).MatchString(f.Fix)
		if !known || n != s.Fit.Procs && !(after.Automaxprocs != "" && s.fits(n)) && (!named || !strings.Contains(f.Fix, "GOMAXPROCS="+fits) && !strings.Contains(f.Fix, "are good values for")) {
			if tried["wrong"]++; tried["wrong"] < 12 {
				t.Errorf("%s: %s fits, and what %s says leads to %s: %q\n\t%s\n\tlive %v, custom %v, env %q, baked %q, language %q, GODEBUG %q", name, fits, f.Rule, got, f.Fix, f.Message, deref(o.Live), o.Custom != nil && *o.Custom, o.Facts.Env.Raw, o.Facts.DefaultGODEBUG, o.Language, o.Facts.GODEBUG.Raw)
			}
		}
	}
}

// contradictions: of the fixes of one program none asks for a measurement of a value that another
// one says to write, and all that say to write one write the same.
func contradictions(t *testing.T, name string, all []Finding) {
	t.Helper()
	values := map[string]string{}
	for _, f := range all {
		for _, m := range regexp.MustCompile(`(?:set|write) GOMAXPROCS=(\d+)`).FindAllStringSubmatch(f.Fix, -1) {
			values[m[1]] = f.Rule + ": " + f.Fix
		}
	}
	for _, f := range all {
		if (strings.Contains(f.Fix, "procfit sweep") || strings.Contains(f.Fix, "procfit live")) && !strings.Contains(f.Fix, "set GOMAXPROCS=") && !f.measured() && len(values) > 0 || len(values) > 1 {
			t.Errorf("%s: %v, and %s: %s", name, values, f.Rule, f.Fix)
		}
	}
}

func (f Finding) measured() bool { r, _ := Find(f.Rule); return r.Measured }

// started is what a program runs with that is started so.
func started(o Observed) (n int, known bool) {
	if _, env := NewSubject(o).EnvProcs(); o.Automaxprocs == "" || env {
		return NewSubject(o).Procs()
	}
	return facts.Decide(o.Facts, facts.Automaxprocs{Language: o.Language}).Procs, true
}

// tryLimit raises the limit of which PF012 says so: then the Ps are what fits it.
func tryLimit(t *testing.T, name string, o Observed, f Finding, tried map[string]int) {
	t.Helper()
	m := regexp.MustCompile(`^raise the limit of (\S+) to (\d+) CPUs?,`).FindStringSubmatch(f.Fix)
	if m == nil {
		return
	}
	tried["PF012"]++
	raised, _ := strconv.Atoi(m[2]) // the pattern has digits only
	n, _ := NewSubject(o).Procs()
	o.Facts.Limits = slices.Clone(o.Facts.Limits)
	for i := range o.Facts.Limits {
		if l := &o.Facts.Limits[i]; l.Dir == m[1] {
			l.State, l.CPUs, l.Raw = facts.Known, float64(raised), m[2]+"00000 100000\n"
		}
	}
	s := NewSubject(o)
	if n != raised || n > s.Fit.Procs {
		t.Errorf("%s: %d Ps, and %d fit after %q", name, n, s.Fit.Procs, f.Fix)
	}
}

// tryOverridden does what PF013 says: either value has to go so that the one that counts
// then fits.
func tryOverridden(t *testing.T, name string, s Subject, f Finding, tried map[string]int) {
	t.Helper()
	tried["PF013"]++
	env, _ := s.EnvProcs()
	becomes := 0
	if s.SetBy == SetByOutside { // it is started again
		if after, ok := follow(s.Observed, f.Fix); ok {
			becomes, _ = started(after)
		}
	}
	set := regexp.MustCompile(`(?:set GOMAXPROCS=|GOMAXPROCS call to use )(\d+)`).FindStringSubmatch(f.Fix)
	switch {
	case s.SetBy == SetByOutside:
	case strings.HasPrefix(f.Fix, "remove GOMAXPROCS="):
		becomes = *s.Live // by the call, which stays
	case strings.HasPrefix(f.Fix, "change the program so that it keeps the GOMAXPROCS"):
		becomes = env
	case set != nil:
		becomes, _ = strconv.Atoi(set[1])
	}
	if !s.fits(becomes) {
		t.Errorf("%s: live %d, env %d, and %d fits; %q leads to %d", name, *s.Live, env, s.Fit.Procs, f.Fix, becomes)
	}
}

func deref(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
