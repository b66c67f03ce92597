// Package results is the results directory of a run as a reader has it: its journal, the
// verdict on that, and which of several directories is the newest.
package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/page"
)

// Journal is the file that makes a directory one of results.
const Journal = journal.Name

// Results are a directory and what its journal holds.
type Results struct {
	Dir string
	*journal.Contents
}

// Read reads the journal of a directory.
func Read(dir string) (*Results, error) {
	contents, err := journal.ReadDirectory(dir)
	if err != nil {
		return nil, err
	}
	return &Results{dir, contents}, nil
}

// Keep writes the journal of a live experiment that ran elsewhere, as one of what was asked for
// here. outcome is how it ended, as live.Outcome has it.
func Keep(dir string, text []byte, asked live.Header, quote func(string) string) (outcome, err error) {
	c, err := journal.Read(bytes.NewReader(text), "the journal from elsewhere")
	switch {
	case err != nil:
		return nil, err
	case c.End == nil:
		return nil, errors.New("the journal from elsewhere has no end: procfit was ended there")
	}
	made, err := folder.Make(dir)
	if err != nil {
		return nil, err
	}
	defer made.Close()
	c.Header.Name, c.Header.Spec = asked.Name, asked.Spec
	w, err := journal.Create(made, c.Header, quote)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	for _, t := range c.Trials {
		if err := w.Append(t); err != nil {
			return nil, err
		}
	}
	return live.Outcome(c.End, nil), w.AppendEnd(*c.End)
}

// Exist reports whether a directory has a journal.
func Exist(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, Journal))
	return err == nil
}

// Empty reports that there is nothing to report yet. A canary and a live experiment are
// reported even before their first slice.
func (r *Results) Empty() bool {
	return len(r.Trials) == 0 && r.Header.Canary == nil && r.Header.Live == nil
}

// Baseline is the results directory of the earlier sweep that procfit compare was given as OLD;
// empty: it was given none.
func (r *Results) Baseline() string {
	asked := r.Header.Spec
	if asked.Command != "compare" || len(asked.Operands) == 0 || len(r.Header.Target.Against) > 0 {
		return ""
	}
	if dir := asked.Operands[0]; filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(r.Header.Target.Directory, asked.Operands[0])
}

// Measured reports whether a trial can be used, pilots aside.
func (r *Results) Measured() bool {
	return slices.ContainsFunc(r.Trials, func(t journal.Trial) bool { return t.Valid && t.Role != journal.RolePilot })
}

// Failure is what is shown in place of a verdict; nil: there is one.
func (r *Results) Failure() *page.Failure { return page.NewFailure(r.Dir, r.Contents) }

// Verdict analyses the journal.
func (r *Results) Verdict() *verdict.Result {
	switch {
	case r.Header.Canary != nil:
		return canary.Analyze(r.Contents)
	case r.Header.Live != nil:
		return live.Analyze(r.Contents)
	}
	v := verdict.Analyze(r.Header, r.Trials, r.Slices...)
	v.Profile(r.Profiled)
	return v
}

// Earlier is the newest directory next to one whose run started before a time and can be
// compared with; empty: there is none.
func Earlier(dir string, before time.Time) string {
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil {
		return ""
	}
	type run struct {
		dir     string
		started time.Time
	}
	var list []run
	for _, e := range entries {
		one := filepath.Join(filepath.Dir(dir), e.Name())
		if at := startOf(one); one != dir && !at.IsZero() && at.Before(before) {
			list = append(list, run{one, at})
		}
	}
	sorting.Stable(list, func(a, b run) int { return b.started.Compare(a.started) })
	i := slices.IndexFunc(list, func(one run) bool {
		r, err := Read(one.dir)
		return err == nil && len(r.Trials) > 0 && r.Failure() == nil
	})
	if i < 0 {
		return ""
	}
	return list[i].dir
}

// mostHeader bounds what is read of a journal to know when its run started.
const mostHeader = 1 << 20

// startOf is when the run of a directory started; zero: that is not known.
func startOf(dir string) time.Time {
	file, err := folder.OpenRegular(filepath.Join(dir, Journal))
	if err != nil {
		return time.Time{}
	}
	defer file.Close()
	var header struct {
		Started time.Time `json:"started"`
	}
	if err := json.NewDecoder(io.LimitReader(file, mostHeader)).Decode(&header); err != nil {
		return time.Time{}
	}
	return header.Started
}

// Shown is what the trials of a value show of the program: a number for each phase that has
// requests.
type Shown struct {
	GoVersion string    // that ran; empty: not known
	Rates     []float64 // requests per second of all replicas
}

// Shown is that of one value of GOMAXPROCS.
func (r *Results) Shown(procs int) (s Shown) {
	for i := range r.Trials {
		t := &r.Trials[i]
		if !t.Valid || t.Role == journal.RolePilot || t.Setting.Variant != "" || len(t.ObservedProcs) == 0 || t.ObservedProcs[0] == nil || *t.ObservedProcs[0] != procs {
			continue
		}
		if t.ObservedGoVersion != "" {
			s.GoVersion = t.ObservedGoVersion
		}
		for _, p := range t.Phases {
			if p.Mode != journal.ModeBatch && p.AchievedPerSecond > 0 {
				s.Rates = append(s.Rates, p.AchievedPerSecond)
			}
		}
	}
	return s
}
