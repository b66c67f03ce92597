package inspect

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
)

// goProcess is a Go program on 8 CPUs with a live value.
func goProcess(pid int, name string, live int, change ...func(*rule.Observed)) observe.Process {
	o := rule.Observed{
		Place: rule.Place{PID: pid}, Name: name, Live: &live, LiveSource: "symbol", NumCPU: 8,
		Facts: facts.Facts{
			GoVersion: "go1.26.1 X:some", Env: facts.Fact{State: facts.Absent},
			Affinity: facts.Fact{State: facts.Known, CPUs: 8},
			Cgroup:   facts.Cgroup{Fact: facts.Fact{State: facts.Known}, Version: 2, MountRoot: "/"},
		},
	}
	for _, c := range change {
		c(&o)
	}
	p := observe.Process{Subject: rule.NewSubject(o), Threads: 5}
	p.Findings = rule.Judge(p.Subject)
	p.Total = observe.Counts{Span: time.Second, CPU: time.Second / 2, Counted: true, RunQueueWait: 12 * time.Millisecond, Voluntary: 100}
	return p
}

func env(value string) func(*rule.Observed) {
	return func(o *rule.Observed) { o.Facts.Env = facts.Fact{State: facts.Known, Raw: value} }
}

func limited(cpus float64) func(*rule.Observed) {
	return func(o *rule.Observed) {
		o.Facts.Limits = []facts.Limit{{Dir: "/sys/fs/cgroup/pods/api", Fact: facts.Fact{State: facts.Known, CPUs: cpus, File: "cpu.max", Raw: "1 1\n"}}}
	}
}

