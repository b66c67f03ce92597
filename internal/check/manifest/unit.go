package manifest

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

type unit struct {
	at      rule.Place // of the container or service
	head    int        // the line of the section that it is in; 0: it is in none
	env     variable   // GOMAXPROCS
	under   variable   // what would set it without the place that does
	godebug variable
	limits  []facts.Limit // its own first; none: the file does not tell
	cpus    int           // that it may run on, where the file binds it to some; 0: not
	written rule.Written
	open    []doubt // what is not read and may decide its GOMAXPROCS

	started  map[string]variable // what its command sets
	exported bool                // GOMAXPROCS is in the environment of its command
	unset    bool                // its command takes all variables away, or GOMAXPROCS
	refers   bool                // a command or another variable has the value of GOMAXPROCS in it
	argv     []string            // its command
	argvAt   variable            // where that is
	mistaken []mistake

	program check.Program
	image   string // that it is started from; "" where it is none, or not written
	module  string // the go.mod of what a Dockerfile builds; "": not known
	source  check.MaySet
	follows bool   // the program imports maxprocs/auto, and nothing in it is known to set another value
	builder string // the image whose Go builds it, of a Dockerfile; "": not known
	command string // the program that is started, where the file says so
	script  bool   // which is one of a shell
	beside  bool   // the program was found among the files
	isGo    bool   // GOMAXPROCS, another variable of the runtime, or a version is named

	covers   []rule.Place   // of a service of compose: where the files have it that are merged to it
	group    string         // of units that share limits; "": those of one object do
	shared   bool           // other Go programs are under its limit
	unjudged string         // why no rule judges it, in words; "": all do
	together *rule.Together // nil: it shares no limit that is lower than the sum of the Ps

	expected      *rule.Expected // what a measurement decided for its program; nil: nothing is kept
	expectedWrong string         // why what is kept cannot be read
}

type mistake struct {
	variable
	message, fix string
}

type variable struct {
	state   facts.State // "": nothing sets it; Known, or Unreadable: it is set to what is not known
	value   string
	why     string // it is not known
	machine bool   // it is the number of CPUs of the machine
	source  string // where it is set, in words: "env", "ConfigMap api"
	config  string // the ConfigMap that it is drawn from; "": none
	file    string // where it is; "": in that of the unit
	line    int
	column  int
	last    int // the last line of it
}

func (v variable) isSet() bool { return v.state != "" }

func (v variable) unknown(format string, args ...any) variable {
	v.state, v.value, v.why = facts.Unreadable, "", fmt.Sprintf(format, args...)
	return v
}

// filledIn is not known if its value is the placeholder of a template; with dollar also ${CPU}, where
// whoever reads the file next does not replace that.
func (v variable) filledIn(dollar bool) variable {
	if v.state == facts.Known && (marked().MatchString(v.value) || dollar && isPlaceholder(v.value)) {
		return v.unknown("%.60q is filled in later", v.value)
	}
	return v
}

func (v variable) fact() facts.Fact {
	return facts.Fact{State: cmp.Or(v.state, facts.Absent), Raw: v.value, Error: v.why, File: v.source}
}

// runtimeVariables are those that only a Go program reads.
var runtimeVariables = map[string]bool{"GOMAXPROCS": true, "GODEBUG": true, "GOGC": true, "GOMEMLIMIT": true, "GOTRACEBACK": true}

// period is that of CPU bandwidth control, as container runtimes set it, in microseconds.
const period = 100_000

// The kernel takes no shorter quota; kubelet and docker raise to it.
const leastQuota = 1_000

// limitOf is a limit as a runtime writes it into cpu.max; none if it is not positive.
func limitOf(cpus float64, dir string) facts.Limit {
	l := facts.Limit{Dir: dir}
	l.File = dir
	if !(cpus > 0) || cpus > math.MaxInt32 {
		l.State, l.Raw = facts.NoLimit, fmt.Sprintf("max %d\n", period)
		return l
	}
	quota := max(math.Round(cpus*period), leastQuota)
	l.State, l.CPUs, l.Raw = facts.Known, cpus, fmt.Sprintf("%.0f %d\n", quota, period)
	return l
}

// Limited is a container of an unknown program on any machine, under a CPU limit; 0: without.
func Limited(cpus float64) rule.Observed {
	u := unit{limits: []facts.Limit{limitOf(cpus, "its container")}}
	return u.observed(0)
}

