package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Open makes the results folder, or takes over what an earlier run of experiments
// left in it, and keeps others from it until what it returns is closed. A
// *session.Refusal is that the user is to choose another.
func (r *Run) Open(on Events) (io.Closer, error) {
	entries, err := os.ReadDir(r.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, refuse("--out: %w; choose a directory", err)
	}
	if len(entries) == 0 {
		made, err := folder.Make(r.Dir)
		if err != nil {
			return nil, fmt.Errorf("cannot make the results directory: %w; choose another with --out", err)
		}
		made.Close()
	}
	held, err := journal.LockDirectory(r.Dir)
	if err != nil {
		return nil, refuse("--out: %w", err)
	}
	if len(entries) > 0 {
		err = r.takeOver(entries, on.orNot())
	}
	if err == nil {
		err = r.Write()
	}
	if err != nil {
		held.Close()
		return nil, err
	}
	return held, nil
}

func refuse(format string, args ...any) error {
	return &session.Refusal{Err: fmt.Errorf(format, args...)}
}

// ours reports whether there is nothing but what lab runs write.
func ours(entries []os.DirEntry) bool {
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		_, err := lab.Find(e.Name())
		return err != nil && !slices.Contains([]string{"index.html", "RESULTS.md", lab.OutcomeName}, e.Name())
	})
}

// takeOver starts with what an earlier run came to. Its index may be lost; the
// journals are found by the experiments' ids.
func (r *Run) takeOver(entries []os.DirEntry, on Events) error {
	earlier, err := lab.ReadOutcome(r.Dir)
	damaged := (*json.SyntaxError)(nil)
	switch {
	case err == nil:
	case !errors.Is(err, os.ErrNotExist) && !errors.As(err, &damaged):
		return err
	case !ours(entries):
		return refuse("--out %s holds other files and no %s: choose a new or an empty directory", r.Dir, lab.OutcomeName)
	default:
		on.Remade(err)
		return nil
	}
	if !session.SameHost(earlier.Host, r.Outcome.Host) {
		return refuse("--out %s holds a run of another machine: choose another directory", r.Dir)
	}
	r.Outcome.Started = earlier.Started
	for _, e := range earlier.Experiments {
		if err := conclude(r.Dir, &e, r.Outcome.Host.EffectiveCPUs, r.options.Pages); err != nil {
			return err
		}
		r.Outcome.Experiments = append(r.Outcome.Experiments, e)
	}
	return nil
}
