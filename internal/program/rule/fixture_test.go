package rule

import (
	"fmt"
	"strings"
	"time"

	"github.com/procfit/procfit/maxprocs/facts"
)

// fixture is what was observed and what one rule must say of it: words of its message,
// or nothing.
type fixture struct {
	rule, name string
	subject    Observed
	want       string // "" when the rule must be quiet
	fix        string // words of the fix
	severity   Severity
}

// machine is a program of go1.26 on CPUs, in groups with the limits, its own
// first; 0 is no limit.
func machine(cpus int, limits ...float64) Observed {
	f := facts.Facts{
		Affinity:  facts.Fact{State: facts.Known, CPUs: float64(cpus)},
		Cgroup:    facts.Cgroup{Fact: facts.Fact{State: facts.Known}, Version: 2, MountRoot: "/"},
		Env:       facts.Fact{State: facts.Absent},
		GoVersion: "go1.26.1",
	}
	dir := "/cg/pod/app"
	for _, l := range limits {
		fact := facts.Fact{State: facts.NoLimit, Raw: "max 100000\n"}
		if l > 0 {
			fact = facts.Fact{State: facts.Known, CPUs: l, Raw: fmt.Sprintf("%.0f 100000\n", l*100_000)}
		}
		f.Limits = append(f.Limits, facts.Limit{Fact: fact, Dir: dir})
		dir = dir[:strings.LastIndex(dir, "/")]
	}
	return Observed{Facts: f}
}

func (s Observed) live(n int) Observed            { s.Live = &n; return s }
func (s Observed) gover(v string) Observed        { s.Facts.GoVersion = v; return s }
func (s Observed) lang(v string) Observed         { s.Language = v; return s }
func (s Observed) baked(v string) Observed        { s.Facts.DefaultGODEBUG = v; return s }
func (s Observed) automaxprocs(v string) Observed { s.Automaxprocs = v; return s }
func (s Observed) mountRoot(v string) Observed    { s.Facts.Cgroup.MountRoot = v; return s }
func (s Observed) hidden() Observed               { s.ProgramUnknown = "permission denied"; return s }
func (s Observed) unread() Observed               { s.LiveUnknown = "permission denied"; return s }
func (s Observed) withEnv(v string) Observed      { s.Facts.Env = known(v); return s }
func (s Observed) godebug(v string) Observed      { s.Facts.GODEBUG = known(v); return s }
func (s Observed) state(st facts.State) Observed {
	l := &s.Facts.Limits[0]
	l.State, l.CPUs, l.Raw, l.Error = st, 0, "lots\n", "cpu.max: odd"
	return s
}
func (s Observed) unfound() Observed { s.Facts.Cgroup.State = facts.Unreadable; return s }
func (s Observed) denied() Observed {
	s = s.state(facts.Unreadable)
	s.Facts.Limits[0].Error = "open /cg/pod/app/cpu.max: permission denied"
	return s
}
func (s Observed) arch(v string) Observed { s.Facts.GOARCH = v; return s }
func (s Observed) ratio(text string) Observed {
	l := &s.Facts.Limits[0]
	l.State, l.CPUs, l.File, l.Raw, l.Error = facts.Malformed, 0, l.Dir+"/cpu.max", text+"\n", "odd"
	return s
}
func (s Observed) counted(n int) Observed { s.NumCPU = n; return s }
func (s Observed) custom(v bool) Observed { s.Custom = &v; return s }
func (s Observed) anywhere() Observed     { s.AnyMachine = true; return s }
func (s Observed) recorded() Observed     { s.Recorded = true; return s }
func (s Observed) withoutAffinity() Observed {
	s.Facts.Affinity = facts.Fact{State: facts.Absent}
	return s
}
func (s Observed) foreign() Observed       { s.Foreign = true; return s }
func (s Observed) meant() Observed         { s.Meant = true; return s }
func (s Observed) auto() Observed          { s.Follows = true; return s }
func watching(s Observed) Observed         { s.Watches = true; return s }
func (s Observed) file(w Written) Observed { s.Written = &w; return s.anywhere() }
func (s Observed) held(level int, periods, throttled int64) Observed {
	s.Throttling = &Throttling{Dir: s.Facts.Limits[level].Dir, Throttling: facts.Throttling{Periods: periods, ThrottledPeriods: throttled}}
	return s
}
func (s Observed) burst(cpus float64, used int64) Observed { // after held
	s.Facts.Limits[0].Burst = facts.Fact{State: facts.Known, CPUs: cpus}
	s.Throttling.Bursts = used
	return s
}
func (s Observed) with(cpus float64, programs ...string) Observed { // under the limit of the parent cgroup
	s.Together = &Together{Limit: facts.Limit{Fact: facts.Fact{State: facts.Known, CPUs: cpus}, Dir: s.Facts.Limits[len(s.Facts.Limits)-1].Dir}}
	for _, p := range programs {
		var one Sharer
		fmt.Sscan(p, &one.Name, &one.Procs)
		s.Together.Programs = append(s.Together.Programs, one)
	}
	return s
}
func (s Observed) faults(ps float64, queued ...float64) Observed {
	s.Faults = &Faults{Held: ps}
	if len(queued) > 0 {
		s.Faults.Queued = &queued[0]
	}
	return s
}
func (s Observed) hiddenEnv() Observed {
	s.Facts.Env = facts.Fact{State: facts.Unreadable, Error: "environ: permission denied"}
	return s
}

func (s Observed) expects(procs int, limit float64, cpus int, gover string) Observed {
	s.Expected = &Expected{Procs: procs, CPUs: cpus, GoVersion: gover, Measured: "2026-01-31", Again: []string{"sweep", "--", "./server"}}
	if limit > 0 {
		s.Expected.LimitCPUs = &limit
	}
	return s
}
func (s Observed) process() Observed   { s.PID, s.LiveSource = 42, "symbol"; return s }
func (s Observed) neverSets() Observed { s.NeverSets = true; return s }
func (s Observed) lent() Observed      { s.LentUntil = time.Now().Add(time.Minute); return s }

func known(raw string) facts.Fact { return facts.Fact{State: facts.Known, Raw: raw} }

const off = "containermaxprocs=0,updatemaxprocs=0"

