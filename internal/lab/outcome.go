package lab

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

const (
	// OutcomeName is the file that makes a directory a lab run's.
	OutcomeName = "lab.json"
	// OutcomeSchema is its version.
	OutcomeSchema = "procfit.lab/v1"
)

// Outcome is the result of a lab run: lab.json. The measured numbers themselves
// are in the stages' directories, each as a sweep's.
type Outcome struct {
	Schema      string       `json:"schema"`
	Started     time.Time    `json:"started"`
	Spec        spec.Spec    `json:"spec"` // what was asked for
	Host        journal.Host `json:"host"`
	Tool        journal.Tool `json:"tool"`
	Complete    bool         `json:"complete"` // nothing that can be run is missing
	Experiments []Ran        `json:"experiments"`
}

// JSON is lab.json.
func (o *Outcome) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the outcome as JSON: %w", err)
	}
	return append(b, '\n'), nil
}

// Write replaces the lab.json of a directory.
func (o *Outcome) Write(dir string) error {
	b, err := o.JSON()
	if err != nil {
		return err
	}
	_, err = folder.Write(dir, folder.File{Name: OutcomeName, Mode: folder.Shared, Content: b})
	return err
}

// mostOutcome is more than any lab.json, in bytes.
const mostOutcome = 64 << 20

// ReadOutcome reads the lab.json of an earlier run, which has no results; os.ErrNotExist
// is in the chain where there is none.
func ReadOutcome(dir string) (*Outcome, error) {
	path := filepath.Join(dir, OutcomeName)
	b, err := folder.ReadRegular(path, mostOutcome)
	if err != nil {
		return nil, err
	}
	var o Outcome
	if err := json.Unmarshal(b, &o); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if o.Schema != OutcomeSchema {
		return nil, fmt.Errorf("%s: schema %q, and this procfit reads %q", path, o.Schema, OutcomeSchema)
	}
	return &o, nil
}

// Ran is what an experiment came to.
type Ran struct {
	ID         string     `json:"id"`
	Title      string     `json:"title"`
	Document   string     `json:"document"`
	Claim      string     `json:"claim,omitempty"` // the document's own result
	Kind       Kind       `json:"kind"`
	Quick      bool       `json:"quick"`             // with small sizes
	NotRun     string     `json:"not_run,omitempty"` // why no stage of it has a trial
	Complete   bool       `json:"complete"`
	Stages     []RanStage `json:"stages"`
	Hypotheses []Answered `json:"hypotheses"`
	Files      []RanFile  `json:"files,omitempty"` // to be looked at, next to the stages'

	// Measured are the stages' results; they are in the directories, not in lab.json.
	Measured Results `json:"-"`
}

// Proved reports whether it has a valid trial.
func (r Ran) Proved() bool {
	return slices.ContainsFunc(r.Stages, func(s RanStage) bool { return s.Run > s.Invalid })
}

type RanFile struct {
	Title string `json:"title"`
	Path  string `json:"path"` // relative to lab.json
}

// RanStage is what a stage came to.
type RanStage struct {
	ID        string `json:"id"` // empty: the only one
	Title     string `json:"title,omitempty"`
	Scaled    string `json:"scaled,omitempty"` // what the document did at another size
	Directory string `json:"directory"`        // of its journal and reports, relative to lab.json
	NotRun    string `json:"not_run,omitempty"`
	Stopped   string `json:"stopped,omitempty"` // why it ended before its end
	Planned   int    `json:"trials_planned"`
	Run       int    `json:"trials_run"`
	Invalid   int    `json:"trials_invalid"`
	Complete  bool   `json:"complete"`
	// OtherCPUs is how many CPUs programs took that have nothing to do with the
	// trials, as the median over those long enough to tell; null where there are
	// none, or the kernel's counters do not say.
	OtherCPUs *float64 `json:"other_cpus"`
	// AtMost is how many they may have taken: where they were not counted, as many as the
	// other counters leave room for; null: not known, as in lab.json.
	AtMost   *float64  `json:"-"`
	OfCPUs   int       `json:"-"` // CPUs that the programs may use; 0: not known, as in lab.json
	Versions []Version `json:"versions,omitempty"`
}

// Version is a Go version that a stage's program was to be built with.
type Version struct {
	Asked string `json:"asked"`           // 1.4
	Full  string `json:"full,omitempty"`  // go1.4.3
	Fault string `json:"fault,omitempty"` // why there is no program
}

// Answered is a Hypothesis with its answer.
type Answered struct {
	Hypothesis
	Measured Estimate `json:"measured"`
	From     string   `json:"measured_from,omitempty"` // where the numbers come from; empty: this machine's
	Answer   Answer   `json:"answer"`
	Reason   string   `json:"reason,omitempty"` // of at_bound, undecided and not_asked
	Open     bool     `json:"open,omitempty"`   // more blocks may decide it
	// MoreBlocks is about how many decide it, and MoreSeconds how long these take; absent: more
	// than are ever measured, or not known.
	MoreBlocks  int     `json:"more_blocks,omitempty"`
	MoreSeconds float64 `json:"more_seconds,omitempty"`
	// Lacks is how many CPUs the program needs, if it has fewer.
	Lacks float64 `json:"lacks_cpus,omitempty"`
}