func (u *unit) observed(nodeCPUs int) rule.Observed {
	language, godebug := u.program.Defaults()
	o := rule.Observed{
		Place:        u.at,
		Name:         u.at.Object,
		Language:     language,
		Automaxprocs: u.program.Automaxprocs,
		Required:     u.program.Required,
		MaySet:       u.maySet(),
		Follows:      u.follows || u.program.Follows,
		Foreign:      u.program.Foreign,
		Written:      &u.written,
		Shared:       u.shared,
		Together:     u.together,

		Expected: u.expected, ExpectedWrong: u.expectedWrong,
		Facts: facts.Facts{
			Cgroup:         facts.Cgroup{Fact: facts.Fact{State: facts.Known}, Mode: facts.ModeV2, Version: 2, MountRoot: "/"},
			Limits:         u.limits,
			Env:            u.env.fact(),
			GODEBUG:        u.godebug.fact(),
			GoVersion:      u.program.GoVersion,
			DefaultGODEBUG: godebug,
		},
	}
	switch {
	case u.cpus > 0:
		o.Facts.Affinity = facts.Fact{State: facts.Known, CPUs: float64(u.cpus), File: u.at.Path}
	case nodeCPUs > 0:
		o.Facts.Affinity = facts.Fact{State: facts.Known, CPUs: float64(nodeCPUs), File: "--cpus"}
	default:
		o.AnyMachine = true
	}
	return o
}

// Where no version is known a program is judged as an old one and as a new one.
const (
	oldRelease = "go1.24"
	newRelease = "" // to the policies the newest
)

var atVariable = []string{"PF001", "PF002", "PF003", "PF004", "PF021", "PF015", "PF016", "PF017", "PF019", "PF020", "PF060"}

func (c *Checker) judge(u *unit, to check.Sink) []check.Finding {
	o := u.observed(c.nodeCPUs(u))
	s := rule.NewSubject(o)
	v := u.value(s)
	v.Unit = &check.Unit{Observed: o, Called: u.name(), Config: u.env.config, Open: phrase.Or(u.notRead(true)), From: u.program.From}
	if v.Unjudged = u.unjudged; v.Unjudged != "" {
		v.Go, v.Open = false, ""
		v.Source = phrase.Join("; ", v.Source, "not judged: "+v.Unjudged)
		to.Value(v)
		c.unsure(u.places(), func(string) bool { return true })
		return nil
	}
	if !u.program.Known() {
		_, byEnv := s.EnvProcs() // which no version changes, nor what is found about it
		c.unsure(u.places(), func(id string) bool {
			switch id {
			case "PF001", "PF002", "PF004", "PF008":
				return !byEnv
			case "PF005", "PF006", "PF007":
				return true
			case "PF018":
				return !u.isGo
			case "PF022":
				return u.written.Image && !byEnv
			case "PF061": // it may be about another Go version
				return u.expected != nil && u.expected.GoVersion != ""
			}
			return false
		})
	}
	to.Value(v)
	c.strict(v, to)
	var findings []check.Finding
	for _, f := range u.findings(o) {
		open := v.Open
		if f.Rule == "PF003" { // whatever number of CPUs the runtime counts
			open = u.unless(false)
		}
		f = u.asBuilt(doubted(f, open))
		if f.Rule == "PF005" && o.Language != u.program.Language { // the go line may be a new one
			f.Fix = strings.Replace(f.Fix, "go mod edit -go=1.25 in its main module", "write containermaxprocs=1 and updatemaxprocs=1 in its godebug lines", 1)
		}
		if u.env.source == sourceCommand {
			f.Message, f.Fix = strings.ReplaceAll(f.Message, " its environment", " its command"), strings.ReplaceAll(f.Fix, " its environment", " its command")
		}
		if u.env.line > 0 && slices.Contains(atVariable, f.Rule) {
			f.Place = u.place(u.env)
		}
		if slices.Contains(atVariable, f.Rule) && u.env.source != sourceCommand {
			f.Fix = u.beforeRemoval(f.Fix)
		}
		findings = append(findings, check.Finding{Finding: f})
	}
	for _, m := range u.mistaken {
		f := check.NewFinding("PF003", u.place(m.variable), m.message, m.fix)
		f.Severity = rule.Warning
		findings = append(findings, f)
	}
	return findings
}

// place is where a variable of the unit is set.
func (u *unit) place(v variable) rule.Place {
	at := u.at
	at.Path, at.Line, at.Column = cmp.Or(v.file, at.Path), v.line, v.column
	return at
}

