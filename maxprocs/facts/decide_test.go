package facts

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/procfit/procfit/maxprocs/internal/must"
)

// facts are those of a process with an affinity and limits from the leaf up.
func facts(cpus float64, limits ...float64) Facts {
	f := Facts{Affinity: Fact{State: Known, CPUs: cpus, File: "test"}}
	f.Cgroup = Cgroup{Fact: Fact{State: Known}, Mode: ModeV2, Version: 2, Mount: "/", MountRoot: "/"}
	for i, l := range limits {
		dir := fmt.Sprintf("/%d", i)
		raw := fmt.Sprintf("%d 100000\n", int(l*100000))
		f.Limits = append(f.Limits, Limit{Dir: dir, Fact: Fact{State: Known, CPUs: l, File: dir + "/cpu.max", Raw: raw}})
	}
	return f
}

// decided is what a policy makes of facts, with a part of its reasons.
type decided struct {
	facts  Facts
	policy Policy
	want   int
	reason string
}

func (c decided) check(t *testing.T) {
	t.Helper()
	d := Decide(c.facts, c.policy)
	if d.Procs != c.want || !strings.Contains(d.String(), c.reason) {
		t.Errorf("%+v: want %d with %q, got\n%s", c.policy, c.want, c.reason, d)
	}
	if again := Decide(c.facts, c.policy); !reflect.DeepEqual(d, again) {
		t.Errorf("%+v: decided %+v, then %+v", c.policy, d, again)
	}
}

func TestFitOptions(t *testing.T) {
	for _, c := range []decided{
		{facts(8), Fit{}, 8, "8 CPUs"},
		{facts(1), Fit{}, 1, "1 CPU "},
		{facts(8, 2.5), Fit{}, 3, "2.5 is rounded up to 3"},
		{facts(8, 2.5), Fit{Rounding: Floor}, 2, "2.5 is rounded down to 2"},
		{facts(8, 0.3), Fit{Rounding: Floor}, 1, "below the minimum of 1"},
		{facts(8, 0.3), Fit{Min: 2}, 2, "below the minimum of 2"},
		{facts(2), Fit{Min: 5}, 2, "the minimum of 5 applies only under a limit"},
		{facts(64), Fit{Max: 16}, 16, "above the maximum of 16"},
		{facts(8, 4), Fit{Reserve: 0.5}, 3, "3.5 is rounded down (up would take the reserve back) to 3"},
		{facts(8, 4), Fit{Reserve: 0.5, Rounding: Ceil}, 4, "3.5 is rounded up to 4"},
		{facts(8, 4), Fit{Reserve: 0.5, Threshold: 0.5}, 4, "3.5 is rounded (up from 0.5) to 4"},
		{facts(8, 4), Fit{Reserve: 1}, 3, "1 CPU reserved for others: 4 − 1"},
		{facts(8, 2.2), Fit{Reserve: 0.2}, 2, "0.2 CPUs reserved"},
		{facts(8, 1.1+1.1+1.1), Fit{Reserve: 0.3}, 3, ""},
		{facts(8, 1), Fit{Reserve: 3}, 1, "below the minimum"},
		{facts(8, 20, 1.5), Fit{}, 2, "the limit of /1 is the tightest"},
		{facts(2, 1e9), Fit{}, 2, "no limit is below its affinity"},
		{facts(8, 2.4), Fit{Threshold: 0.5}, 2, "2.4 is rounded (up from 0.5) to 2"},
		{facts(8, 2.5), Fit{Threshold: 0.5, Rounding: Floor}, 3, "2.5 is rounded (up from 0.5) to 3"},
		{facts(8, 3), Fit{Threshold: 1e-12}, 3, ""},
	} {
		c.check(t)
	}
}

func withEnv(f Facts, raw string) Facts {
	f.Env = Fact{State: Known, Raw: raw}
	return f
}