func fixtures() []fixture {
	return []fixture{
		{"PF001", "an ancestor", machine(64, 20, 1.5).live(20), "uses GOMAXPROCS=20, but the limit of /cg/pod allows 1.5 CPUs", "set GOMAXPROCS=2 in its environment, or import", Warning},
		{"PF001", "a what-if", machine(64, 20, 1.5), "will use GOMAXPROCS=20, but", "set GOMAXPROCS=2", Warning},
		{"PF001", "an ancestor, and maxprocs/auto", machine(64, 20, 1.5).auto(), "", "", ""},
		{"PF001", "an old go line, and maxprocs/auto", machine(0, 2).lang("1.24").auto().file(Written{}), "", "", ""},
		{"PF005", "an old go line, and maxprocs/auto", machine(0, 2).lang("1.24").auto().file(Written{}), "", "", ""},
		{"PF006", "an old Go, and maxprocs/auto", machine(0, 2).gover("go1.24.6").auto().file(Written{}), "", "", ""},
		{"PF001", "maxprocs/auto leaves a limit of one CPU to the runtime", machine(8, 1).auto(), "will use GOMAXPROCS=2, the least that the runtime chooses by itself", "set GOMAXPROCS=1", Info},
		{"PF001", "maxprocs/auto keeps the variable", machine(0, 2).lang("1.24").auto().withEnv("8").file(Written{}), "will use GOMAXPROCS=8", "remove GOMAXPROCS=8 from its environment", Warning},
		{"PF001", "env above the limit", machine(8, 2).withEnv("8").live(8), "uses GOMAXPROCS=8", "remove GOMAXPROCS=8 from its environment: the runtime then chooses 2", Warning},
		{"PF001", "env, and an old Go", machine(8, 2).withEnv("6").gover("go1.24.1").live(6), "uses GOMAXPROCS=6", "set GOMAXPROCS=2 in its environment instead of 6", Warning},
		{"PF001", "env above the CPUs", machine(2).withEnv("8"), "will use GOMAXPROCS=8, but it may run on only 2 CPUs", "remove GOMAXPROCS=8", Warning},
		{"PF001", "code", machine(8, 2).live(5), "uses GOMAXPROCS=5", "change its runtime.GOMAXPROCS call to use 2", Warning},
		{"PF001", "env above the limit, a go line that ignores it", machine(2, 0.5).withEnv("8").baked(off).live(8), "uses GOMAXPROCS=8", "set GOMAXPROCS=1 in its environment instead of 8; without it the runtime chooses 2", Warning},
		{"PF001", "code for certain", machine(8, 2).live(5).custom(true), "uses GOMAXPROCS=5", "runtime.GOMAXPROCS call to use 2", Warning},
		{"PF001", "the runtime's floor", machine(8, 0.5).live(2), "uses GOMAXPROCS=2, the least that the runtime chooses by itself, but ", "set GOMAXPROCS=1 in its environment; to measure first whether that is better: procfit sweep --limit 0.5 --procs 1,2 -- COMMAND", Info},
		{"PF001", "the runtime's floor in a process", machine(8, 0.5).live(2).process(), "the least that the runtime chooses by itself, but ", "set GOMAXPROCS=1 in its environment; to measure first whether that is better: procfit live 42 --procs 1,2", Info},
		{"PF001", "set from outside, above the limit", machine(2, 0.5).gover("go1.19.8").withEnv("8").live(2).neverSets().process(), "uses GOMAXPROCS=2", "set GOMAXPROCS=1 in its environment instead of 8; without it the runtime chooses 2", Info},
		{"PF001", "set from outside, without the variable", machine(8, 2).live(5).custom(true).neverSets(), "uses GOMAXPROCS=5", "restart it: its runtime then chooses 2", Warning},
		{"PF001", "lent", machine(8, 2).live(5).custom(true).lent(), "uses GOMAXPROCS=5", "nothing to do: procfit lends this value until ", Warning},
		{"PF001", "its own choice, lent", machine(8, 2).live(8).custom(false).lent(), "uses GOMAXPROCS=8", "nothing to do: procfit lends this value until ", Warning},
		{"PF004", "lent", machine(8, 3).live(3).custom(true).lent(), "", "", ""},
		{"PF001", "set from outside, against the variable", machine(8, 2).withEnv("2").live(5).neverSets(), "uses GOMAXPROCS=5", "restart it: GOMAXPROCS=2 is in its environment", Warning},
		{"PF001", "two CPUs, and no floor", machine(2, 0.4).baked(off).live(2), "allows 0.4 CPUs", "procfit sweep --limit 0.4 --procs 1,2 -- COMMAND", Info},
		{"PF001", "2 by env at one CPU", machine(8, 1).withEnv("2").live(2), "allows 1 CPU", "set GOMAXPROCS=1 in its environment instead of 2; without it the runtime chooses 2", Warning},
		{"PF001", "env, and automaxprocs would choose without it", machine(8, 2).withEnv("8").automaxprocs("v1.6.0").live(8), "uses GOMAXPROCS=8", "set GOMAXPROCS=2 in its environment instead of 8", Warning},
		{"PF001", "an old Go under one CPU, whose way out leads to 2", machine(8, 1).gover("go1.24.6").live(8), "allows 1 CPU", "its minimum under a limit: for 1, set GOMAXPROCS=1", Warning},
		{"PF001", "its limit has changed, below the runtime's least", machine(8, 0.5).live(5).custom(false), "would now choose 2", "look again in a minute, since its runtime follows its CPUs by itself, and an idle one is slow; if it still uses the old value, restart it: its CPUs have changed since it started; the runtime then chooses 2", Warning},
		{"PF001", "a restart would not do", machine(64, 20, 2).live(30).custom(false), "would now choose 20", "set GOMAXPROCS=2 in its environment, or import", Warning},
		{"PF001", "an old Go, and its way out", machine(8, 2).gover("go1.24.6").live(8), "uses GOMAXPROCS=8", "build it with Go 1.25 or newer", Warning},
		{"PF001", "its limit has changed", machine(8, 2).live(5).custom(false), "uses GOMAXPROCS=5, but the limit of /cg/pod/app allows 2 CPUs; the runtime of go1.26.1 would now choose 2", "restart it", Warning},
		{"PF001", "an affinity that has shrunk, and no limit", machine(1).live(2).custom(false), "would now choose 1", "restart it", Warning},
		{"PF001", "env, and no limit to follow", machine(2).withEnv("3").live(3), "uses GOMAXPROCS=3", "the runtime then chooses 2", Warning},
		{"PF001", "right", machine(64, 2.5).live(3), "", "", ""},
		{"PF001", "rounded down", machine(64, 2.5).live(2), "", "", ""},
		{"PF001", "nothing is known", Observed{}, "", "", ""},
		{"PF001", "the program is hidden", machine(64, 2).hidden(), "", "", ""},
		{"PF001", "the environment is hidden", machine(64, 20, 2).hiddenEnv(), "", "", ""},
		{"PF001", "the environment is hidden, the value is not", machine(64, 2).hiddenEnv().live(64), "uses GOMAXPROCS=64", "runtime.GOMAXPROCS call", Warning},

		{"PF001", "above its CPUs, for page faults", machine(4).withEnv("12").live(12).faults(9, 3), "it may run on only 4 CPUs; page faults keep 9 of its Ps waiting for the disk", "unless a sweep has shown that 12 is better, remove GOMAXPROCS=12", Info},

		{"PF002", "env", machine(8).withEnv("2").live(2), "uses GOMAXPROCS=2, but could use 8 CPUs", "remove GOMAXPROCS=2", Info},
		{"PF002", "an affinity that has grown", machine(8).live(1).custom(false), "uses GOMAXPROCS=1, but could use 8 CPUs", "restart it", Info},
		{"PF002", "env, and the runtime reads no limit", machine(64, 4).gover("go1.24").withEnv("2").live(2), "could use 4 CPUs", "unless a sweep has shown that 2 is enough, set GOMAXPROCS=4 in its environment instead of 2; without it the runtime chooses 64", Info},
		{"PF002", "its memory is hidden", machine(8).withEnv("2").unread(), "seems to use GOMAXPROCS=2", "remove GOMAXPROCS=2", Info},
		{"PF002", "code", machine(8).live(1), "uses GOMAXPROCS=1, but could use 8 CPUs", "set GOMAXPROCS=8", Info},
		{"PF002", "code for certain", machine(8).live(1).custom(true), "uses GOMAXPROCS=1, but could use 8 CPUs", "unless a sweep has shown that 1 is enough, change its runtime.GOMAXPROCS call to use 8", Info},
		{"PF002", "set from outside, against the variable", machine(8).withEnv("8").live(1).neverSets(), "uses GOMAXPROCS=1", "is enough, restart it: GOMAXPROCS=8 is in its environment", Info},
		{"PF001", "a shim of containerd", machine(2).withEnv("4").live(4).meant(), "", "", ""},
		{"PF002", "a shim of containerd", machine(8).withEnv("4").live(4).meant(), "", "", ""},
		{"PF004", "a shim of containerd", machine(8, 4).withEnv("4").live(4).meant(), "", "", ""},
		{"PF002", "rounded down", machine(8, 2.9).live(2), "", "", ""},
		{"PF002", "a part of a CPU", machine(8, 0.5).live(1), "", "", ""},
		{"PF002", "a limit is unreadable", machine(8, 2).state(facts.Unreadable).live(2), "", "", ""},

		{"PF001", "automaxprocs in it, and a call that it did not make", machine(8, 2).automaxprocs("v1.6.0").live(5).custom(true), "uses GOMAXPROCS=5", "set GOMAXPROCS=2 in its environment, which automaxprocs never overrides", Warning},

		{"PF003", "a fraction", machine(8, 2.5).withEnv("2.5"), `GOMAXPROCS="2.5" is not a positive whole number, so the runtime of go1.26.1 ignores it, unless the program itself reads it as CPUs`, "remove it: the runtime chooses 3 by itself", Warning},
		{"PF003", "a very long one", machine(8).withEnv(strings.Repeat("9", 100_000) + "x"), strings.Repeat("9", 40) + `…" is not a positive`, "remove it", Error},
		{"PF003", "millicores", machine(8).withEnv("500m"), `ignores it, unless the program itself reads it as CPUs`, "chooses 8", Warning},
		{"PF003", "an ancestor", machine(64, 20, 1.5).withEnv("auto"), `"auto"`, "write GOMAXPROCS=2; without it the runtime chooses 20", Error},
		{"PF003", "a plus sign for Go 1.25", machine(8).withEnv("+3").gover("go1.25.1"), `"+3" is not a positive`, "", Warning},
		{"PF003", "a plus sign for Go 1.26", machine(8).withEnv("+3"), "", "", ""},
		{"PF003", "automaxprocs would choose without it", machine(8, 2.5).withEnv("auto").automaxprocs("v1.6.0"), `"auto"`, "write GOMAXPROCS=3", Error},
		{"PF003", "read by its own code", machine(8, 2.5).withEnv("2000m").live(2).custom(true), `GOMAXPROCS="2000m" is not a number that the runtime of go1.26.1 accepts; the program uses 2, which it means`, "nothing to do while the program reads it", Info},
		{"PF003", "rounded up by its own code", machine(8).withEnv("2.5").live(3).custom(true), "its own code seems to read it", "GOMAXPROCS=3", Info},
		{"PF003", "less than one, by its own code", machine(8).withEnv("500m").live(1).custom(true), "the program uses 1, which it means", "", Info},
		{"PF003", "its code sets something else", machine(8).withEnv("2000m").live(4).custom(true), "ignores it; the program does not read it either: it uses 4", "", Error},
		{"PF003", "the runtime's value is by chance what it means", machine(8, 2).withEnv("2000m").live(2).custom(false), "ignores it; the program does not read it either: its runtime chose 2", "remove it: the runtime chooses 2", Error},
		{"PF003", "CPUs in a manifest", machine(8, 2).withEnv("2000m").file(Written{}), "ignores it, unless the program itself reads it as CPUs", "remove it: the runtime chooses 2", Warning},
		{"PF003", "no CPUs in a manifest", machine(8, 2).withEnv("auto").file(Written{}), "so the runtime of go1.26.1 ignores it", "", Error},
		{"PF003", "empty", machine(8).withEnv(""), "set but empty", "remove it", Info},
		{"PF003", "on no machine", Observed{}.withEnv("0"), `"0"`, "remove it, or write", Error},
		{"PF003", "valid", machine(8).withEnv("3"), "", "", ""},
		{"PF003", "absent", machine(8), "", "", ""},
		{"PF003", "unreadable", machine(8).hiddenEnv(), "", "", ""},

		{"PF004", "env", machine(8, 3).withEnv("3").live(3), "GOMAXPROCS=3 in its environment fixes the value at 3", "remove it: the runtime chooses 3", Info},
		{"PF004", "from limits.cpu", machine(8, 3).withEnv("3").live(3).file(Written{Resource: "limits.cpu", Divisor: "1", Amount: "3"}), "GOMAXPROCS=3 comes from limits.cpu: each new pod follows the limit of", "remove it: the runtime chooses 3", Info},
		{"PF004", "from limits.cpu of another container", machine(8, 3).withEnv("3").live(3).file(Written{Resource: "limits.cpu", Divisor: "1", Amount: "3", Sibling: true}), "GOMAXPROCS=3 in its environment fixes the value at 3", "", Info},
		{"PF004", "code after env", machine(8, 3).withEnv("2").live(3), "a call of runtime.GOMAXPROCS fixes the value at 3", "remove the call, and GOMAXPROCS=2 from its environment: the runtime chooses 3", Info},
		{"PF004", "code that may follow the limit", watching(machine(8, 2.5).live(2).custom(true)), "", "", ""},
		{"PF004", "set from outside", machine(8, 3).live(3).custom(true).neverSets(), "something outside the program (procfit set, a debugger) fixes the value at 3", "restart it: the runtime chooses 3 by itself and follows the limit", Info},
		{"PF004", "env, and automaxprocs without it", machine(8, 3).withEnv("3").automaxprocs("v1.6.0").live(3), "GOMAXPROCS=3 in its environment fixes the value at 3", "remove it and the import of go.uber.org/automaxprocs: the runtime chooses 3", Info},
		{"PF004", "automaxprocs, which PF007 says", machine(8, 3).automaxprocs("v1.6.0").live(3).custom(true), "", "", ""},
		{"PF004", "rounded down", machine(8, 2.5).withEnv("2").live(2), "fixes the value at 2", "the runtime chooses 3 by itself and follows the limit; both 2 and 3 are good values for 2.5 CPUs", Info},
		{"PF004", "the runtime's own choice would be too many", machine(8, 0.5).withEnv("1").live(1), "", "", ""},
		{"PF004", "no limit to change", machine(8).withEnv("8").live(8), "", "", ""},
		{"PF004", "a runtime that follows nothing", machine(8, 3).withEnv("3").gover("go1.24").live(3), "", "", ""},
		{"PF004", "changes of the limit are off", machine(8, 3).withEnv("3").godebug("updatemaxprocs=0").live(3), "", "", ""},
		{"PF004", "only the limit is switched on", machine(8, 3).withEnv("3").baked(off).godebug("containermaxprocs=1").live(3), "", "", ""},
		{"PF004", "only the limit is switched on, over a go line", machine(8, 3).withEnv("3").lang("1.24").godebug("containermaxprocs=1").live(3), "", "", ""},
		{"PF004", "both are switched on", machine(8, 3).withEnv("3").baked(off).godebug(godebugOn).live(3), "fixes the value at 3", "follows the limit", Info},
		{"PF004", "wrong today, which PF001 says", machine(8, 3).withEnv("8").live(8), "", "", ""},
		{"PF004", "automatic", machine(8, 3).live(3), "", "", ""},

		{"PF005", "baked in", machine(8, 2).baked(off).live(8), "built with go1.26.1, but containermaxprocs=0 is compiled in", "go mod edit -go=1.25", Warning},
		{"PF005", "go line", machine(8, 2).lang("1.24"), "go.mod says go 1.24, so go1.26.1", "go mod edit", Warning},
		{"PF005", "a go line under one CPU", machine(8, 1).lang("1.24"), "go.mod says go 1.24", "its minimum under a limit: for 1, set GOMAXPROCS=1", Warning},
		{"PF005", "GODEBUG", machine(8, 2).godebug("containermaxprocs=0"), "GODEBUG=containermaxprocs=0 in the environment", "from GODEBUG", Warning},
		{"PF005", "GODEBUG, and what is compiled in", machine(8, 2).baked(off).godebug("containermaxprocs=0"), "GODEBUG=containermaxprocs=0 in the environment", "write containermaxprocs=1,updatemaxprocs=1 in GODEBUG", Warning},
		{"PF005", "a binary on disk", Observed{}.gover("go1.25.3").baked(off), "built with go1.25.3", "", Warning},
		{"PF005", "switched off by a godebug line", machine(8, 2).baked("containermaxprocs=0").live(8), "built with go1.26.1, but containermaxprocs=0 is compiled in: it ignores CPU limits", "remove containermaxprocs=0 from the godebug lines of its go.mod and the //go:debug lines of its main package, and build it again", Warning},
		{"PF005", "a program of others", machine(8, 2).baked(off).foreign(), "containermaxprocs=0 is compiled in", "set GODEBUG=containermaxprocs=1,updatemaxprocs=1 in its environment", Warning},
		{"PF005", "a program of others, an ancestor", machine(64, 20, 4).baked(off).foreign(), "containermaxprocs=0 is compiled in", "set GOMAXPROCS=4 in its environment", Warning},
		{"PF005", "a binary of others on disk", Observed{}.gover("go1.25.3").baked(off).foreign(), "built with go1.25.3", "set GODEBUG=", Warning},
		{"PF005", "two CPUs, where the runtime's least is 2", machine(2, 0.4).baked(off).live(2), "", "", ""},
		{"PF005", "a limit that is high enough", machine(8, 8).baked(off), "", "", ""},
		{"PF005", "set right in the environment", machine(8, 2).baked(off).withEnv("2"), "", "", ""},
		{"PF005", "set right by automaxprocs", machine(8, 2).baked(off).automaxprocs("v1.6.0").live(2), "", "", ""},
		{"PF005", "an old Go, which PF006 says", machine(8, 2).gover("go1.24"), "", "", ""},
		{"PF005", "new all through", machine(8, 2).lang("1.25"), "", "", ""},

		{"PF006", "1.24", machine(8, 2).gover("go1.24.6").live(8), "go1.24.6 ignores CPU limits, but there is one of 2 CPUs (/cg/pod/app)", "Go 1.25 or newer", Warning},
		{"PF006", "a new Go would not do", machine(64, 20, 1.5).gover("go1.24.6").live(64), "ignores CPU limits", "set GOMAXPROCS=2 in its environment, or import github.com/procfit/procfit/maxprocs/auto; a runtime that reads the limit of its own cgroup would still choose 20", Warning},
		{"PF006", "an ancestor's limit, which no Go reads", machine(64, 0, 4).gover("go1.24.6").live(64), "", "", ""},
		{"PF006", "a program of others", machine(8, 2).gover("go1.24.6").foreign(), "ignores CPU limits", "set GOMAXPROCS=2 in its environment", Warning},
		{"PF006", "no limit", machine(8).gover("go1.24.6"), "", "", ""},
		{"PF006", "set right by automaxprocs", machine(8, 2).gover("go1.21").automaxprocs("v1.5.3").live(2), "", "", ""},
		{"PF006", "automaxprocs that does not read cgroup v2", machine(8, 2).gover("go1.21").automaxprocs("v1.4.0").live(8), "but there is one of 2 CPUs (/cg/pod/app); go.uber.org/automaxprocs v1.4.0 does not read it, v1.5.2 and later do", "set GOMAXPROCS=2", Warning},
		{"PF001", "automaxprocs that does not read cgroup v2", machine(8, 2).gover("go1.21").automaxprocs("v1.4.0").live(8), "uses GOMAXPROCS=8", "set GOMAXPROCS=2 in its environment", Warning},
		{"PF006", "a file, and automaxprocs that reads cgroup v1", machine(0, 2).gover("go1.21").automaxprocs("v1.4.0").file(Written{}), "", "", ""},
		{"PF006", "a new Go", machine(8, 2), "", "", ""},

		{"PF007", "a new Go", machine(8, 2).automaxprocs("v1.6.0").live(2), "go.uber.org/automaxprocs v1.6.0 is linked in: after it sets the value, go1.26.1 no longer follows changes of the limit", "remove the import", Warning},
		{"PF007", "without a limit it left all as it was", machine(8).automaxprocs("v1.6.0").live(8).custom(false), "does nothing here", "remove the import", Info},
		{"PF007", "the environment sets it", machine(8, 2).withEnv("2").automaxprocs("v1.6.0").live(2), "does nothing here", "remove the import", Info},
		{"PF007", "an old Go needs it", machine(8, 2).gover("go1.24").automaxprocs("v1.6.0"), "", "", ""},
		{"PF007", "an old go line needs it", machine(8, 2).baked(off).automaxprocs("v1.6.0"), "", "", ""},
		{"PF007", "changes of the limit are off", machine(8, 2).godebug("updatemaxprocs=0").automaxprocs("v1.6.0").live(2), "", "", ""},
		{"PF007", "not linked", machine(8, 2), "", "", ""},

		{"PF007", "a limit below the runtime's least", machine(8, 0.5).automaxprocs("v1.6.0").live(1), "no longer follows changes of the limit", "remove the import of go.uber.org/automaxprocs; the runtime then chooses 2, its minimum under a limit: for 1, set GOMAXPROCS=1", Warning},
		{"PF006", "automaxprocs, which a value that both ignore turns off", machine(8, 1).gover("go1.24.6").withEnv("500m").automaxprocs("v1.6.0"), "go1.24.6 ignores CPU limits", "set GOMAXPROCS=1 in its environment", Warning},
		{"PF006", "automaxprocs, which an empty value turns off", machine(0, 1).gover("go1.24.6").withEnv("").automaxprocs("v1.6.0").file(Written{}), "go1.24.6 ignores CPU limits", "set GOMAXPROCS=1 in its environment", Warning},
		{"PF005", "automaxprocs, which a value that both ignore turns off", machine(8, 1).lang("1.24").withEnv("0").automaxprocs("v1.6.0"), "go.mod says go 1.24", "set GOMAXPROCS=1 in its environment", Warning},
		{"PF006", "automaxprocs, which may set the value", machine(8, 1).gover("go1.24.6").automaxprocs("v1.6.0"), "", "", ""},
		{"PF007", "an ancestor's limit", machine(64, 20, 4).automaxprocs("v1.6.0").live(20), "no longer follows changes of the limit", "import github.com/procfit/procfit/maxprocs/auto instead, which chooses 4; the runtime by itself chooses 20", Warning},
		{"PF007", "a limit to die of", machine(8, 2).ratio("150000 0").automaxprocs("v1.6.0").live(8), "no longer follows changes of the limit", "set GOMAXPROCS=8", Warning},
		{"PF007", "a program of others", Observed{}.automaxprocs("v1.6.0").gover("go1.26.1").foreign(), "no longer follows changes of the limit", "nothing to do while its limit stays", Info},
		{"PF007", "a program of others, and the environment sets it", machine(8, 2).withEnv("2").automaxprocs("v1.6.0").foreign(), "", "", ""},

		{"PF008", "a wide leaf", machine(64, 20, 1.5).live(20), "/cg/pod allows 1.5 CPUs, but the runtime of go1.26.1 reads only the limit of its own cgroup (20 CPUs)", "set GOMAXPROCS=2", Warning},
		{"PF008", "no limit at the leaf", machine(64, 0, 4).live(64), "its own cgroup (no limit)", "GOMAXPROCS=4", Warning},
		{"PF008", "a malformed leaf", machine(64, 1, 4).state(facts.Malformed), "its own cgroup (malformed)", "GOMAXPROCS=4", Warning},
		{"PF008", "the leaf is the tightest", machine(64, 2, 4).live(2), "", "", ""},
		{"PF008", "the floor of 2", machine(64, 2, 1).live(2), "", "", ""},
		{"PF008", "an old Go, which PF006 says", machine(64, 20, 1.5).gover("go1.24").live(64), "", "", ""},
		{"PF008", "set in the environment", machine(64, 20, 1.5).withEnv("2").live(2), "", "", ""},

		{"PF009", "malformed", machine(8, 2).state(facts.Malformed), "the CPU limit of /cg/pod/app is malformed: cpu.max: odd", "check the file in this message; until then 8 is an upper bound", Info},
		{"PF009", "in a recorded tree", machine(8, 2).state(facts.Malformed).recorded(), "malformed", "add the file in this message to the tree, or correct it; until then 8", Info},
		{"PF009", "no affinity in a recorded tree", machine(8, 2).recorded().withoutAffinity(), "the CPU affinity is absent", "add proc/PID/status to the tree; until then 2", Info},
		{"PF009", "unreadable", machine(8, 2).state(facts.Unreadable), "unreadable", "check the file in this message", Info},
		{"PF009", "denied", machine(8, 2).denied(), "permission denied", "run procfit as root of the machine, outside of containers", Info},
		{"PF009", "no limit is an answer", machine(8, 0), "", "", ""},
		{"PF009", "a binary on disk", Observed{}, "", "", ""},

		{"PF010", "a container's mount", machine(8, 2).gover("go1.25.3").mountRoot("/docker/x").live(8), "whose root is /docker/x (golang/go#76390): it chooses 8 instead of 2", "Go 1.26", Warning},
		{"PF010", "a new Go would not do", machine(64, 20, 2).gover("go1.25.3").mountRoot("/docker/x").live(64), "chooses 64 instead of 20", "set GOMAXPROCS=2 in its environment", Warning},
		{"PF010", "a program of others", machine(8, 2).gover("go1.25.3").mountRoot("/docker/x").live(8).foreign(), "whose root is", "set GOMAXPROCS=2 in its environment", Warning},
		{"PF010", "a sandbox hides the mounts", machine(64, 2).live(64).custom(false), "the runtime of go1.26.1 does not see the limit of /cg/pod/app, or was idle since that was lowered: it follows a limit that it sees, and uses all 64 CPUs", "if it is still so in a minute, set GOMAXPROCS=2 in its environment: a restart does not help", Warning},
		{"PF010", "a sandbox hides the mounts, with fewer CPUs now", machine(32, 2).counted(64).live(64).custom(false), "does not see the limit", "set GOMAXPROCS=2", Warning},
		{"PF010", "another limit than now", machine(64, 2).live(5).custom(false), "", "", ""},
		{"PF010", "changes of the limit are off", machine(64, 2).godebug("updatemaxprocs=0").live(64).custom(false), "", "", ""},
		{"PF010", "changes of the limit are off by what is compiled in", machine(64, 2).godebug("containermaxprocs=1").baked(off).live(64).custom(false), "", "", ""},
		{"PF010", "code, or a sandbox", machine(64, 2).live(64), "", "", ""},
		{"PF001", "a sandbox hides the mounts", machine(64, 2).live(64).custom(false), "uses GOMAXPROCS=64, but the limit of /cg/pod/app allows 2 CPUs", "set GOMAXPROCS=2 in its environment: a restart does not help", Warning},
		{"PF001", "changes of the limit are off", machine(64, 2).godebug("updatemaxprocs=0").live(64).custom(false), "would now choose 2", "restart it: its CPUs have changed", Warning},
		{"PF001", "code, or a sandbox", machine(64, 2).live(64), "uses GOMAXPROCS=64", "use 2; if it has none, its runtime does not see the limit: set GOMAXPROCS=2 in its environment", Warning},
		{"PF010", "the whole hierarchy", machine(8, 2).gover("go1.25.3").live(2), "", "", ""},
		{"PF010", "mended in 1.26", machine(8, 2).mountRoot("/docker/x"), "", "", ""},
		{"PF010", "an old Go, which PF006 says", machine(8, 2).gover("go1.24").mountRoot("/docker/x"), "", "", ""},
		{"PF010", "no limit to miss", machine(8).gover("go1.25.3").mountRoot("/docker/x"), "", "", ""},

		{"PF011", "env above the limit", machine(8, 2).withEnv("8").live(8).held(0, 100, 63), "throttled by the limit of /cg/pod/app (2 CPUs) in 63% of periods since the cgroup was created, and uses GOMAXPROCS=8", "remove GOMAXPROCS=8", Warning},
		{"PF011", "a lowered limit, which the kernel counts as a burst", machine(8, 2).live(8).held(0, 100, 63).burst(0, 1), "in 63% of periods since", "use 2", Warning},
		{"PF011", "with a burst", machine(8, 2).live(8).held(0, 100, 63).burst(0.5, 20), "throttled by the limit of /cg/pod/app (2 CPUs with a burst of 0.5) in 63% of periods (and used its burst in 20%) since", "use 2", Warning},
		{"PF011", "an ancestor", machine(64, 0, 1.5).live(64).held(1, 100, 63), "by the limit of /cg/pod (1.5 CPUs) in 63% of periods since the cgroup was created, and uses GOMAXPROCS=64", "set GOMAXPROCS=2", Warning},
		{"PF011", "the runtime's floor", machine(8, 0.5).live(2).held(0, 100, 30), "and uses GOMAXPROCS=2", "--limit 0.5 --procs 1,2", Warning},
		{"PF011", "now and then", machine(8, 2).live(8).held(0, 100, 10), "in 10% of periods", "", Info},
		{"PF011", "hardly", machine(8, 2).live(8).held(0, 1000, 3), "", "", ""},
		{"PF011", "once", machine(8, 2).live(8).held(0, 2, 1), "", "", ""},
		{"PF011", "a short look", machine(8, 2).live(8).held(0, 3, 3), "in 100% of periods", "", Warning},
		{"PF011", "Ps that fit, which PF012 says", machine(8, 2).live(2).held(0, 100, 63), "", "", ""},

		{"PF012", "others in the group", machine(8, 2).live(2).held(0, 100, 40), "throttled by the limit of /cg/pod/app (2 CPUs) in 40% of periods since the cgroup was created, although it uses GOMAXPROCS=2, which is not too high", "find out what else runs in /cg/pod/app", Warning},
		{"PF012", "one P", machine(8, 1).withEnv("1").live(1).held(0, 100, 40), "uses GOMAXPROCS=1, which is not too high", "Go code with GOMAXPROCS=1 cannot use more than 1 CPU", Warning},
		{"PF012", "rounded up", machine(8, 2.5).live(3).held(0, 100, 40), "uses GOMAXPROCS=3, which is not too high", "raise the limit of /cg/pod/app to 3 CPUs, or measure whether the extra fraction of a CPU is worth it: procfit sweep --limit 2.5 --procs 2,3 -- COMMAND", Warning},
		{"PF012", "part of a CPU", machine(8, 0.5).withEnv("1").live(1).held(0, 100, 10), "uses GOMAXPROCS=1", "raise the limit of /cg/pod/app, or give it less work", Info},
		{"PF012", "too many Ps, which PF011 says", machine(8, 2).live(8).held(0, 100, 63), "", "", ""},
		{"PF012", "not throttled", machine(8, 2).live(2).held(0, 100, 0), "", "", ""},
		{"PF012", "not known", machine(8, 2).live(2), "", "", ""},

		{"PF013", "a call after the environment", machine(2).withEnv("4").live(2), "uses GOMAXPROCS=2, but its environment sets GOMAXPROCS=4, which has no effect: a call of runtime.GOMAXPROCS overrides it, in the program or by procfit set", "remove GOMAXPROCS=4 from its environment", Warning},
		{"PF013", "the call is what is wrong", machine(8, 2).withEnv("2").live(8).custom(true), "uses GOMAXPROCS=8", "change the program so that it keeps the GOMAXPROCS of its environment: it should be 2", Warning},
		{"PF013", "the default again", machine(8, 2).withEnv("4").live(2).custom(false), "is back at its own default, as after a call of runtime.SetDefaultGOMAXPROCS", "remove GOMAXPROCS=4", Warning},
		{"PF013", "neither fits", machine(8, 2).withEnv("4").live(8).custom(true), "uses GOMAXPROCS=8", "use 2, and remove GOMAXPROCS=4 from its environment", Warning},
		{"PF013", "the default again, under an ancestor", machine(64, 20, 2).withEnv("4").live(20).custom(false), "uses GOMAXPROCS=20", "set GOMAXPROCS=2 in its environment instead of 4, and remove calls of runtime.SetDefaultGOMAXPROCS", Warning},
		{"PF013", "set from outside", machine(2, 0.5).gover("go1.19.8").withEnv("8").live(1).neverSets().process(), "has no effect: something outside the program (procfit set, a debugger) overrides it until a restart", "set GOMAXPROCS=1 in its environment instead of 8; without it the runtime chooses 2", Warning},
		{"PF013", "set from outside, perhaps", machine(2, 0.5).gover("go1.19.8").withEnv("8").live(1).process(), "in the program or by procfit set", "remove GOMAXPROCS=8 from its environment; if procfit set made the call: set GOMAXPROCS=1 in its environment instead of 8", Warning},
		{"PF013", "a call, or from outside: the same fix", machine(2).withEnv("1").live(2).process(), "in the program or by procfit set", "remove GOMAXPROCS=1 from its environment.", Warning},
		{"PF013", "are good values for", machine(8, 2.5).withEnv("3").live(2).custom(true), "uses GOMAXPROCS=2", "remove GOMAXPROCS=3 from its environment; if you want 3, remove the call instead", Warning},
		{"PF013", "in force", machine(8).withEnv("4").live(4), "", "", ""},
		{"PF013", "a value that the runtime ignores, which PF003 says", machine(8).withEnv("4x").live(2), "", "", ""},
		{"PF013", "its memory is hidden", machine(8).withEnv("4").unread(), "", "", ""},
		{"PF013", "no variable", machine(8).live(4), "", "", ""},

		{"PF014", "a period of 0", machine(8, 2).ratio("150000 0"), "the runtime of go1.26.1 crashes at start because of /cg/pod/app/cpu.max: \"150000 0\"", "set GOMAXPROCS=8 in its environment: the runtime then computes no default", Error},
		{"PF014", "beyond an int32, and an ancestor", machine(8, 2, 3).ratio("17592186044415 1000"), "crashes", "set GOMAXPROCS=3", Error},
		{"PF014", "a value in the environment", machine(8, 2).ratio("150000 0").withEnv("2"), "", "", ""},
		{"PF014", "an old Go", machine(8, 2).ratio("150000 0").gover("go1.24.1"), "", "", ""},
		{"PF014", "on arm64", machine(8, 2).ratio("150000 0").arch("arm64"), "", "", ""},
		{"PF001", "env above the CPUs, and a limit to die of", machine(8, 2).ratio("150000 0").withEnv("9"), "will use GOMAXPROCS=9", "set GOMAXPROCS=8 in its environment instead of 9; without it the runtime crashes at start", Warning},
		{"PF003", "beyond an int32", machine(8, 2).withEnv("9999999999").live(2), "GOMAXPROCS=9999999999 is above 2147483647, the largest number that", "remove it: the runtime chooses 2", Error},
		{"PF004", "without the variable it would die", machine(8, 2).ratio("150000 0").withEnv("8"), "", "", ""},
		{"PF001", "a manifest, an old Go, any machine", machine(0, 2).gover("go1.24.1").anywhere(), "will use all CPUs of its machine, but the limit of /cg/pod/app allows 2 CPUs", "build it with Go 1.25", Warning},
		{"PF001", "a manifest, env above the limit", machine(0, 2).gover("go1.24.1").withEnv("8").anywhere(), "will use GOMAXPROCS=8", "set GOMAXPROCS=2 in its environment instead of 8; without it the runtime chooses all CPUs of the machine", Warning},
		{"PF001", "a manifest without a limit", machine(0, 0).withEnv("8").anywhere(), "", "", ""},
		{"PF002", "a manifest", machine(0, 4).withEnv("2").anywhere(), "could use 4 CPUs", "remove GOMAXPROCS=2", Info},
		{"PF002", "a manifest whose limit is not known", machine(8).withEnv("2").file(Written{}), "", "", ""},
		{"PF002", "a manifest without a limit", machine(0, 0).withEnv("2").anywhere(), "", "", ""},
		{"PF003", "a manifest without a limit", machine(0, 0).withEnv("auto").anywhere(), `"auto"`, "remove it, or write a positive whole number", Error},

		{"PF021", "a limit", machine(0, 1.5).withEnv("1500").file(Written{Resource: "limits.cpu", Divisor: "1m", Amount: "1500m"}), "resourceFieldRef limits.cpu with divisor 1m counts thousandths of a CPU: GOMAXPROCS=1500", `write divisor: "1" (whole CPUs), which makes it 2`, Error},
		{"PF021", "a whole divisor", machine(0, 1.5).withEnv("2").file(Written{Resource: "limits.cpu", Divisor: "1", Amount: "1500m"}), "", "", ""},
		{"PF021", "a number", machine(0, 1.5).withEnv("2").file(Written{}), "", "", ""},

		{"PF015", "none", machine(0, 1.5).withEnv("2").file(Written{Resource: "limits.cpu", Amount: "1500m"}), `stores "0"`, `divisor: "1"`, Info},
		{"PF015", "written", machine(0, 1.5).withEnv("2").file(Written{Resource: "limits.cpu", Divisor: "1", Amount: "1500m"}), "", "", ""},
		{"PF015", "no reference", machine(0, 1.5).withEnv("2").file(Written{}), "", "", ""},

		{"PF016", "a number without quotes", machine(0, 2).file(Written{Refused: "value: 2 is a number, not a string"}), "rejects the manifest: value: 2 is a number", "in quotes", Error},
		{"PF016", "an amount of CPUs that is not one", machine(0, 2).file(Written{Refused: "resources.limits.cpu: \"2 cpus\"", Quantity: true}), "rejects the manifest: resources.limits.cpu", "such as 2 or 500m", Error},
		{"PF016", "a container that is not there", machine(0, 2).file(Written{Refused: "containerName: \"gone\" is not a container of this pod", Kubelet: true}), "never starts the container: containerName", "name a container", Error},
		{"PF016", "taken", machine(0, 2).file(Written{}), "", "", ""},

		{"PF017", "no limit", machine(0, 0).hiddenEnv().file(Written{Resource: "limits.cpu", Divisor: "1"}), "becomes the number of CPUs of the node", "set a CPU limit on the container", Warning},
		{"PF017", "a limit", machine(0, 2).withEnv("2").file(Written{Resource: "limits.cpu", Divisor: "1", Amount: "2"}), "", "", ""},
		{"PF017", "a request", machine(0, 0).hiddenEnv().file(Written{Resource: "requests.cpu", Divisor: "1"}), "", "", ""},

		{"PF018", "a request alone", machine(0, 0).file(Written{Requests: 0.5}), "requests 0.5 CPUs and has no CPU limit: it will use all CPUs of its machine", "its request, rounded up, is 1; or set a CPU limit", Info},
		{"PF018", "a limit", machine(0, 2).file(Written{Requests: 0.5}), "", "", ""},
		{"PF018", "a number", machine(0, 0).withEnv("2").file(Written{Requests: 0.5}), "", "", ""},
		{"PF018", "no request", machine(0, 0).file(Written{}), "", "", ""},

		{"PF019", "twice", machine(0, 2).withEnv("2").file(Written{Twice: true}), "is set twice", "remove all entries but", Warning},
		{"PF019", "once", machine(0, 2).withEnv("2").file(Written{}), "", "", ""},

		{"PF020", "a number", machine(0, 0).withEnv("4").file(Written{Image: true}), "fixes GOMAXPROCS=4", "remove it here", Warning},
		{"PF005", "an image", Observed{}.gover("go1.25.3").godebug("containermaxprocs=0").file(Written{Image: true}), "in the environment makes", "remove containermaxprocs", Warning},
		{"PF005", "an image with maxprocs/auto", Observed{}.gover("go1.25.3").baked(off).auto().file(Written{Image: true}), "", "", ""},
		{"PF022", "a binary on disk", Observed{}.gover("go1.24.6"), "go1.24.6 ignores CPU limits: under a limit it uses all CPUs of its machine", "build it with Go 1.25 or newer", Info},
		{"PF022", "a program that may set the value", Observed{MaySet: "it contains a call of runtime.GOMAXPROCS"}.gover("go1.24.6"), "all CPUs of its machine, unless the program sets GOMAXPROCS itself: it contains a call of runtime.GOMAXPROCS", "build it", Info},
		{"PF022", "of others", Observed{}.gover("go1.24.6").foreign(), "go1.24.6 ignores CPU limits", "set GOMAXPROCS wherever it has a CPU limit, or use a release of it", Info},
		{"PF022", "an image", machine(0, 0).gover("go1.24.6").file(Written{Image: true}), "go1.24.6 ignores CPU limits", "build it", Info},
		{"PF022", "an image that sets the value, which PF020 says", machine(0, 0).gover("go1.24.6").withEnv("4").file(Written{Image: true}), "", "", ""},
		{"PF022", "a place, of which PF006 tells", machine(8).gover("go1.24.6"), "", "", ""},
		{"PF022", "automaxprocs", Observed{}.gover("go1.24.6").automaxprocs("v1.6.0"), "", "", ""},
		{"PF022", "maxprocs/auto", Observed{}.gover("go1.24.6").auto(), "", "", ""},
		{"PF022", "a new Go", Observed{}.gover("go1.26.1").baked(off), "", "", ""},

		{"PF023", "of six Ps four wait", machine(6).live(6).faults(4.13, 22), "uses GOMAXPROCS=6, and page faults keep 4.1 of these Ps waiting for the disk, while 22 goroutines wait for a P", "procfit sweep --procs 6,9,12,18,30 -- COMMAND;", Info},
		{"PF023", "nobody knows who waits", machine(6).live(6).faults(4.1), "keep 4.1 of these Ps waiting for the disk", "more Ps than CPUs are worth a measurement", Info},
		{"PF023", "under a limit", machine(8, 0.5).live(1).faults(0.6, 3), "keep 0.6 of these Ps waiting", "procfit sweep --limit 0.5 --procs 1,2,3,5 -- COMMAND;", Info},
		{"PF023", "fewer than its CPUs", machine(8).withEnv("2").live(2).faults(1, 9), "keep 1 of these Ps waiting", "--procs 2,8,12,16,24,40 -- COMMAND;", Info},
		{"PF023", "more than its CPUs, and still too few", machine(4).live(8).faults(7.5, 2), "keep 7.5 of these Ps waiting", "--procs 4,8,12,16,24,40 -- COMMAND;", Info},
		{"PF023", "a tenth at least", machine(8).live(8).faults(0.7, 9), "", "", ""},
		{"PF023", "nothing waits for a P", machine(8).live(8).faults(7, 0.1), "", "", ""},
		{"PF023", "as many are left as it has CPUs", machine(4).live(16).faults(12, 9), "", "", ""},
		{"PF045", "a pod with a limit of its own", machine(64, 0, 4).with(4, "api 4", "log 4"), "2 Go programs under the limit of /cg/pod (4 CPUs) together use GOMAXPROCS 8: api 4, log 4", "set GOMAXPROCS=2 in api and 2 in log, or give each a CPU limit of its own, together at most 4 CPUs", Info},
		{"PF045", "throttled together", machine(64, 0, 4).live(4).with(4, "api 4", "log 1").held(1, 100, 40), "api 4, log 1; it throttled them in 40% of periods", "set GOMAXPROCS=3 in api and 1 in log, or", Info},
		{"PF045", "none can have fewer", machine(64, 0, 0.5).with(0.5, "api 1", "log 1"), "together use GOMAXPROCS 2", "if they are busy at the same time, give each a CPU limit of its own, together at most 0.5 CPUs", Info},
		{"PF045", "running, and not throttled", machine(64, 0, 4).live(4).with(4, "api 4", "log 4").held(1, 100, 1), "", "", ""},
		{"PF045", "running, throttled by its own limit", machine(64, 4, 4).live(4).with(4, "api 4", "log 4").held(0, 100, 40), "", "", ""},
		{"PF045", "shared with nobody", machine(64, 4).live(4), "", "", ""},
		{"PF023", "nobody looked", machine(8).live(8), "", "", ""},
		{"PF023", "its CPUs are not known", Observed{}.live(4).faults(3), "", "", ""},
		{"PF060", "code", machine(8, 2).live(3).expects(2, 2, 8, "go1.26.0"), "uses GOMAXPROCS=3, but the expected value is 2, measured on 2026-01-31", "set GOMAXPROCS=2 in its environment, or measure again: procfit sweep -- ./server", Warning},
		{"PF060", "its code", machine(8, 2).live(3).custom(true).process().expects(2, 2, 8, ""), "uses GOMAXPROCS=3", "change its runtime.GOMAXPROCS call to use 2, or measure again: procfit sweep -- ./server; then keep the new value: procfit report DIR -o expected.\nprocfit set 42 2", Warning},
		{"PF060", "its code or procfit set, against the variable", machine(8, 4).withEnv("2").live(3).custom(true).process().expects(2, 4, 8, ""), "uses GOMAXPROCS=3", "call to use 2; if procfit set made the call: restart it: GOMAXPROCS=2 is in its environment; or measure again", Warning},
		{"PF060", "set from outside", machine(8, 4).live(3).custom(true).neverSets().process().expects(2, 4, 8, ""), "uses GOMAXPROCS=3", "set GOMAXPROCS=2 in its environment, or measure again", Warning},
		{"PF060", "lent", machine(8, 4).live(3).custom(true).lent().process().expects(2, 4, 8, ""), "uses GOMAXPROCS=3", "nothing to do: procfit lends this value until ", Warning},
		{"PF013", "what was measured is kept in the environment", machine(8, 4).withEnv("2").live(3).custom(true).process().expects(2, 4, 8, ""), "uses GOMAXPROCS=3", "keeps the GOMAXPROCS of its environment: it should be 2", Warning},
		{"PF060", "under another limit", machine(8, 4).live(4).expects(2, 2, 8, ""), "uses GOMAXPROCS=4", "measure again: procfit sweep --limit 4 -- ./server; then keep", Warning},
		{"PF060", "a manifest", machine(0, 2).withEnv("4").file(Written{}).expects(2, 2, 8, ""), "will use GOMAXPROCS=4", "set GOMAXPROCS=2", Warning},
		{"PF060", "the value", machine(8, 2).live(2).expects(2, 2, 8, ""), "", "", ""},
		{"PF060", "the CPUs of a machine that is not known", machine(0, 0).file(Written{}).expects(8, 0, 8, ""), "", "", ""},
		{"PF060", "none is expected", machine(8, 2).live(3), "", "", ""},
		{"PF061", "another limit", machine(8, 4).live(2).expects(2, 2, 8, ""), "its CPU limit is 4 CPUs, but its expected value was measured under a limit of 2 CPUs", "measure again: procfit sweep --limit 4 -- ./server", Warning},
		{"PF061", "no limit now", machine(8, 0).live(2).expects(2, 2, 8, ""), "it has no CPU limit, but", "", Warning},
		{"PF061", "a limit now", machine(8, 4).live(2).expects(2, 0, 8, ""), "its CPU limit is 4 CPUs, but its expected value was measured without a limit on 8 CPUs", "", Warning},
		{"PF061", "other CPUs", machine(16, 0).live(6).expects(6, 0, 8, ""), "it can use 16 CPUs, but its expected value was measured without a limit on 8 CPUs", "", Warning},
		{"PF061", "no cgroup at all, and other CPUs", machine(16).live(6).process().expects(6, 0, 8, ""), "it can use 16 CPUs", "", Warning},
		{"PF061", "fewer CPUs than the limit", machine(1, 2).live(2).expects(2, 2, 8, ""), "it can use 1 CPU, but", "", Warning},
		{"PF061", "a new Go", machine(8, 2).gover("go1.27.1").live(2).expects(2, 2, 8, "go1.26.4"), "it is built with Go 1.27, but its expected value was measured with Go 1.26", "", Warning},
		{"PF061", "what cannot be read", Observed{ExpectedWrong: "unexpected end of JSON input"}, "its expected value cannot be read: unexpected end", "write it again", Warning},
		{"PF061", "the same limit on a larger machine, a patch release", machine(64, 2).gover("go1.26.9").live(2).expects(2, 2, 8, "go1.26.4"), "", "", ""},
		{"PF061", "a limit that has no effect", machine(8, 9).live(6).expects(6, 0, 8, ""), "", "", ""},
		{"PF061", "a limit that is not known", machine(8, 4).state(facts.Unreadable).live(2).expects(2, 2, 8, ""), "", "", ""},
		{"PF061", "a limit that is not known, and a tighter one", machine(8, 4, 2).state(facts.Unreadable).live(8).expects(8, 0, 8, ""), "its CPU limit is 2 CPUs, but", "", Warning},
		{"PF001", "a limit that is not known, and a tighter one than was measured", machine(8, 4, 2).state(facts.Unreadable).withEnv("8").live(8).expects(8, 0, 8, ""), "uses GOMAXPROCS=8, but the limit of /cg/pod allows 2 CPUs", "", Warning},
		{"PF061", "a limit that is not known, and a wider one", machine(8, 1, 4).state(facts.Unreadable).live(2).expects(2, 2, 8, ""), "", "", ""},
		{"PF061", "a cgroup that is not known", machine(8).unfound().live(2).process().expects(2, 2, 8, ""), "", "", ""},
		{"PF061", "a patch, which has no limit", machine(0).file(Written{}).expects(2, 2, 8, ""), "", "", ""},
		{"PF001", "more Ps than CPUs, which a measurement has shown to be better", machine(4).withEnv("12").live(12).process().expects(12, 0, 4, ""), "", "", ""},
		{"PF002", "fewer Ps than CPUs, which a measurement has shown to be enough", machine(8, 4).withEnv("2").live(2).expects(2, 4, 8, ""), "", "", ""},
		{"PF001", "too many, and another value was measured, which PF060 says", machine(8, 4).withEnv("8").live(8).expects(2, 4, 8, ""), "", "", ""},
		{"PF004", "what the runtime would choose is not what was measured", machine(8, 2.5).withEnv("2").live(2).expects(2, 2.5, 8, ""), "", "", ""},
		{"PF002", "they were enough under another limit", machine(8, 4).withEnv("2").live(2).expects(2, 2, 8, ""), "could use 4 CPUs", "", Info},
		{"PF020", "none", machine(0, 0).file(Written{Image: true}), "", "", ""},
		{"PF020", "in a manifest", machine(0, 0).withEnv("4").file(Written{}), "", "", ""},
	}
}
