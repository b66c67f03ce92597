package lab

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Stage is one sweep of an experiment: it goes through the same plan, trials,
// journal, statistics and report as procfit sweep.
type Stage struct {
	ID    string // of its folder; "" for the only one
	Title string // what differs from the other stages; "" for the only one
	// Fixed keeps Procs, Quotas and GoVersions as they are, which Title names,
	// whatever the user would have instead.
	Fixed bool
	// Scaled is what the document does at another size, and which: "10 s a trial
	// there, 4 s here". "" is nothing.
	Scaled string

	Args     []string // of the practice program
	Path     string   // of a server's URL, without its first slash: cpu?n=1
	Language string   // the go line that the program is built with, 1.24; "": each toolchain's own
	Build    Build    // how the program is compiled, if that of procfit will not do
	Needs    []string // commands of the system that the program cannot do without

	// Tree is the Go release in whose tree a Command runs: {go} in its words is its go
	// command, {tree} a copy that it may change. "" is the go command of the user. Bootstrap
	// is the release that builds another.
	Tree, Bootstrap string

	// Spec is what is measured. Its Target.BuiltIn is the practice program; the
	// command and the URL that start and load it are whose runs the stage. Where that
	// is empty, Target.Command is a program of the system, such as go build std.
	plan.Spec
}

// What is in the words of a Command for the go command, and for the tree, of Stage.Tree.
const (
	GoPlaceholder   = "{go}"
	TreePlaceholder = "{tree}"
)

// Options are what the user may change in an experiment.
type Options struct {
	Quick  bool        // sizes and repeats that bring all experiments below ten minutes
	Procs  *plan.Procs // instead of the experiment's own; nil leaves it
	Quotas []*float64  // in the same way, in CPUs, nil being no limit; empty leaves them
	Go     []string    // in the same way
	// Repeats is the number of blocks; 0 leaves the experiment's own.
	Repeats int

	CPUs float64 // that one replica may use here without a quota
	// Allowed are the CPUs that procfit may run on here, those of a core one after another; nil:
	// not known, and they are numbered from 0.
	Allowed []int
	// Elsewhere says that the load comes from another machine than the server's.
	Elsewhere bool

	Load       string // the command that loads the servers, in place of procfit's own load
	ServerCPUs []int  // that the programs may run on; nil: any
	LoadCPUs   []int  // that the servers' load runs on; nil: any

	MakeBash bool // of build: all of Go by make.bash too, for hours
}

// only are values of GOMAXPROCS, without unset; each counts once.
func only(procs ...int) plan.Procs {
	slices.Sort(procs)
	var p plan.Procs
	for _, n := range slices.Compact(procs) {
		p.Values = append(p.Values, &n)
	}
	return p
}

// quotas are limits in CPUs, 0 being none.
func quotas(cpus ...float64) []*float64 {
	var list []*float64
	for _, q := range cpus {
		if q == 0 {
			list = append(list, nil)
		} else {
			list = append(list, &q)
		}
	}
	return list
}

func pick[T any](o Options, quick, full T) T {
	if o.Quick {
		return quick
	}
	return full
}

const ms = time.Millisecond

// Of the servers' trials half the time is closed loop and half open, so that a
// second of the document's is two of ours.
const (
	quickTrial, quickWarmup = 900 * ms, 100 * ms
	fullTrial, fullWarmup   = 4 * time.Second, 500 * ms
)

// A sweep is a Stage before its size and the machine's are known. What Stage has too is
// said there.
type sweep struct {
	id, title       string
	fixed           bool
	language        string
	build           Build
	needs           []string
	tree, bootstrap string
	command         []string // of a Command
	env             []string
	metrics         []string // NAME[:lower|:higher]=REGEXP, found in the output instead of benchmark lines
	connections     int      // of a server
	body            []byte   // of each request
	quick, full     size
}

// A size is what a sweep is with --quick, or in full. The zero value leaves the sweep out.
type size struct {
	takes    time.Duration // a trial on two CPUs, about; of a server its loops, exactly
	timeout  time.Duration // of a trial; 0: none
	args     string        // the program's
	procs    string        // values of GOMAXPROCS: "unset", or as in ps
	quotas   []float64     // in CPUs, 0: none; halfTheCPUs
	versions string        // of Go
	scaled   string        // Stage.Scaled
}

// quickBlocks are the first blocks with --quick: what they leave open is measured further, of the
// settings alone that it is about.
const quickBlocks = 4

// halfTheCPUs is a quota of half of what there is.
const halfTheCPUs = -0.5

// Stages are the sweeps that the experiment takes, as the user wants them.
func (e Experiment) Stages(o Options) []Stage {
	o.CPUs = cmp.Or(o.CPUs, 1)
	var list []Stage
	for _, w := range e.stages {
		if pick(o, w.quick, w.full).takes > 0 && (w.bootstrap == "" || o.MakeBash) {
			list = append(list, w.stage(e.ID, e.Kind, o))
		}
	}
	if e.also != nil {
		list = append(list, e.also(o)...)
	}
	if o.Quick {
		list = e.needed(list, o)
	}
	for i := range list {
		s := &list[i]
		s.Repeats = cmp.Or(o.Repeats, s.Repeats)
		if !s.Fixed {
			s.choose(o)
		}
		s.place(o)
		s.Name = strings.TrimSpace(e.ID + " " + s.ID)
		s.Tolerant = s.Target.RunTimeout > 0 || len(s.GoVersions) > 0 || s.Tree != ""
	}
	return list
}

