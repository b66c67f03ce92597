// Package session is one run in one results folder: its lock, its journal, the plan
// or what is left of it, the Runner that carries it out, and what it reports on the way.
// procfit sweep is one session; every sweep of the lab is another, and so is one in a
// cluster.
//
// New settles all questions and touches nothing; Run measures what the journal
// lacks. What came of it is in the journal: whoever asked for the run analyses and
// publishes that. A run that is ended, by Ctrl-C or by a failure, keeps all finished
// trials, and the same Spec in the same folder continues from there.
package session

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/host/topology"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Options are what a run takes in addition to its Spec.
type Options struct {
	Dir      string         // the results folder; empty: results/TITLE-TIME
	Spec     spec.Spec      // what was asked for, without credentials
	Secrets  *secret.Keeper // what no record may have; nil: there is nothing
	Tool     journal.Tool   // who measures
	Host     journal.Host   // of the target, and of the load where that runs there
	LoadHost *journal.Host  // of the load where it is another and known
	Baseline string         // results folder of an earlier run, to compare ratios with
	Like     string         // results folder of a run whose arrangement of CPUs is taken over; empty: that of Baseline
	Environ  []string       // of the target
	Started  time.Time
}

// Session is a sweep whose every question is settled.
type Session struct {
	Spec   plan.Spec
	Dir    string
	Plan   journal.Plan
	Header journal.Header
	Done   int  // trials that a resumed journal holds already
	Ended  bool // there is nothing left to measure

	options       Options
	earlier, base found           // in the folder as the session was made, and in that of the baseline
	more          []journal.Block // of a grid, that the journal does not have yet
	compiled      string          // SHA-256 of what procfit compiled; empty: nothing, or nothing yet
	folder        *folder.Dir     // while it runs
	journal       *journal.Writer // from when it runs
}

type found struct {
	contents *journal.Contents
	err      error
}

func find(dir string) (f found) {
	if dir == "" {
		return found{err: fs.ErrNotExist}
	}
	f.contents, f.err = journal.ReadDirectory(dir)
	return f
}

// Journal is what the session's journal holds: before it runs, of an earlier run.
func (s *Session) Journal() *journal.Contents {
	switch {
	case s.journal != nil:
		return s.journal.Contents()
	case s.earlier.contents != nil:
		return s.earlier.contents
	}
	return &journal.Contents{Header: s.Header}
}

// New plans a sweep that is valid.
func New(spec plan.Spec, o Options) *Session {
	s := &Session{
		Spec: spec, Dir: o.Dir, options: o, earlier: find(o.Dir), base: find(o.Baseline),
	}
	s.Spec.Limited = limited(spec, o.Host)
	s.inherit()
	s.resolve()
	if s.Dir == "" {
		s.Dir = free(s.byTime())
	}
	return s
}

// byTime is the results folder where --out names none.
func (s *Session) byTime() string {
	return filepath.Join("results", plan.FileName(s.Header.Name)+"-"+s.Header.Started.Format("20060102-150405"))
}

// free is a folder that nothing has yet: two runs can start in one second, and the first that claims it gets it.
func free(dir string) string {
	for n, name := 2, dir; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d", dir, n)
	}
}

// Filled is the Spec with the values of its variables; a *Refusal names one that is not set.
func (s *Session) Filled() (plan.Spec, error) {
	known, err := s.Spec.Filled(s.options.Secrets.Variable)
	if err != nil {
		return known, &Refusal{err}
	}
	return known, nil
}

// Trials is how many the plan has, at most where it is a race.
func (s *Session) Trials() int { return plan.Next(s.Header, plan.Record{}).Total }

// resolve makes plan and header of the Spec. A seed that it lacks is the journal's, or the clock's;
// the requests follow it too.
func (s *Session) resolve() {
	seed := uint64(s.options.Started.UnixNano())
	if s.earlier.contents != nil {
		seed = s.earlier.contents.Header.Plan.Seed
	}
	s.Plan = s.Spec.Plan(s.options.Host.EffectiveCPUs, seed)
	s.Spec.Seed = new(s.Plan.Seed)
	s.Header = header(s.Spec, s.Plan, s.options)
	if s.compiled != "" {
		s.Header.Target.SHA256 = s.compiled
	}
}

// Missing is how many trials the journal lacks, at most where the plan is a race.
func (s *Session) Missing() int {
	contents := s.Journal()
	if len(contents.Trials)+len(contents.Blocks)+len(s.more) == 0 {
		return s.Trials()
	}
	have := record(contents)
	have.Blocks = append(slices.Clip(have.Blocks), s.more...)
	leg := plan.Next(s.Header, have)
	if !leg.AtMost || len(leg.Tasks) == 0 {
		return len(leg.Tasks)
	}
	return max(len(leg.Tasks), leg.Total-have.Done(leg.Tasks))
}