// disturbing is the share of the programs' CPUs that others may take. What they take
// comes off the figures of as many Ps as CPUs, and 10% is what the documents'
// numbers are to be met within.
const disturbing = 0.1

// Disturbed reports whether other programs took so much, or may have, that the stage's
// figures do not speak for its CPUs.
func (s *RanStage) Disturbed(cpus float64) bool {
	others := s.others()
	return s.Run > 0 && others != nil && *others >= disturbing*s.Of(cpus)
}

func (s *RanStage) others() *float64 {
	if s.OtherCPUs != nil {
		return s.OtherCPUs
	}
	return s.AtMost
}

// Company says how many of the CPUs other programs took, or may have.
func (s *RanStage) Company(cpus float64) string {
	of := number.Count(s.Of(cpus))
	if s.OtherCPUs == nil {
		return fmt.Sprintf("the trials are too short to count other programs, which may have used %.2g of the %s CPUs at the same time: stop them", *s.others(), of)
	}
	return fmt.Sprintf("other programs used %.2g of the %s CPUs at the same time: stop them", *s.OtherCPUs, of)
}

// Of is how many CPUs the stage's programs may use, on a machine of that many CPUs.
func (s *RanStage) Of(cpus float64) float64 {
	if s.OfCPUs > 0 {
		return float64(s.OfCPUs)
	}
	return cpus
}

// Count fills in what the trials say of the stage as a whole.
func (s *RanStage) Count(m Measured) {
	r := m.Result
	s.Planned, s.Run, s.Invalid, s.Complete, s.OfCPUs = max(r.TrialsPlanned, r.TrialsRun), r.TrialsRun, r.TrialsInvalid, r.Complete, 0
	var others, most []float64
	for i := range m.Trials {
		t := &m.Trials[i]
		if t.HostUse != nil {
			s.OfCPUs = max(s.OfCPUs, t.HostUse.TargetCPUs)
		}
		if x := contest.Others(&t.Usage); x != nil {
			others = append(others, *x*float64(t.HostUse.TargetCPUs))
		}
		if x := contest.OthersAtMost(&t.Usage); x != nil {
			most = append(most, *x*float64(t.HostUse.TargetCPUs))
		}
	}
	s.OtherCPUs, s.AtMost = stat.Median(others).Median, stat.Median(most).Median
}

// Conclude fills in the hypotheses' answers from what was measured.
func (r *Ran) Conclude(e Experiment, cpus float64) {
	r.Hypotheses = judge(e, r.Measured, cpus)
	for i := range r.Hypotheses {
		a := &r.Hypotheses[i]
		if worst := r.worst(a.Hypothesis, cpus); worst != nil && !a.Measured.Printed && a.From == "" && (a.Answer.Decided() || a.Open) {
			a.Answer, a.Open, a.Reason = Undecided, false, worst.Company(cpus)+" and run it again"
		}
		if a.Measured.Printed { // the least and the most are no interval
			a.Measured.Low, a.Measured.High = nil, nil
		}
		if a.Open {
			a.MoreSeconds = r.more(a).Seconds
		} else {
			a.MoreBlocks = 0
		}
	}
}

// worst is the stage of those that a hypothesis is measured in which other programs
// disturbed most; nil: they disturbed none.
func (r *Ran) worst(h Hypothesis, cpus float64) (worst *RanStage) {
	stages := h.Measure.stages()
	for i := range r.Stages {
		s := &r.Stages[i]
		if s.Disturbed(cpus) && slices.Contains(stages, s.ID) && (worst == nil || *s.others() > *worst.others()) {
			worst = s
		}
	}
	return worst
}

// More is what an experiment's open hypothesis asks for: that many blocks of these settings of each
// of its stages.
type More struct {
	Hypothesis string
	Had        int // blocks that its estimate rests on
	Blocks     int
	Settings   map[string][]journal.Setting // by Stage.ID
	Seconds    float64                      // that they take; 0: not known
}

// More are the blocks that are about to decide the open hypotheses, once they are concluded.
func (r *Ran) More() (list []More) {
	for i := range r.Hypotheses {
		if a := &r.Hypotheses[i]; a.Open && a.MoreBlocks > 0 {
			list = append(list, r.more(a))
		}
	}
	return list
}

func (r *Ran) more(a *Answered) More {
	m := More{Hypothesis: a.ID, Had: a.Measured.N, Blocks: a.MoreBlocks, Settings: map[string][]journal.Setting{}}
	for _, stage := range a.Measure.stages() {
		settings := a.Measure.settings(r.Measured, stage)
		m.Settings[stage] = settings
		m.Seconds += float64(m.Blocks*len(settings)) * r.Measured[stage].each()
	}
	return m
}

func Find(id string) (Experiment, error) {
	return find(id, "experiment", Server, Batch, Command)
}