// TestFit: the value, and what it follows from.
func TestFit(t *testing.T) {
	unread := func(o *rule.Observed) {
		o.Facts.Cgroup.State, o.Facts.Cgroup.Error = facts.Unreadable, "permission denied"
	}
	hidden := goProcess(1, "api", 8, func(o *rule.Observed) {
		o.Live, o.Facts.Env = nil, facts.Fact{State: facts.Unreadable, Error: "permission denied"}
	})
	for want, p := range map[string]observe.Process{
		"→ 1, limit 0.5":    goProcess(1, "api", 8, limited(0.5)),
		"→ 8, all CPUs":     goProcess(1, "api", 4),
		"→ 8, affinity":     goProcess(1, "api", 4, func(o *rule.Observed) { o.Facts.Online = facts.Fact{State: facts.Known, CPUs: 16} }),
		"ok":                goProcess(1, "api", 8, limited(20)),
		"?":                 goProcess(1, "api", 8, unread),
		"8, all CPUs":       hidden,
		"→ 12, limit 11.25": goProcess(1, "api", 2, limited(11.25), func(o *rule.Observed) { o.Facts.Affinity.CPUs = 64 }),
	} {
		if got := Recommend(p.Subject).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestKept: a good value is kept, and an upper bound is recommended only where more is used.
func TestKept(t *testing.T) {
	unread := func(o *rule.Observed) {
		o.Facts.Cgroup.State, o.Facts.Cgroup.Error = facts.Unreadable, "permission denied"
	}
	measured := func(o *rule.Observed) { o.Expected = &rule.Expected{Procs: 2, CPUs: 8, Measured: "2026-01-31"} }
	shared := goProcess(1, "api", 4, limited(6))
	shared.Shared = true
	for _, c := range []struct {
		process observe.Process
		text    string
		want    any
		from    any
	}{
		{goProcess(1, "api", 2, limited(2.5)), "ok", 2.0, "limit"},
		{goProcess(1, "api", 4, limited(6)), "→ 6, limit 6", 6.0, "limit"},
		{shared, "ok", 4.0, "limit"},
		{goProcess(1, "api", 2, unread), "?", nil, nil},
		{goProcess(1, "api", 16, unread), "?", 8.0, "affinity"},
		{goProcess(1, "api", 16, unread, measured), "?", nil, nil},
	} {
		text, got := Recommend(c.process.Subject).String(), map[string]any{}
		for _, column := range All() {
			got[column.Name] = column.Value(&c.process)
		}
		if text != c.text || got[Recommended] != c.want || got[Recommended+"_from"] != c.from || (got[Recommended+"_cpus"] == nil) != (c.want == nil) {
			t.Errorf("%q, %v from %v of %v, expected %q, %v", text, got[Recommended], got[Recommended+"_from"], got[Recommended+"_cpus"], c.text, c.want)
		}
	}
}

// TestLimit: the burst is next to the limit, in the table and as a value of its own, and a
// mark if another limit could not be read.
func TestLimit(t *testing.T) {
	value := func(p *observe.Process, name string) any {
		i := slices.IndexFunc(All(), func(c Column) bool { return c.Name == name })
		return All()[i].Value(p)
	}
	p := goProcess(1, "api", 2, limited(2))
	if text, burst := Columns()[Index("limit")].Text(&p), value(&p, "limit_burst"); text != "2" || burst != nil {
		t.Errorf("a burst that is not known: %q, %v", text, burst)
	}
	p.Facts.Limits[0].Burst = facts.Fact{State: facts.Known, CPUs: 0.5}
	p.Throttling = &rule.Throttling{Throttling: facts.Throttling{Periods: 10, Bursts: 3, Burst: time.Second}}
	if text, burst := Columns()[Index("limit")].Text(&p), value(&p, "limit_burst"); text != "2+0.5" || burst != 0.5 {
		t.Errorf("a burst: %q, %v", text, burst)
	}
	if n, seconds := value(&p, "bursts"), value(&p, "burst_seconds"); n != 3.0 || seconds != 1.0 {
		t.Errorf("bursts used: %v, %v", n, seconds)
	}
	p.Facts.Limits = append(p.Facts.Limits, facts.Limit{Dir: "/sys/fs/cgroup/pods", Fact: facts.Fact{State: facts.Unreadable, Error: "permission denied"}})
	if text := Columns()[Index("limit")].Text(&p); text != "?2+0.5" {
		t.Errorf("next to a limit that could not be read: %q", text)
	}
}

// TestByFix: a fix comes once, however far apart its findings are, and where the first is.
func TestByFix(t *testing.T) {
	var got []string
	for _, shared := range ByFix([]rule.Finding{{Rule: "1", Fix: "a"}, {Rule: "2", Fix: "b"}, {Rule: "3", Fix: "a"}}) {
		got = append(got, shared[0].Fix+" "+strings.Join(rule.IDs(shared), " "))
	}
	if want := []string{"a 1 3", "b 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSort(t *testing.T) {
	all := []observe.Process{goProcess(1, "b", 8), goProcess(2, "a", 8, env("2x")), goProcess(3, "c", 4)}
	all[2].Threads = 50
	for name, want := range map[string]string{"findings": "2 3 1", "pid": "1 2 3", "name": "2 1 3", "procs": "1 2 3", "threads": "3 1 2", "limit": "1 2 3", "go": "1 2 3", "waiting": "1 2 3"} {
		Sort(all, name)
		got := ""
		for _, p := range all {
			got += " " + string(rune('0'+p.PID))
		}
		if got[1:] != want {
			t.Errorf("by %s:%s, want %s", name, got, want)
		}
	}
	throttled := goProcess(7, "d", 8, limited(2), func(o *rule.Observed) {
		o.Throttling = &rule.Throttling{Dir: "/sys/fs/cgroup/pods/api", Throttling: facts.Throttling{Periods: 10, ThrottledPeriods: 10}}
	})
	if all = append(all, throttled); rule.Worst(throttled.Findings) != rule.Warning {
		t.Fatalf("%+v", throttled.Findings)
	}
	if Sort(all, "findings"); all[0].PID != 7 || all[1].PID != 2 {
		t.Errorf("an error of %d comes before what is slow now, %d", all[0].PID, all[1].PID)
	}
	if Names()[0] != "findings" {
		t.Errorf("the default is %s", Names()[0])
	}
}

// TestUnknownLast: what is not known comes last in both orders.
func TestUnknownLast(t *testing.T) {
	read := goProcess(1, "a", 8)
	unread := goProcess(2, "b", 8, func(o *rule.Observed) { o.Facts.GoVersion, o.Live, o.NumCPU = "", nil, 0 })
	for _, name := range []string{"go", "numcpu"} {
		for _, reverse := range []bool{false, true} {
			if by := Columns()[Index(name)].Compare(&read, &unread, reverse); by >= 0 {
				t.Errorf("%s, reverse %v: %d", name, reverse, by)
			}
		}
	}
}

// TestColumns: names are keys and words that a user types, and ranks say which column goes
// first without two that are equal.
func TestColumns(t *testing.T) {
	names, ranks := map[string]bool{}, map[int]string{}
	for _, c := range All() {
		if names[c.Name] || !regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(c.Name) {
			t.Errorf("%q is taken, or cannot be typed", c.Name)
		}
		names[c.Name] = true
		if c.Rank > 0 && ranks[c.Rank] != "" {
			t.Errorf("%s and %s have one rank", ranks[c.Rank], c.Name)
		}
		ranks[c.Rank] = c.Name
	}
	if last := Columns()[len(Columns())-1]; last.Name != Findings {
		t.Errorf("the last column is %s, which may be short", last.Name)
	}
}

// TestColumnsPage: the page of procfit ps has every column.
func TestColumnsPage(t *testing.T) {
	_, rows, _ := strings.Cut(must.Read(t, "../../docs/reference/ps.md"), "\n## Columns\n")
	for _, c := range Columns() {
		if !regexp.MustCompile(`(?m)^\| ([A-Z0-9 ]+, )*` + c.Heading() + `(, [A-Z0-9 ]+)* \|`).MatchString(rows) {
			t.Errorf("docs/reference/ps.md has no row for %s", c.Heading())
		}
	}
}

// TestOneList finds a second list of columns: a heading that is written out.
func TestOneList(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	for _, name := range append(files, "../cli/ps.go", "../cli/exporter.go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				word, err := strconv.Unquote(text.Value)
				if err == nil && slices.ContainsFunc(Columns(), func(c Column) bool { return c.Heading() == word }) {
					t.Errorf("%s has %s: the columns are in list.go", name, text.Value)
				}
			}
			return true
		})
	}
}