// Grow has a grid measure some of its settings in more blocks. Run writes these into the journal
// before it measures them, so that a run that is ended continues with them.
func (s *Session) Grow(settings []journal.Setting, blocks int) {
	s.more = append(s.more, plan.Further(s.Plan, len(s.Journal().Blocks)+len(s.more), blocks, settings)...)
}

// TimeLeft is what the trials leave of the time that a race may take; nil: any.
func (s *Session) TimeLeft() *time.Duration {
	return plan.Next(s.Header, record(s.Journal())).Left
}

// OutOfTime reports whether a race ended before its answer because its time was used up.
func (s *Session) OutOfTime() bool { return plan.OutOfTime(s.Header, record(s.Journal())) }

func record(c *journal.Contents) plan.Record {
	return plan.Record{Trials: c.Trials, Slices: c.Slices, Blocks: c.Blocks}
}

const logs = "logs"

// CreateLog creates the file of a target's output, for the Runner; path is within the results folder.
func (s *Session) CreateLog(name string) (f *os.File, path string, err error) {
	return s.create(logs + "/" + name)
}

func (s *Session) create(path string) (*os.File, string, error) {
	f, err := s.folder.Create(path)
	return f, path, err
}

// Tool is the procfit that runs here, of a version.
func Tool(version string) journal.Tool {
	return journal.Tool{Version: version, GoVersion: runtime.Version()}
}

// ThisHost is the machine that procfit runs on.
func ThisHost() journal.Host {
	name, _ := os.Hostname()
	h := journal.Host{Hostname: name, OS: runtime.GOOS, Arch: runtime.GOARCH}
	if machine, err := procstat.Host(); err == nil {
		h.CPUModel, h.CPUs, h.Kernel, h.MemoryBytes = machine.CPUModel, machine.CPUs, machine.Kernel, machine.MemoryBytes
	}
	h.Topology = topologyOf(topology.Read(os.DirFS("/sys"), topology.Allowed()))
	f := facts.Read()
	h.AffinityCPUs, h.EffectiveCPUs, h.CgroupMode = f.AffinityCPUs(), f.EffectiveCPUs(), string(f.CgroupMode())
	h.LimitsUnknown = !observe.LimitsKnown(f)
	return h
}

// MachineName is short, and the same for all machines between which results are compared.
func MachineName(h journal.Host) string {
	text := strings.NewReplacer("(r)", "", "(tm)", "", "(c)", "").Replace(strings.ToLower(h.CPUModel))
	var words []string
	for word := range strings.FieldsSeq(text) {
		switch word {
		case "cpu", "processor", "@", "with":
		default:
			words = append(words, word)
		}
	}
	name := cmp.Or(plan.FileName(strings.Join(words, "-")), h.Arch, "machine") + "-" + strconv.Itoa(cmp.Or(h.AffinityCPUs, h.CPUs)) + "cpus"
	if h.EffectiveCPUs > 0 && h.EffectiveCPUs < float64(h.AffinityCPUs) {
		name += "-limit" + number.BareCPUs(h.EffectiveCPUs)
	}
	return name
}

// SameHost reports whether a run that started on one host may continue on the other.
func SameHost(a, b journal.Host) bool { return hardware(a) == hardware(b) }

// hardware is what of a host decides how fast a program is.
func hardware(h journal.Host) journal.Host {
	return journal.Host{CPUModel: h.CPUModel, CPUs: h.CPUs, Kernel: h.Kernel, EffectiveCPUs: h.EffectiveCPUs}
}

// limited reports whether a CPU limit around procfit, or around the server that is attached, is less
// than the CPUs of the target.
func limited(spec plan.Spec, h journal.Host) bool {
	cpus, limit := h.AffinityCPUs, h.EffectiveCPUs
	if given := len(spec.Target.CPUs); given > 0 {
		cpus = min(cpus, given)
	}
	if a := spec.Target.Attach; a != nil {
		limit = a.LimitCPUs
	}
	return limit > 0 && limit < float64(cpus)
}

// topologyOf is a machine as the journal has it; nil where nothing is known.
func topologyOf(m topology.Machine) *journal.Topology {
	if len(m.Cores) == 0 {
		return nil
	}
	t := &journal.Topology{
		Sockets: m.Sockets(), Cores: len(m.Cores), ThreadsPerCore: m.Threads(), Nodes: []journal.Node{},
		PerformanceCPUs: m.Performance, EfficiencyCPUs: m.Efficiency, Governor: m.Governor,
	}
	for _, n := range m.Nodes {
		t.Nodes = append(t.Nodes, journal.Node{ID: n.ID, CPUs: n.CPUs})
	}
	return t
}