// beforeRemoval says of a fix what to change first, and what else may then set the value.
func (u *unit) beforeRemoval(fix string) string {
	if u.refers {
		fix = strings.Replace(fix, "remove it", "first change what uses it in the command or in another variable, then remove it", 1)
	}
	if why := u.beneath(); len(why) > 0 && u.env.line > 0 && strings.Contains(fix, "the runtime ") {
		fix += ", unless " + phrase.Or(why)
	}
	return fix
}

// ofVersion are the rules that another Go version may decide otherwise.
var ofVersion = []string{"PF001", "PF002", "PF004", "PF005", "PF006", "PF007"}

// release is the tag of an image that was released some time, perhaps with another go.mod.
var release = pattern.Of(`/?([^/@]*:v?[0-9]+\.[0-9][^/@]*)(?:@|$)`)

// asBuilt says that the image may be older than its go.mod, or of another project.
func (u *unit) asBuilt(f rule.Finding) rule.Finding {
	m := release().FindStringSubmatch(u.image)
	if m == nil && !u.program.Elsewhere || !u.beside || path.Base(u.program.From) != "go.mod" || !slices.Contains(ofVersion, f.Rule) || u.env.state == facts.Known && (f.Rule == "PF001" || f.Rule == "PF002") {
		return f
	}
	var condition string
	if u.program.Elsewhere {
		condition = fmt.Sprintf("if %s is of the module of %s", phrase.Clip(u.image, 60), u.program.From)
	} else {
		condition = fmt.Sprintf("if %s was built with the Go version of %s", m[1], u.program.From)
	}
	if strings.Contains(f.Message, ", unless ") { // so that no two conditions are in a row
		f.Message = condition + ": " + f.Message
	} else {
		f.Message += ", " + condition
	}
	return f
}

// findings of an unknown version are those that an old and a new release have in common, with a fix
// for both; that a value is no longer needed is marked as of the new.
func (u *unit) findings(o rule.Observed) []rule.Finding {
	if u.program.Known() {
		return oneCause(rule.Judge(rule.NewSubject(o)))
	}
	o.Facts.GoVersion = oldRelease
	old := rule.IDs(rule.Judge(rule.NewSubject(o)))
	o.Facts.GoVersion = newRelease
	young := rule.NewSubject(o)
	_, byEnv := young.EnvProcs()
	var all []rule.Finding
	for _, f := range rule.Judge(young) {
		switch common := slices.Contains(old, f.Rule); {
		case f.Rule == "PF004" && u.env.state == facts.Known:
			f.Message = "if it is built with Go 1.25 or newer, it needs no GOMAXPROCS: " + f.Message
			f.Fix = "set its Go version with --go; with Go 1.25 or newer, " + f.Fix
		case f.Rule == "PF005": // GODEBUG says so
		case f.Rule == "PF018" && !u.isGo, !common:
			continue
		case f.Rule == "PF060": // the value is the same with every version
		case f.Rule == "PF001" || f.Rule == "PF002" || f.Rule == "PF003":
			if !byEnv && f.Rule != "PF003" {
				if f.Rule == "PF002" || f.Severity != rule.Info || !u.isGo {
					continue // its value is the runtime's, whose version is not known, and not its least of 2
				}
				f.Message = "if it is built with Go 1.25 or newer and does not set the value itself, it " + f.Message + "; an older one chooses more"
			}
			f.Fix = eitherFix(young, f)
		}
		all = append(all, f)
	}
	return all
}

// oneCause drops PF001 if another finding says why the value is too large.
func oneCause(all []rule.Finding) []rule.Finding {
	why := func(f rule.Finding) bool { return f.Rule == "PF005" || f.Rule == "PF006" }
	if !slices.ContainsFunc(all, why) {
		return all
	}
	return slices.DeleteFunc(all, func(f rule.Finding) bool { return f.Rule == "PF001" })
}

// needsNone ends a fix of a program whose version is not known, where a new runtime chooses the same value.
const needsNone = "; if it is built with Go 1.25 or newer, it needs no GOMAXPROCS, and the runtime chooses the same value"

func eitherFix(young rule.Subject, f rule.Finding) string {
	if _, limited := young.Facts.Tightest(); !limited && young.AnyMachine {
		return f.Fix
	}
	return phrase.If(f.Rule == "PF002", "unless a sweep has shown that its value is enough, ", "") +
		fmt.Sprintf("write GOMAXPROCS=%d", young.Fit.Procs) + phrase.If(young.Unset() == young.Fit.Procs, needsNone, "")
}

