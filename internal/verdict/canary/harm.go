package canary

import (
	"slices"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/paired"
)

// Next is what the slices so far lead to: the next slice of a round, or of the round after it
// where nothing of this one is open any longer, or the end. A query, a latency or a number of
// failed requests that is above the control's ends it; chance alone ends one canary in 100 at
// most, whatever the number of its settings and metrics.
func (h Header) Next(trials []journal.Trial) paired.Step {
	next, code := 0, journal.EndComplete
	if len(trials) > 0 {
		e := h.experiment(trials)
		if harm := e.rules.Harm(e.slices); harm != nil {
			return paired.Step{End: &journal.End{Code: journal.EndHarm, Harm: harm}}
		}
		next = trials[len(trials)-1].Block + 1
		round := (next - 1) / h.Slices()
		of := slices.IndexFunc(trials, func(t journal.Trial) bool { return t.Block/h.Slices() == round })
		if next-round*h.Slices() >= h.Patience() && Unreached(trials[of:]) {
			return paired.Step{End: &journal.End{Code: journal.EndUnreached}}
		}
		if next%h.Slices() != 0 && e.decided(round) {
			next, code = (round+1)*h.Slices(), journal.EndDecided
		}
	}
	if round := next / h.Slices(); round < len(h.Canary.Rounds) {
		return paired.Step{Block: next, Settings: h.Canary.Rounds[round : round+1], BurnIn: h.Warmup()}
	}
	return paired.Step{End: &journal.End{Code: code}}
}

func (e *experiment) decided(round int) bool {
	look := paired.Judge(e.rules, e.slices)
	return !slices.ContainsFunc(e.Canary.Rounds[round], func(s journal.Setting) bool {
		i := e.rules.Value(s)
		return i > 0 && !look.Values[i-1].Decided()
	})
}

// UnreadyMost is how long a pod may not be ready.
const UnreadyMost = 10 * time.Second

// Condition is one pod as it is.
type Condition struct {
	Setting, Pod string
	Ended        string // how a container ended; empty: all run, for the first time
	Taken        string // by whom the pod was taken away; empty: it is there
	Ready        bool
	Detail       string // what it says of not being ready
}

// Watch looks for harm in what pods are from time to time.
type Watch struct{ unready map[string]time.Time }

// See is how the pods end the canary; nil: they do not. A pod that was taken away is none of
// its setting's doing.
func (w *Watch) See(now time.Time, list []Condition) *journal.End {
	if w.unready == nil {
		w.unready = map[string]time.Time{}
	}
	for _, c := range list {
		harm := journal.Harm{Setting: c.Setting, Pod: c.Pod}
		switch {
		case c.Taken != "":
			return &journal.End{Code: journal.EndTaken, Reason: c.Taken}
		case c.Ended != "":
			harm.Code, harm.Detail = journal.HarmEnded, c.Ended
			return &journal.End{Code: journal.EndHarm, Harm: &harm}
		case c.Ready:
			delete(w.unready, c.Pod)
			continue
		}
		since, ok := w.unready[c.Pod]
		if !ok {
			w.unready[c.Pod] = now
		} else if now.Sub(since) >= UnreadyMost {
			harm.Code, harm.Detail = journal.HarmUnready, c.Detail
			return &journal.End{Code: journal.EndHarm, Harm: &harm}
		}
	}
	return nil
}
