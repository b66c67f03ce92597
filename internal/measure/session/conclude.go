package session

import (
	"errors"
	"io/fs"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page/files"
)

// Outcome is what a journal came to.
type Outcome struct {
	Result *verdict.Result
	Trials []journal.Trial
	Files  []string // the reports that were written, the one to open first at the head
}

// Conclude reads what the journal of a session holds and writes its reports,
// whether or not the run came to its end, since a finished trial is never lost. The
// Result is nil where there is no trial; it stands even where it could not be
// written, or not be compared with the baseline.
func (s *Session) Conclude() (Outcome, error) {
	contents, err := journal.ReadDirectory(s.Dir)
	if err != nil {
		return Outcome{}, err
	}
	return Render(s.Dir, contents, s.baseline)
}

// SoFar is what the trials that the journal holds come to, while the session runs.
func (s *Session) SoFar() (*verdict.Result, error) {
	contents, err := journal.ReadDirectory(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return verdict.Analyze(s.Header, nil), nil
	}
	if err != nil {
		return nil, err
	}
	return verdict.Analyze(contents.Header, contents.Trials), nil
}

// Render analyses a journal and writes the reports into its folder.
func Render(dir string, contents *journal.Contents, baseline string) (Outcome, error) {
	o := Outcome{Trials: contents.Trials}
	if len(contents.Trials) == 0 {
		return o, nil
	}
	o.Result = verdict.Analyze(contents.Header, contents.Trials)
	o.Result.Folder = dir
	var refused error
	if baseline != "" {
		old, err := journal.ReadDirectory(baseline)
		if err == nil {
			o.Result.Gate, err = verdict.GateBaseline(verdict.Analyze(old.Header, old.Trials), o.Result)
		}
		refused = err
	}
	paths, err := files.Write(dir, o.Result)
	o.Files = paths
	return o, errors.Join(refused, err)
}
