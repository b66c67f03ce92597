package local

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// sliced is a runner of a lessee, and what runs a slice of it.
func sliced(t *testing.T, mode string) (*runner, func(ctx context.Context, n int) (journal.Trial, error)) {
	t.Helper()
	if !steer.Supported {
		t.Skip("no program can be called here")
	}
	spec := overheadSpec(t)
	spec.Target.Command = []string{spec.Target.Command[0], lesseeArgument, "127.0.0.1:" + plan.PortPlaceholder, mode}
	spec.Target.Grace = time.Second
	r := prepared(t, spec, Config{}, unset).(*runner)
	return r, func(ctx context.Context, n int) (journal.Trial, error) {
		a := journal.Setting{Label: journal.LabelOf(&n), Procs: &n, Replicas: 1}
		return answered(ctx, r, plan.Task{Setting: a, Role: journal.RoleSlice, OneStart: true}, nil)
	}
}

// Values are set one after the other in one process, by one lease where the program allows that. What
// it refuses ends the start.
func TestSlicesOfOneStart(t *testing.T) {
	t.Parallel()
	for mode, refused := range map[string]string{"up to 8": "", "calls": "", "refuses": "it is the leader"} {
		r, slice := sliced(t, mode)
		seen := map[int]bool{}
		for _, n := range []int{3, 1, 4} {
			trial, err := slice(t.Context(), n)
			if refused != "" {
				if err != nil || trial.InvalidCode != journal.InvalidNotSet || !strings.Contains(trial.InvalidReason, refused) || r.one != nil {
					t.Errorf("%s: %v, %s %q", mode, err, trial.InvalidCode, trial.InvalidReason)
				}
				continue
			}
			if err != nil || !trial.Valid || *trial.ObservedProcs[0] != n || len(trial.Phases) != 1 {
				t.Fatalf("%s: %d: %v, %s %q", mode, n, err, trial.InvalidCode, trial.InvalidReason)
			}
			seen[r.one.fleet[0].program] = true
		}
		if refused == "" && len(seen) > 2 { // two where a slice was repeated
			t.Errorf("%s: %d processes had three slices", mode, len(seen))
		}
	}
}

// A target that dies makes its slice invalid, and the next slice starts another one. A target that
// does not answer while its value is set is ended with the run.
func TestSlicesWhoseTargetIsLost(t *testing.T) {
	t.Parallel()
	r, slice := sliced(t, "up to 8")
	var ended []int
	lose := func(s syscall.Signal) {
		t.Helper()
		if trial, err := slice(t.Context(), 2); err != nil || !trial.Valid {
			t.Fatalf("%v, %s %q", err, trial.InvalidCode, trial.InvalidReason)
		}
		one := r.one.fleet[0]
		ended = append(ended, one.program)
		must.OK(t, syscall.Kill(one.program, s))
		if s == syscall.SIGKILL {
			<-one.Done()
		}
	}
	lose(syscall.SIGKILL)
	if trial, err := slice(t.Context(), 3); err != nil || trial.Valid || !strings.Contains(trial.InvalidReason, "killed by SIGKILL") || r.one != nil {
		t.Errorf("%v, %s %q", err, trial.InvalidCode, trial.InvalidReason)
	}
	lose(syscall.SIGSTOP)
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	if trial, err := slice(ctx, 3); !errors.Is(err, context.DeadlineExceeded) || r.one != nil {
		t.Errorf("%v, %s %q", err, trial.InvalidCode, trial.InvalidReason)
	}
	for _, pid := range slices.Compact(ended) {
		if _, err := os.Stat("/proc/" + journal.LabelOf(&pid)); err == nil {
			t.Errorf("process %d is left", pid)
		}
	}
}
