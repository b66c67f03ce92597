package trial

import (
	"cmp"
	"fmt"

	"github.com/procfit/procfit/internal/measure/trial/foreign"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// JudgeAnswers says whether so few requests failed that the others count. Requests that
// were never answered are failures too, and each of them holds its place to the end:
// places, plan.Load.Places, is how many requests can be under way at once. Every phase is
// judged by itself, and in it each replica and each request of a mix: the many good answers
// of one would hide the failures of another, which are fast and make its latency look good.
func JudgeAnswers(t *journal.Trial, maxErrors float64, places int) error {
	if len(t.Phases) == 0 {
		return Invalid(journal.InvalidNoAnswer, "no request was answered: the reason is unknown")
	}
	for i := range t.Phases {
		if t.Attained != nil && i > 0 {
			break // what fails at a rate that is searched for is the rate's
		}
		if err := judgePhase(t, &t.Phases[i], maxErrors, places); err != nil {
			return err
		}
	}
	return nil
}

func judgePhase(t *journal.Trial, p *journal.Phase, maxErrors float64, places int) error {
	in := ""
	if len(t.Phases) > 1 {
		in = " in the " + phaseName(string(p.Mode))
	}
	usage, busy := &t.Usage, ""
	if p.Usage != nil {
		usage = p.Usage
	}
	if share := contest.Others(usage); contest.AtLeast(share, contest.CrowdedFrom) {
		busy = fmt.Sprintf("; other programs used %.0f%% of the CPU time: stop them, or measure on a quieter machine", 100**share)
	}
	if p.Requests == 0 {
		return Invalid(journal.InvalidNoAnswer, "no request was answered%s: %s%s", in, whyFailed(p), busy)
	}
	var dropped int64 // the load's cost has those of its open loop
	if t.Load != nil && p.Mode == journal.ModeOpen {
		dropped = t.Load.Dropped
	}
	if failing := TooMany(p, dropped, maxErrors); failing != "" {
		return Invalid(journal.InvalidErrors, "%s%s (%s), more than --max-errors %g%% allows%s", failing, in, whyFailed(p), 100*maxErrors, busy)
	}
	if hang := Hanging(p, maxErrors, places); hang != "" {
		return Invalid(journal.InvalidErrors, "%s%s, more than --max-errors %g%% allows%s", hang, in, 100*maxErrors, busy)
	}
	return nil
}

// Hanging says how many connections got no answers any more, if that is a greater share than most of
// all, or of those to a replica; else it is empty. The many good answers before would hide them
// among the requests. places is how many requests can be under way at once.
func Hanging(p *journal.Phase, most float64, places int) string {
	share := func(waiting int64, of int) float64 { return float64(waiting) / float64(max(1, of)) }
	words := func(waiting int64, of int, who string) string {
		return fmt.Sprintf("%d of %d connections%s got no answers any more", waiting, max(1, of), who)
	}
	if share(p.Hanging, places) > most {
		return words(p.Hanging, places, "")
	}
	for i, r := range p.ByReplica {
		if of := places / len(p.ByReplica); r.Hanging > 1 && share(r.Hanging, of) > most {
			return words(r.Hanging, of, " to "+Replica(i, len(p.ByReplica)))
		}
	}
	return ""
}

// Failed is how many requests of a phase failed. A connection that failed with no request on it,
// as it was opened say, is no request. In an open loop it counts only as far as requests were
// never sent: dropped of them. In a closed loop it stands for the request that its place could
// not send.
func Failed(p *journal.Phase, dropped int64) int64 {
	if p.Mode != journal.ModeOpen {
		return p.Errors
	}
	return p.Errors - p.FailedConnections + min(p.FailedConnections, dropped)
}

// TooMany says of which requests of a phase a greater share than most failed or was never
// answered: of all, those to one replica, or one request of a mix; empty: of none. A single failure is judged only among all requests of the phase:
// it would be a great share of a request that is rarely sent. The connections to a replica that
// failed with no request on them count as far as it answered less than its part.
func TooMany(p *journal.Phase, dropped int64, most float64) string {
	judge := func(which string, answered, failed, unanswered int64) string {
		bad := failed + unanswered
		share := float64(bad) / float64(max(1, answered+unanswered, bad))
		if share <= most || which != "" && bad < 2 {
			return ""
		}
		return fmt.Sprintf("%.3g%% of the requests%s failed", 100*share, which)
	}
	all := Failed(p, dropped)
	failing := judge("", p.Requests, all, p.Hanging)
	for i, r := range p.ByReplica {
		short := max(0, p.Requests/int64(len(p.ByReplica))-r.Requests)
		failing = cmp.Or(failing, judge(" to "+Replica(i, len(p.ByReplica)), r.Requests, min(r.Errors, all+short), r.Hanging))
	}
	for _, r := range p.ByRequest {
		failing = cmp.Or(failing, judge(" "+r.Name, r.Requests, r.Errors, r.Hanging))
	}
	return failing
}

// Replica is a copy of the target as a message names it.
func Replica(i, of int) string {
	if of == 1 {
		return "the target"
	}
	return fmt.Sprintf("replica %d of %d", i+1, of)
}

func whyFailed(p *journal.Phase) string {
	why := mostOften(p.ErrorKinds)
	switch {
	case p.Hanging == 0:
		return cmp.Or(why, "the reason is unknown")
	case why != "":
		why += ", "
	}
	return why + fmt.Sprintf("%d never answered", p.Hanging)
}

// Late reports that the latency of a run of procfit's own load is mostly the load
// generator's, because that was late to send.
func Late(o *foreign.Offered) bool {
	return contest.Late(&journal.Trial{LatencySeconds: o.LatencySeconds, Load: &o.Load})
}