// Asked are the hypotheses that stages can answer on a machine of that size.
func (e Experiment) Asked(stages []Stage, o Options) (list []Hypothesis) {
	on := machine{o.CPUs, o.Elsewhere || journal.Arrange(o.ServerCPUs, o.LoadCPUs) == journal.ArrangementApart}
	for _, h := range e.Hypotheses {
		if (h.Strengthens || o.CPUs >= on.needs(h)) && !slices.ContainsFunc(h.Measure.asks, func(q quantity) bool { return !q.among(stages) }) {
			list = append(list, h)
		}
	}
	return list
}

// among reports whether one of the stages measures the quantity, by its id and Go versions.
func (q quantity) among(stages []Stage) bool {
	return slices.ContainsFunc(stages, func(s Stage) bool {
		return s.ID == q.Stage && (q.Go == "" || slices.ContainsFunc(s.GoVersions, func(v string) bool { return v == q.Go || strings.HasPrefix(v, q.Go+".") }))
	})
}

// needed are the stages without which a question has no answer; all, where there is none.
func (e Experiment) needed(stages []Stage, o Options) []Stage {
	asked := e.Asked(stages, o)
	if len(asked) == 0 {
		return stages
	}
	return slices.DeleteFunc(stages, func(s Stage) bool {
		return !slices.ContainsFunc(asked, func(h Hypothesis) bool { return slices.Contains(h.Measure.stages(), s.ID) })
	})
}

func (w sweep) stage(program string, kind Kind, o Options) Stage {
	z := pick(o, w.quick, w.full)
	s := Stage{
		ID: w.id, Title: w.title, Fixed: w.fixed, Scaled: z.scaled, Args: strings.Fields(z.args), Language: w.language,
		Build: w.build, Needs: w.needs, Tree: w.tree, Bootstrap: w.bootstrap, Spec: plan.Default(),
	}
	s.Target.Command, s.Target.Env, s.Target.RunTimeout = w.command, w.env, z.timeout
	s.Target.AnyProgram = true // its hypotheses answer, and no verdict; old releases cannot all be read
	if kind != Command {
		s.Target.BuiltIn = program
	}
	if kind == Server {
		s.Load.Connections, s.Load.Body, s.Load.Duration = w.connections, w.body, z.takes
		s.Load.Warmup = pick(o, quickWarmup, fullWarmup)
		// The documents' load shared the machine with the server, whose CPUs the hypotheses
		// are of; and an experiment says itself how long a loop is.
		s.Load.Shared, s.Load.Stretch = true, false
	} else {
		s.TrialTakes, s.Load.Warmup, s.Target.Benchmarks = z.takes, 0, kind == Batch
	}
	for _, text := range w.metrics {
		m, err := load.ParseMetric(text)
		if err != nil {
			panic(err) // they are constants, and a test makes every stage
		}
		s.Load.Metrics, s.Target.Benchmarks = append(s.Load.Metrics, m), false
	}
	if z.procs == "unset" {
		s.Procs = plan.Procs{Values: []*int{nil}}
	} else {
		s.Procs = only(countsOf(z.procs, o.CPUs)...)
	}
	for _, q := range z.quotas {
		if q == halfTheCPUs {
			q = math.Round(o.CPUs*50) / 100 // a quota takes hundredths
		}
		s.Quotas = append(s.Quotas, quotas(q)...)
	}
	s.GoVersions = strings.Fields(z.versions)
	if o.Quick {
		s.Repeats = quickBlocks
	}
	return s
}

// choose takes over what the user would have instead of the document's.
func (s *Stage) choose(o Options) {
	if o.Procs != nil {
		s.Procs = *o.Procs
	}
	if len(o.Quotas) > 0 {
		s.Quotas = o.Quotas
	}
	if len(o.Go) > 0 && s.Target.BuiltIn != "" {
		s.GoVersions = o.Go
	}
}

// ps is a number of Ps: "4"; "n", as many as there are CPUs; "2n", "n/2", "n+1", "n-1";
// "", unset. A CPU request of a quarter of the CPUs, rounded up, is "r", and twice that request
// "2r".
type ps string

// of is the number on that many CPUs, at least one; 0 is unset.
func (p ps) of(cpus float64) int {
	if times, ok := strings.CutSuffix(string(p), "r"); ok {
		count, _ := strconv.Atoi(times)
		return (ps("n").of(cpus)*cmp.Or(count, 1) + 3) / 4
	}
	times, more, relative := strings.Cut(string(p), "n")
	count, _ := strconv.Atoi(times)
	if !relative {
		return count
	}
	n := max(1, int(math.Ceil(cpus))) * cmp.Or(count, 1)
	if divisor, ok := strings.CutPrefix(more, "/"); ok {
		count, _ = strconv.Atoi(divisor)
		return max(1, n/count)
	}
	count, _ = strconv.Atoi(more)
	return max(1, n+count)
}

func countsOf(list string, cpus float64) (counts []int) {
	for p := range strings.FieldsSeq(list) {
		counts = append(counts, ps(p).of(cpus))
	}
	slices.Sort(counts)
	return counts
}