func TestGoVersions(t *testing.T) {
	baked := facts(8, 2.5)
	baked.GoVersion, baked.DefaultGODEBUG = "go1.26.8", "asynctimerchan=1,containermaxprocs=0,updatemaxprocs=0"
	plain := facts(8, 2.5)
	plain.GoVersion = "go1.26.8"
	for _, c := range []decided{
		{plain, Go{}, 3, "limits its own cgroup"},
		{baked, Go{}, 8, "linked with containermaxprocs=0"},
		{baked, Go{Version: "1.26"}, 3, ""}, // a what-if is of another build
		{baked, Go{Language: "1.25"}, 3, ""},
		{plain, Go{Version: "1.4"}, 1, "before Go 1.5"},
		{plain, Go{Version: "1.5"}, 8, "Go 1.5 does not read cgroup limits"},
		{plain, Go{Version: "1.30", Language: "1.24"}, 8, "language version 1.24"},
		{plain, Go{Version: "tip"}, 3, "Go tip: assumed to be the newest release"},
		{facts(8, 2.5), Go{}, 3, "unknown version"},
		{facts(64, 20, 1.5), Go{Version: "1.26"}, 20, "does not read the tighter limit of 1.5 CPUs"},
		{facts(8, 16), Go{Version: "1.26"}, 8, "not below its affinity"},
		{withEnv(plain, "9999999999"), Go{}, 3, `"9999999999" in the environment is above 2147483647, so the runtime ignores it`},
		{withEnv(plain, "-9999999999"), Go{}, 3, "is not a positive integer"},
	} {
		c.check(t)
	}
	if err := (Go{Version: "1.26", Language: "tip"}).Check(); err == nil || !strings.Contains(err.Error(), `"tip"`) {
		t.Errorf("Check: %v, want an error that quotes \"tip\"", err)
	}
}

// What automaxprocs does in each world is in worlds, and held against itself in
// test/automaxprocs; here are facts made by hand, and the reasons.
func TestAutomaxprocs(t *testing.T) {
	emptyEnv := facts(8, 2.5)
	emptyEnv.Env = Fact{State: Known, Raw: ""}
	v1 := facts(8, 2.5)
	v1.Cgroup.Version = 1
	v1.Limits[0].PeriodFile, v1.Limits[0].Raw, v1.Limits[0].PeriodRaw = "/period", "+250000\n", "100000\nmore"
	v1Space := facts(8, 2.5)
	v1Space.Limits[0].PeriodFile, v1Space.Limits[0].Raw, v1Space.Limits[0].PeriodRaw = "/period", "250000 \n", "100000\n"
	negative := facts(8, 2.5)
	negative.Limits[0].Raw = "-5 100000\n"
	world := func(name string) Facts { return must.Get(ReadFS(os.DirFS("testdata/worlds/"+name), 0))(t) }
	for name, c := range map[string]decided{
		"rounded down":          {facts(8, 2.9), Automaxprocs{Version: "1.24"}, 2, "rounded down to 2"},
		"at least 1":            {facts(8, 0.5), Automaxprocs{Version: "1.26"}, 1, "0 is below the minimum of 1"},
		"its minimum":           {facts(8, 0.5), Automaxprocs{Min: 3}, 3, "below the minimum of 3"},
		"the leaf alone":        {facts(64, 20, 1.5), Automaxprocs{Version: "1.26"}, 20, "does not read the tighter limit of 1.5"},
		"above the CPUs":        {facts(2, 6), Automaxprocs{Version: "1.26"}, 6, "ignores the affinity, which is 2 CPUs"},
		"an empty environment":  {emptyEnv, Automaxprocs{Version: "1.26"}, 3, "leaves the choice to the runtime"},
		"no limit, old runtime": {facts(8), Automaxprocs{Version: "1.20"}, 8, "it finds no CPU cgroup"},
		"v1, first lines":       {v1, Automaxprocs{Version: "1.26"}, 2, "2.5 CPUs"},
		"v1, a space":           {v1Space, Automaxprocs{Version: "1.24"}, 8, "malformed, which is an error to automaxprocs"},
		"v1, an old release":    {v1, Automaxprocs{Version: "1.26", Release: "v1.4.0"}, 2, "2.5 CPUs"},
		"v2, an old release":    {facts(8, 2.5), Automaxprocs{Version: "1.24", Release: "v1.4.0"}, 8, "v1.4.0 does not read cgroup v2"},
		"v2, the next release":  {facts(8, 2.5), Automaxprocs{Version: "1.24", Release: "v1.5.1"}, 2, "rounded down to 2"},
		"v1.5.1, a service":     {world("v2-leaf"), Automaxprocs{Version: "1.24", Release: "v1.5.1"}, 8, "reads only the limit of the cgroup that is mounted"},
		"v1.5.2, a service":     {world("v2-leaf"), Automaxprocs{Version: "1.24", Release: "v1.5.2"}, 2, "rounded down to 2"},
		"v1.5.1, a container":   {world("v2-namespace"), Automaxprocs{Version: "1.24", Release: "v1.5.1"}, 2, "rounded down to 2"},
		"negative":              {negative, Automaxprocs{Version: "1.24"}, 1, "below the minimum of 1"},
	} {
		t.Run(name, c.check)
	}
}