func (u *unit) value(s rule.Subject) check.Value {
	v := u.valueOf(s)
	_, byEnv := s.EnvProcs()
	if unless := u.unless(!byEnv && u.env.state != facts.Unreadable && !u.written.Image); v.Open == "" && unless != "" {
		v.Procs, v.Open = nil, unless
		v.Source = phrase.Join(", ", v.Source, "unless "+unless)
	}
	if u.beside {
		v.Source = phrase.Join("; ", v.Source, "its Go version comes from "+u.program.From)
	}
	return v
}

func (u *unit) valueOf(s rule.Subject) check.Value {
	v := check.Value{Place: u.at, GoVersion: u.program.GoVersion, Go: u.isGo || u.program.Known()}
	n, known := s.Procs()
	_, byEnv := s.EnvProcs()
	switch {
	case u.env.state == facts.Unreadable && u.written.NodeCPUs():
		v.Text, v.Source = "all CPUs of the node", u.env.source
	case u.env.machine:
		v.Text, v.Source = "all CPUs of its machine", u.env.source
		if !s.AnyMachine {
			n := s.Facts.AffinityCPUs()
			v.Procs, v.Text = &n, fmt.Sprint(n)
		}
	case u.env.state == facts.Unreadable:
		v.Text, v.Source, v.Open = "not known", u.env.source+" ("+u.env.why+")", u.env.why
	case !known:
		v.Text, v.Open = "not known", phrase.If(u.program.Required, "go.uber.org/automaxprocs, which go.mod requires, may set it", "go.uber.org/automaxprocs in the program sets it")
		v.Source = v.Open
	case byEnv:
		v.Procs, v.Text, v.Source = &n, fmt.Sprint(n), u.env.source
	case u.written.Image:
		v.Text = "left to the runtime"
		switch {
		case u.program.Known():
			v.Source = s.RuntimeName() + ", by " + u.program.From
		case u.builder != "":
			v.Source = "the version of Go in FROM " + u.builder + " is not known, and --go names it"
		}
	case u.program.Known():
		v.Text, v.Source = u.chosen(s, n), "chosen by "+s.RuntimeName()+u.of(s)
		if !s.EveryCPU(n) {
			v.Procs = &n
		}
	default:
		v.Procs, v.Text, v.Source = u.eitherVersion(s)
	}
	if u.env.state == facts.Known && !byEnv {
		v.Source = phrase.Join("; ", v.Source, fmt.Sprintf("GOMAXPROCS=%q (%s) is ignored", phrase.Clip(u.env.value, 40), u.env.source))
	}
	return v
}

func (u *unit) chosen(s rule.Subject, n int) string {
	return phrase.If(s.EveryCPU(n), "all CPUs of its machine", fmt.Sprint(n))
}

func (u *unit) of(s rule.Subject) string {
	for _, c := range s.Go.Candidates {
		if c.Winner && c.What == "limit" {
			return " from the limit of " + number.CPUs(c.CPUs)
		}
	}
	return ""
}

func (u *unit) eitherVersion(s rule.Subject) (procs *int, text, source string) {
	o := s.Observed
	o.Facts.GoVersion, o.Language = newRelease, ""
	young := rule.NewSubject(o)
	o.Facts.GoVersion = oldRelease
	old := rule.NewSubject(o)
	a, b := u.chosen(young, young.Go.Procs), u.chosen(old, old.Go.Procs)
	if a == b {
		if !s.EveryCPU(young.Go.Procs) {
			procs = &young.Go.Procs
		}
		return procs, a, "chosen by the Go runtime"
	}
	return nil, a, fmt.Sprintf("chosen by the runtime of Go 1.25 or newer%s; an older one uses %s", u.of(young), b)
}

// nodeCPUs are of the machine that a unit runs on; 0: not known.
func (c *Checker) nodeCPUs(u *unit) int {
	if c.o.Node == nil {
		return c.o.NodeCPUs
	}
	cpus, _ := c.o.Node(u.at.Path)
	return cpus
}