// TestLent: a value that procfit lends ends by itself, and the list says when.
func TestLent(t *testing.T) {
	until := time.Now().Add(time.Hour)
	p := goProcess(1, "api", 3, func(o *rule.Observed) { o.Custom, o.LentUntil = new(true), until })
	i := Index("set_by")
	if got, want := columns[i].Text(&p), "outside until "+until.Format("15:04"); got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	all := All()
	i = slices.IndexFunc(all, func(c Column) bool { return c.Name == "set_until" })
	if got, want := all[i].Value(&p), until.UTC().Format(time.RFC3339); got != want {
		t.Errorf("%v, expected %s", got, want)
	}
	over := time.Now().Add(-time.Minute)
	p = goProcess(1, "api", 3, func(o *rule.Observed) { o.Custom, o.LentUntil = new(true), over })
	if got, want := columns[Index("set_by")].Text(&p), "outside until after "+over.Format("15:04"); got != want {
		t.Errorf("%q of a value that cannot be given back yet, expected %q", got, want)
	}
	p = goProcess(1, "api", 3, func(o *rule.Observed) { o.Custom, o.LentUntil, o.Leased = new(true), until, true })
	if got := columns[Index("set_by")].Text(&p); got != "outside by a lease" {
		t.Errorf("%q of a lease, whose end moves", got)
	}
	p = goProcess(1, "api", 3, func(o *rule.Observed) { o.Custom = new(true) })
	if got := all[i].Value(&p); got != nil {
		t.Errorf("%v of a value that stays", got)
	}
}