func TestJVM(t *testing.T) {
	for _, c := range []decided{
		{facts(8, 2.1), JVM{}, 3, "rounded up: 3"},
		{facts(8, 0.2), JVM{}, 1, "rounded up: 1"},
		{facts(64, 20, 1.5), JVM{}, 2, "1.5 CPUs"},
		{facts(2, 6), JVM{}, 2, "not below its affinity"},
		{facts(4), JVM{}, 4, "no CPU limit"},
		{facts(4, 1), JVM{ActiveProcessorCount: 9}, 9, "-XX:ActiveProcessorCount=9"},
	} {
		c.check(t)
	}
}

// FuzzFindGo: a place, or a reason why there is none.
func FuzzFindGo(f *testing.F) {
	f.Add([]byte("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"), []byte("0::/a\n"))
	f.Add([]byte("33 31 0:30 /d /c\\040d rw shared:9 - cgroup cgroup rw,cpu\n"), []byte("1:cpu,cpuacct:/d/x\n0::/\n"))
	f.Add([]byte("3 1 0:3 net:[4] /n rw - nsfs nsfs rw\n4 1 0:4 /.. /c rw - cgroup2 c rw\n"), []byte("0::/\n"))
	f.Fuzz(func(t *testing.T, mountinfo, procCgroup []byte) {
		for _, minor := range []int{minorContainer, minorGroupFirst} {
			p := findGo(minor, procCgroup, mountinfo)
			if p.why == "" && p.version != 1 && p.version != 2 {
				t.Errorf("1.%d: %q, %q: %+v", minor, mountinfo, procCgroup, p)
			}
		}
	})
}

// TestDies: the runtime turns the ratio into an int32 as its processor does, unless
// something goes before the limit.
func TestDies(t *testing.T) {
	ratio := func(quota, period string) Facts {
		f := facts(8, 1)
		f.Limits[0].Raw, f.Limits[0].State = quota+" "+period+"\n", Malformed
		return f
	}
	arm := func(f Facts) Facts { f.GOARCH = "arm64"; return f }
	env := ratio("17592186044415", "1000")
	env.Env = Fact{State: Known, Raw: "3"}
	for name, tc := range map[string]struct {
		facts  Facts
		policy Go
		want   int // 0: it dies
	}{
		"2³¹ CPUs":               {ratio("2147483648000", "1000"), Go{Version: "1.26"}, 0},
		"the largest int32":      {ratio("2147483647000", "1000"), Go{Version: "1.26"}, 8},
		"2³¹ CPUs on arm64":      {arm(ratio("2147483648000", "1000")), Go{Version: "1.26"}, 8},
		"period 0":               {ratio("150000", "0"), Go{Version: "1.27"}, 0},
		"period 0 on arm64":      {arm(ratio("150000", "0")), Go{Version: "1.27"}, 8},
		"both 0 on arm64":        {arm(ratio("0", "0")), Go{Version: "1.25"}, 0},
		"a negative quota":       {ratio("-5", "100000"), Go{Version: "1.25"}, 2},
		"an old Go":              {ratio("150000", "0"), Go{Version: "1.24"}, 8},
		"an old go line":         {ratio("150000", "0"), Go{Version: "1.26", Language: "1.24"}, 8},
		"a value in environment": {env, Go{Version: "1.26"}, 3},
	} {
		d := Decide(tc.facts, tc.policy)
		if d.Procs != tc.want || (d.Outcome == Dies) != (tc.want == 0) {
			t.Errorf("%s: %+v, want %d", name, d, tc.want)
		}
		if a := Decide(tc.facts, Automaxprocs{Version: tc.policy.Version, Language: tc.policy.Language}); (a.Outcome == Dies) != (tc.want == 0) {
			t.Errorf("%s: automaxprocs: %+v", name, a)
		}
	}
}

// FuzzFindAutomaxprocs: a place, or a reason why there is none.
func FuzzFindAutomaxprocs(f *testing.F) {
	f.Add([]byte("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"), []byte("0::/a\n"))
	f.Add([]byte("33 31 0:30 /d /c rw shared:9 - cgroup cgroup rw,cpu\n"), []byte("1:cpu,cpuacct:/d/x\n0::/\n"))
	f.Fuzz(func(t *testing.T, mountinfo, procCgroup []byte) {
		p := findAutomaxprocs(mountinfo, procCgroup)
		if (p.why == "") != (p.version != 0) || p.why == "" && p.dir == "" {
			t.Errorf("%q, %q: %+v", mountinfo, procCgroup, p)
		}
	})
}