func (c *Checker) gather(pods map[any][]*unit) {
	for _, units := range pods {
		var subjects []*rule.Subject
		var members []*unit
		for _, u := range units {
			if u.unjudged == "" && (u.isGo || u.program.Known()) {
				s := rule.NewSubject(u.observed(c.nodeCPUs(u)))
				subjects, members = append(subjects, &s), append(members, u)
			}
		}
		rule.Gather(subjects, func(dir string) bool {
			return dir == podDir || dir == taskDir || strings.HasSuffix(dir, ".slice") || strings.HasSuffix(dir, ".pod")
		})
		for i, u := range members {
			u.shared, u.together = subjects[i].Shared, subjects[i].Together
		}
	}
}

type doubt struct {
	may
	why  string   // a clause that follows "unless"
	over variable // that the file sets before, and it would replace
}

type may int

const (
	sets     may = iota // the variable, if the file does not
	replaces            // what the file sets, too
	counts              // it decides how many CPUs the runtime counts
)

func (u *unit) doubt(what may, format string, args ...any) {
	u.open = append(u.open, doubt{may: what, why: fmt.Sprintf(format, args...)})
}

// doubtSource doubts one of several sources of variables, of which the last that sets one counts.
func (u *unit) doubtSource(format string, args ...any) {
	u.open = append(u.open, doubt{sets, fmt.Sprintf(format, args...), u.env})
}

// unless is why a unit's value is open, which the runtime chooses or not, as clauses that follow "unless"; "": it is not.
func (u *unit) unless(chosen bool) string {
	var why []string
	if by := u.maySet(); by != "" {
		why = append(why, "the program sets GOMAXPROCS itself: "+by)
	}
	why = append(why, u.notRead(chosen)...)
	if chosen && len(u.limits) == 0 && u.cpus == 0 && len(why) == 0 {
		return "it has a CPU limit that is not in this file"
	}
	return phrase.Or(why)
}

// maySet is what in the program may set the value, in words; "": nothing is known to.
func (u *unit) maySet() string {
	if u.follows || u.source.Guarded && u.env.isSet() {
		return u.program.MaySet
	}
	return cmp.Or(u.program.MaySet, u.source.Words)
}

// beneath is what may set GOMAXPROCS, or another number of CPUs, if the file does not, as clauses that
// follow "unless": without the variable in the file, the value would be that, and not what is known.
func (u *unit) beneath() (why []string) {
	by := u.program.MaySet
	if !u.source.Follows { // as the runtime does
		by = cmp.Or(by, u.source.Words)
	}
	if by != "" {
		why = append(why, "the program sets GOMAXPROCS itself: "+by)
	}
	if n := u.program.GOMAXPROCS; n != "" {
		why = append(why, "its image sets GOMAXPROCS="+n)
	}
	if v := u.under; v.isSet() {
		why = append(why, strings.TrimSuffix(v.source+" sets GOMAXPROCS="+phrase.Clip(v.value, 40), "="))
	}
	for _, d := range u.open {
		if d.may != replaces && !slices.Contains(why, d.why) {
			why = append(why, d.why)
		}
	}
	return why
}

// notRead is what may decide whatever the program does; chosen: the runtime chooses the value.
func (u *unit) notRead(chosen bool) (why []string) {
	for _, d := range u.open {
		open := d.may == replaces || d.may == sets && (!u.env.isSet() || u.env == d.over) || d.may == counts && chosen
		if open && !slices.Contains(why, d.why) {
			why = append(why, d.why)
		}
	}
	return why
}

// ofOpen are the rules that judge the value. What they find of an open one is not certain.
var ofOpen = []string{"PF001", "PF002", "PF003", "PF004", "PF005", "PF006", "PF008", "PF017", "PF018", "PF020", "PF021", "PF045", "PF060"}

// doubted makes a warning of an error about an open value, and says why.
func doubted(f rule.Finding, unless string) rule.Finding {
	if unless == "" || !slices.Contains(ofOpen, f.Rule) {
		return f
	}
	if f.Severity == rule.Error {
		f.Severity = rule.Warning
	}
	if said, has, _ := strings.Cut(f.Message, ", unless "); strings.HasPrefix(unless, has) {
		f.Message = said + ", unless " + unless
	} else if !strings.Contains(f.Message, unless) {
		f.Message += ", or " + unless
	}
	return f
}

func (c *Checker) strict(v check.Value, to check.Sink) {
	if c.o.Strict && v.Go && v.Open != "" {
		to.Finding(check.NewFinding("PF046", v.Place, "its GOMAXPROCS is open: "+v.Open,
			"add what decides it to the paths, or set GOMAXPROCS where nothing replaces it; if it is known not to change the value, suppress this finding with that reason"))
	}
}
