package run

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Write brings the folder's reports up to what the journals hold. Only what has
// run in the meantime is analysed again. If a report cannot be written, the Outcome has all that
// it would have.
func (r *Run) Write() error {
	var unwritten error
	for _, x := range r.items {
		failed, err := r.update(x)
		if err != nil {
			return err
		}
		unwritten = cmp.Or(unwritten, failed)
	}
	return cmp.Or(unwritten, write(r.Dir, &r.Outcome, r.options.Pages))
}

func (r *Run) update(x *item) (unwritten, err error) {
	ran := lab.Ran{ID: x.ID, Quick: r.options.Chosen.Quick, Files: x.files}
	for _, s := range x.stages {
		ran.Stages = append(ran.Stages, s.ran)
	}
	list := &r.Outcome.Experiments
	i := slices.IndexFunc(*list, func(e lab.Ran) bool { return e.ID == x.ID })
	if i < 0 {
		i = len(*list)
		*list = append(*list, lab.Ran{})
	}
	if !x.changed && (*list)[i].ID != "" {
		return nil, nil
	}
	x.changed = false
	if len(ran.Files) == 0 {
		ran.Files = (*list)[i].Files // of an earlier run
	}
	(*list)[i] = ran
	return conclude(r.Dir, &(*list)[i], r.Outcome.Host.EffectiveCPUs, r.options.Pages)
}

// ErrHeld is why the reports of a run that may still continue are not written.
var ErrHeld = journal.ErrHeld

// Conclude reads the outcome of a run's folder, analyses its journals again, fills in what they
// say, and writes all reports. Nothing is measured. unwritten is why a report is not written. The
// run may still continue: what it writes last would be replaced by what was read before, so that
// nothing is written then.
func Conclude(dir string, read func(dir string) (*lab.Outcome, error), p Pages) (o *lab.Outcome, unwritten, err error) {
	held, unwritten := journal.LockDirectory(dir)
	switch {
	case unwritten == nil:
		defer held.Close()
	case errors.Is(unwritten, ErrHeld):
		p = Pages{}
	default:
		unwritten = nil // there are no locks, or there is no folder, as reading it shows
	}
	if o, err = read(dir); err != nil {
		return nil, unwritten, err
	}
	for i := range o.Experiments {
		failed, err := conclude(dir, &o.Experiments[i], o.Host.EffectiveCPUs, p)
		if err != nil {
			return nil, unwritten, err
		}
		unwritten = cmp.Or(unwritten, failed)
	}
	return o, cmp.Or(unwritten, write(dir, o, p)), nil
}

// conclude reads what an experiment's journals hold, writes its sweeps' reports
// and answers its hypotheses. unwritten is of the first report that cannot be written.
func conclude(dir string, ran *lab.Ran, cpus float64, p Pages) (unwritten, err error) {
	e, err := lab.Find(ran.ID)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, lab.OutcomeName), err)
	}
	ran.Title, ran.Document, ran.Claim, ran.Kind = e.Title, e.Document, e.Claim, e.Kind
	ran.Measured, ran.Complete, ran.NotRun = lab.Results{}, true, ""
	measured := false
	var why []string
	for i := range ran.Stages {
		s := &ran.Stages[i]
		if s.Directory != path.Join(ran.ID, s.ID) || !filepath.IsLocal(s.Directory) {
			return nil, fmt.Errorf("%s: %q is not a directory of %s", filepath.Join(dir, lab.OutcomeName), s.Directory, ran.ID)
		}
		m, failed := analyse(dir, s, p)
		unwritten = cmp.Or(unwritten, failed)
		ran.Measured[s.ID] = m
		ran.Complete = ran.Complete && (s.Complete || s.NotRun != "" || s.Stopped != "")
		measured = measured || s.Run > 0
		if m.Result == nil && !slices.Contains(why, m.Why) {
			why = append(why, m.Why)
		}
	}
	if !measured {
		ran.NotRun = cmp.Or(strings.Join(why, "; "), notYet)
		ran.Complete = !slices.ContainsFunc(ran.Stages, func(s lab.RanStage) bool { return s.NotRun == "" })
	}
	ran.Conclude(e, cpus)
	return unwritten, nil
}

// notYet is why a stage that can be run has no trial.
const notYet = "not run yet"

// analyse reads a stage's journal, if there is one with trials, and writes its
// reports; unwritten is why it cannot.
func analyse(dir string, s *lab.RanStage, p Pages) (m lab.Measured, unwritten error) {
	below := filepath.Join(dir, filepath.FromSlash(s.Directory))
	contents, err := journal.ReadDirectory(below)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, journal.ErrEmpty) || err == nil && len(contents.Trials) == 0 {
		return lab.Measured{Why: cmp.Or(s.NotRun, notYet)}, nil
	}
	if err != nil { // it is reported and left as it is; the other experiments are valid
		s.NotRun = phrase.Plain(err)
		return lab.Measured{Why: s.NotRun}, nil
	}
	r := verdict.Analyze(contents.Header, contents.Trials)
	r.Folder, r.TrialsPlanned = below, max(r.TrialsPlanned, r.TrialsRun) // more, where blocks were added
	if p.Sweep != nil {
		_, unwritten = p.Sweep(below, r)
	}
	s.NotRun = "" // what an earlier look at a damaged journal left
	counted := contest.Count(contents.Header, contents.Trials).Trials
	m = lab.Measured{Result: r, Trials: counted}
	s.Count(m)
	return m, unwritten
}

// write writes the folder's index and its pages, if there are any, with the experiments in the
// documents' order.
func write(dir string, o *lab.Outcome, p Pages) error {
	o.Complete = true
	for _, e := range o.Experiments {
		o.Complete = o.Complete && e.Complete
	}
	order := map[string]int{}
	for i, e := range lab.List() {
		order[e.ID] = i
	}
	sorting.Stable(o.Experiments, func(a, b lab.Ran) int { return cmp.Compare(order[a.ID], order[b.ID]) })
	if p.Lab == nil {
		return nil
	}
	return cmp.Or(o.Write(dir), p.Lab(dir, o))
}
