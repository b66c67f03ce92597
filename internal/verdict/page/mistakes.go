package page

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict"
)

// mistakes are the ten that are made most, each looked for in the data.
func (g *group) mistakes() document.Checks {
	return g.answers([]question{
		{"A magic number", (*group).magicNumber}, {"GOMAXPROCS above the number of CPUs, for I/O", (*group).moreForIO}, {"Tuned here, deployed elsewhere", (*group).otherMachine},
		{"Load generator on the same machine", (*group).sameMachine}, {"A single run", (*group).singleRun}, {"Ignoring p99", (*group).p99Ignored},
		{"Tuning before profiling", (*group).profileFirst}, {"A forgotten runtime.GOMAXPROCS call", (*group).leftInCode}, {"Mixing the variable and the call", (*group).envAndCall},
		{"Not logging the value at startup", (*group).notLogged},
	})
}

func (g *group) magicNumber() (state document.Tone, answer, detail string) {
	if v := g.Recommendation; v.Verdict == verdict.Undecided || v.Verdict == "" || v.Confidence == verdict.Likely {
		return document.Attention, "careful", "nothing was proven: a value chosen from these curves would be a magic number"
	}
	return document.OK, "avoided", "every value recommended here was measured with this program"
}

func (g *group) moreForIO() (state document.Tone, answer, detail string) {
	b, cpus := g.Beyond, number.CPUs(g.EffectiveCPUs)
	if b == nil {
		return document.Unknown, "unknown", "settings above and below " + cpus + " were not both compared"
	}
	return document.OK, "measured", fmt.Sprintf("the best above %s: %s, %s compared with the best up to that", cpus, g.settingText(b.Setting), change(b.Ratio))
}

func (g *group) otherMachine() (state document.Tone, answer, detail string) {
	return document.Unknown, "for you to judge", "the result holds for " + number.CPUs(g.EffectiveCPUs) + " of this machine; on another machine, measure again"
}

func (g *group) sameMachine() (state document.Tone, answer, detail string) {
	switch {
	case g.LatencyMode == "" && g.r.Target.Kind != "server":
		return document.OK, "avoided", "no load generator: the program runs its own work"
	case g.r.Load.Tunnelled():
		return document.Unknown, "unknown", "the load came through the API server, from a machine that procfit did not compare with the nodes"
	case !g.r.Load.OnTargetHost():
		return document.OK, "avoided", "the load generator ran on another machine"
	case !g.r.SharedCPUs:
		return document.OK, "avoided", "on the same machine, each on its own CPUs"
	}
	detail = "both shared the CPUs"
	if a := g.row(g.Peak); a != nil && a.Evidence.LoadCPUs != nil && a.Evidence.CPUs != nil {
		detail += fmt.Sprintf("; at %s the load generator used %s, the target %s", settingName(a), number.CPUsUsed(*a.Evidence.LoadCPUs), number.CPUsUsed(*a.Evidence.CPUs))
	}
	return document.Attention, "made", detail
}

func (g *group) singleRun() (state document.Tone, answer, detail string) {
	if state, _, detail = g.enough(); state != document.OK {
		return document.Attention, "careful", detail
	}
	return document.OK, "avoided", detail
}

func (g *group) p99Ignored() (state document.Tone, answer, detail string) {
	if endsByItself(g.r.Target) {
		return document.OK, "avoided", "the program answers no requests, so it has no p99"
	}
	if g.LatencyMode != "open" || g.Latency.Quantile == 0 {
		return document.Attention, "careful", "no latency was judged"
	}
	if g.Recommendation.Verdict == verdict.Undecided && g.r.Gate == nil {
		return document.Attention, "careful", g.Latency.Name() + " was measured, but procfit could not reach a verdict"
	}
	return document.OK, "avoided", g.Latency.Name() + " is judged, in the latency phase, " + g.counted()
}

func (g *group) profileFirst() (state document.Tone, answer, detail string) {
	u := g.Workload.CPUUtilisation
	if len(profileOf(g.r)) > 0 {
		return document.OK, "profiled", "see Profiles"
	}
	switch {
	case g.Recommendation.Verdict == verdict.NoDifference:
		return document.Attention, "profile first", "all settings perform the same: GOMAXPROCS does not limit this program"
	case g.Workload.TooFewCPUs:
		detail = "the kind of work is unknown: " + g.words.others()
	case u == nil:
		detail = "CPU use could not be read"
	default:
		detail = fmt.Sprintf("%s: %s of its CPUs used at %s", g.Workload.Kind, number.Ratio().Number(*u), g.settingText(g.Workload.Setting))
		if g.Workload.Kind == "io-bound" {
			detail += "; it is more likely limited by what it waits for than by GOMAXPROCS"
		}
	}
	return document.Unknown, "for you to judge", detail
}

// leftInCode and envAndCall rest on the same evidence: a call of
// runtime.GOMAXPROCS in the program would have overridden what the settings set.
func (g *group) leftInCode() (state document.Tone, answer, detail string) {
	switch o := g.Override; {
	case o.Ran > 0:
		return document.Attention, "made", fmt.Sprintf("requested %d, ran with %d: the program overrides GOMAXPROCS", o.Asked, o.Ran)
	case o.Changed:
		return document.Attention, "made", "the value changed during a trial: the program overrides GOMAXPROCS"
	case !o.Known:
		return document.Unknown, "unknown", "the value in use could not be read with every setting"
	}
	return document.OK, "avoided", "every setting ran with the requested value"
}

func (g *group) envAndCall() (state document.Tone, answer, detail string) {
	if state, answer, detail = g.leftInCode(); state == document.OK {
		detail = "no call overrode the variable"
	}
	return state, answer, detail
}

func (g *group) notLogged() (state document.Tone, answer, detail string) {
	const fix = ": log runtime.GOMAXPROCS(0) at startup, and alert if it differs"
	switch {
	case g.ProcsLogged == nil:
		return document.Unknown, "unknown", "procfit did not read its output" + fix
	case *g.ProcsLogged:
		return document.OK, "avoided", "its output in logs/ names GOMAXPROCS"
	}
	return document.Attention, "made", "the beginning of its output in logs/ does not name GOMAXPROCS" + fix
}