func TestEffectiveCPUs(t *testing.T) {
	unknown := facts(8, 4)
	unknown.Limits = append(unknown.Limits, Limit{Dir: "/", Fact: Fact{State: Malformed, Error: "/cpu.max: what"}})
	for name, tc := range map[string]struct {
		facts    Facts
		want     float64
		affinity int
		unknown  string
	}{
		"affinity":         {facts(8), 8, 8, ""},
		"tightest":         {facts(8, 20, 1.5, 3), 1.5, 8, ""},
		"affinity, limits": {facts(2, 20, 3), 2, 2, ""},
		"malformed":        {unknown, 4, 8, "the CPU limit of / is malformed: /cpu.max: what"},
		"limit alone":      {Facts{Cgroup: facts(8).Cgroup, Limits: facts(8, 2).Limits}, 2, 0, "affinity"},
		"online":           {Facts{Online: Fact{State: Known, CPUs: 3}}, 3, 3, "affinity"},
		"nothing":          {Facts{}, 0, 0, "affinity"},
	} {
		if got := tc.facts.AffinityCPUs(); got != tc.affinity {
			t.Errorf("%s: got affinity %d, want %d", name, got, tc.affinity)
		}
		if got := tc.facts.EffectiveCPUs(); got != tc.want {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
		for _, p := range []Policy{Fit{}, JVM{}} {
			if got := Decide(tc.facts, p).Procs; got != int(math.Max(1, math.Ceil(tc.want))) {
				t.Errorf("%s: %s decides on %d of %v CPUs", name, p.Name(), got, tc.want)
			}
		}
		if got := Decide(tc.facts, Go{}).Procs; name == "limit alone" && got != 2 {
			t.Errorf("%s: the runtime decides on %d", name, got)
		}
		if got := strings.Join(tc.facts.Unknown(), "; "); !strings.Contains(got, tc.unknown) || (tc.unknown == "") != (got == "") {
			t.Errorf("%s: unknown is %q, want %q", name, got, tc.unknown)
		}
	}
}

// FuzzDecide holds what every decision promises, over odd facts.
func FuzzDecide(f *testing.F) {
	f.Add(8.0, 2.5, "150000 100000\n", "3", "1.26")
	f.Add(0.0, -1.0, "", "", "")
	f.Fuzz(func(t *testing.T, cpus, limit float64, raw, env, version string) {
		in := facts(cpus, limit)
		in.Limits[0].Raw = raw
		in.Env = Fact{State: Known, Raw: env}
		for _, p := range []Policy{Fit{}, Fit{Rounding: Floor, Max: 3, Reserve: limit}, Fit{Threshold: limit}, JVM{}, Automaxprocs{Version: version}, Go{Version: version}, Go{Language: version}} {
			if d := Decide(in, p); (d.Procs < 1) != (d.Outcome == Dies) || len(d.Reasons) == 0 {
				t.Errorf("%+v: %+v", p, d)
			}
		}
	})
}

func TestReadsLimit(t *testing.T) {
	off, on := "containermaxprocs=0", Fact{State: Known, Raw: "containermaxprocs=1"}
	for name, c := range map[string]struct {
		policy Go
		facts  Facts
		want   bool
	}{
		"1.24":                   {Go{}, Facts{GoVersion: "go1.24.5"}, false},
		"1.24, switched on":      {Go{}, Facts{GoVersion: "go1.24.5", GODEBUG: on}, false},
		"1.25":                   {Go{}, Facts{GoVersion: "go1.25.0"}, true},
		"1.25 in an environment": {Go{}, Facts{GoVersion: "go1.25.0", Env: Fact{State: Known, Raw: "3"}}, true},
		"an older go line":       {Go{}, Facts{GoVersion: "go1.26.1", DefaultGODEBUG: off}, false},
		"the same, switched on":  {Go{}, Facts{GoVersion: "go1.26.1", DefaultGODEBUG: off, GODEBUG: on}, true},
		"language 1.24":          {Go{Language: "1.24"}, Facts{GoVersion: "go1.26.1"}, false},
		"asked for 1.24":         {Go{Version: "1.24"}, Facts{GoVersion: "go1.26.1"}, false},
		"not known":              {Go{}, Facts{}, true},
	} {
		if got := c.policy.ReadsLimit(c.facts); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
