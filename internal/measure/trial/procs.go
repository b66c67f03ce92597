package trial

import (
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Reading is what was read of one replica's live program.
type Reading struct {
	Procs      int
	Source     string // symbol, decoded
	GoVersion  string
	MainModule string
	Err        error // why Procs could not be read
	NoGo       bool  // no Go program is among its processes
}

// judgeProcs records what the target ran at and says whether that is what the arm wants.
// before is from after the warm-up, after from before the stop; it may be nil.
func judgeProcs(t *journal.Trial, before, after []Reading) error {
	t.ObservedProcs = make([]*int, len(before))
	want := t.Arm.Procs
	for i, now := range before {
		switch {
		case now.NoGo:
			warn(t, journal.Warning{Code: journal.WarnNoGo})
			continue
		case now.Err != nil:
			warn(t, journal.Warning{Code: journal.WarnProcsUnproven, Detail: now.Err.Error()})
			continue
		}
		t.ObservedProcs[i] = &now.Procs
		t.ObservedSource, t.ObservedGoVersion, t.ObservedMainModule = now.Source, now.GoVersion, now.MainModule
		if want != nil && now.Procs != *want {
			return Invalid(journal.InvalidProcs, "the target ran at GOMAXPROCS=%d, not at %d: it does not take the value from the environment (a call of runtime.GOMAXPROCS, automaxprocs, or a wrapper that clears the environment)", now.Procs, *want)
		}
		if i >= len(after) || after[i].Err != nil || after[i].NoGo || after[i].Procs == now.Procs {
			continue
		}
		if want != nil {
			return Invalid(journal.InvalidProcsChanged, "the target changed its GOMAXPROCS from %d to %d during the trial", now.Procs, after[i].Procs)
		}
		warn(t, journal.Warning{Code: journal.WarnProcsChanged, From: &now.Procs, To: &after[i].Procs})
	}
	return nil
}
