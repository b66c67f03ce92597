package local

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/trial"
)

type log struct {
	file *os.File
	errs *os.File // what the program writes to stderr, apart; nil: that is in file too
	path string   // in the results folder
	from int64    // where the last run's output starts
	keep int64    // what must stay when the file has grown too long: the first run's
}

// makeLogs makes a log for each replica; suffix sets several of one trial apart. What a test
// binary writes to stderr has one of its own: the results of its benchmarks are on stdout,
// and must not be lost where their code logs more than is kept. --metric looks in both.
func (r *run) makeLogs(replicas int, suffix string) (list []*log, err error) {
	for i := range replicas {
		name := r.LogName(i) + suffix + ".log"
		l := &log{}
		if l.file, l.path, err = r.config.CreateLog(name); err != nil {
			closeLogs(list)
			return nil, fmt.Errorf("log: %w", err)
		}
		list = append(list, l)
		if suffix != "" || !r.programs[programOf(r.Setting)].test || len(r.spec.Load.Metrics) > 0 {
			continue
		}
		if l.errs, _, err = r.config.CreateLog(r.LogName(i) + ".stderr.log"); err != nil {
			closeLogs(list)
			return nil, fmt.Errorf("log: %w", err)
		}
	}
	return list, nil
}

func closeLogs(list []*log) {
	for _, l := range list {
		l.file.Close()
		if l.errs != nil {
			l.errs.Close()
		}
	}
}

// next makes room for another run: of many that print much, the first and the last are kept.
func (l *log) next() error {
	end, err := l.file.Seek(0, io.SeekEnd)
	if l.keep == 0 {
		l.keep = end
	}
	if err == nil {
		l.from, err = shorten(l.file, l.keep)
	}
	if err == nil && l.errs != nil {
		_, err = shorten(l.errs, 0)
	}
	return err
}

// shorten leaves of a file that has grown too long its beginning. It is written to at its end.
func shorten(f *os.File, keep int64) (end int64, err error) {
	if end, err = f.Seek(0, io.SeekEnd); err != nil || end <= trial.LogLimit+keep {
		return end, err
	}
	if err := f.Truncate(keep); err != nil {
		return end, err
	}
	return f.Seek(0, io.SeekEnd)
}

func (l *log) output(exit supervisor.Exit) (load.Output, error) {
	info, err := l.file.Stat()
	if err != nil {
		return load.Output{}, err
	}
	if info.Size() < l.from {
		return load.Output{}, &unkept{l.file.Name() + ": something shortened this file during the run", "find out what truncates the logs of the results folder, and stop it"}
	}
	all := make([]byte, info.Size()-l.from)
	n, err := l.file.ReadAt(all, l.from)
	if err != nil && !errors.Is(err, io.EOF) {
		return load.Output{}, err
	}
	head, tail, cut := supervisor.Parts(all[:n], exit)
	return load.Output{Head: head, Cut: cut, Tail: tail}, nil
}

// unkept is that a program's output is not in its log, because of a lack of space as a rule.
// Figures come from there, and so does why a program failed:
// without it there is no trial, not an invalid one, which would stay so when there
// is space again.
type unkept struct {
	why string
	do  string // against it; empty: there must be space
}

func (e *unkept) Unkept() bool { return true }

func (e *unkept) Error() string {
	return "the output of a trial could not be saved: " + e.why + "; " + cmp.Or(e.do, "free some space there") + ", then run the same command with the same --out to continue"
}

// kept is nil when all the output is in the log that was to have it.
func (l *log) kept(exit supervisor.Exit) error {
	if exit.LogError == "" {
		return nil
	}
	return &unkept{why: l.file.Name() + ": " + exit.LogError}
}
