package page

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// mistakes are the ten that are made most, each looked for in the data.
func (g *group) mistakes() []document.Check {
	list := []document.Check{
		g.magicNumber(), g.moreForIO(), g.otherMachine(), g.sameMachine(), g.singleRun(),
		g.p99Ignored(), g.profileFirst(), g.leftInCode(), g.envAndCall(), g.notLogged(),
	}
	for i := range list {
		list[i].Number = i + 1
	}
	return list
}

func (g *group) magicNumber() document.Check {
	c := document.Check{Question: "A magic number", State: document.OK, Answer: "avoided", Detail: "every value recommended here was " + g.made() + " with this program"}
	if g.Origin == journal.OriginSim {
		c.State, c.Answer, c.Detail = document.Attention, "careful", "every value recommended here is simulated: measure it"
	} else if v := g.Recommendation; v.Verdict == verdict.CannotTell || v.Verdict == "" || v.Confidence == verdict.Likely {
		c.State, c.Answer, c.Detail = document.Attention, "careful", "nothing was proven: a value chosen from these curves would be a magic number"
	}
	return c
}

func (g *group) moreForIO() document.Check {
	c := document.Check{Question: "GOMAXPROCS above the number of CPUs, for I/O", State: document.Unknown, Answer: "unknown"}
	b := g.Beyond
	if b == nil {
		c.Detail = "no settings both above and below " + number.CPUs(g.EffectiveCPUs)
		return c
	}
	c.State, c.Answer = document.OK, "measured"
	c.Detail = fmt.Sprintf("the best above %s: %s, %s compared with the best up to that", number.CPUs(g.EffectiveCPUs), g.settingText(b.Setting), change(b.Ratio))
	return c
}

func (g *group) otherMachine() document.Check {
	return document.Check{Question: "Tuned here, deployed elsewhere", State: document.Unknown, Answer: "only you know",
		Detail: "the result holds for " + number.CPUs(g.EffectiveCPUs) + " of this machine; on another machine, measure again"}
}

func (g *group) sameMachine() document.Check {
	c := document.Check{Question: "Load generator on the same machine", State: document.OK, Answer: "avoided"}
	if g.LatencyMode == "" && g.r.Target.Kind != "server" {
		c.Detail = "no load generator: the program runs its own work"
		return c
	}
	if !g.r.Load.OnTargetHost() {
		c.Detail = "the load generator ran on another machine"
		return c
	}
	if !g.r.SharedCPUs {
		c.Detail = "on the same machine, each on its own CPUs"
		return c
	}
	c.State, c.Answer, c.Detail = document.Attention, "made", "both shared the CPUs"
	if a := g.row(g.Peak); a != nil && a.Evidence.LoadCPUs != nil && a.Evidence.CPUs != nil {
		c.Detail += fmt.Sprintf("; at %s the load generator used %s, the target %s", settingName(a), number.CPUs(number.Round(*a.Evidence.LoadCPUs, 2)), number.CPUs(number.Round(*a.Evidence.CPUs, 2)))
	}
	return c
}

func (g *group) singleRun() document.Check {
	e := g.enough()
	c := document.Check{Question: "A single run", State: document.OK, Answer: "avoided", Detail: e.Detail}
	if e.State != document.OK {
		c.State, c.Answer = document.Attention, "careful"
	}
	return c
}

func (g *group) p99Ignored() document.Check {
	c := document.Check{Question: "Ignoring p99", State: document.OK, Answer: "avoided", Detail: g.Latency.Name() + " is judged, in the latency phase, " + g.counted()}
	if g.LatencyMode != "open" || g.Latency.Quantile == 0 {
		c.State, c.Answer, c.Detail = document.Attention, "careful", "no latency was judged"
	}
	return c
}

func (g *group) profileFirst() document.Check {
	c := document.Check{Question: "Tuning before profiling", State: document.Unknown, Answer: "only you know"}
	if g.Recommendation.Verdict == verdict.NotYourKnob {
		c.State, c.Answer, c.Detail = document.Attention, "profile first", "all settings perform the same: GOMAXPROCS does not limit this program"
		return c
	}
	if g.Workload.Withheld {
		c.Detail = "the kind of work is unknown: " + words{g.Group, g.r}.others()
		return c
	}
	if u := g.Workload.CPUUtilisation; u != nil {
		c.Detail = fmt.Sprintf("%s: %s of its CPUs used at %s", phrase.Clean(g.Workload.Kind), number.Ratio().Number(*u), g.settingText(g.Workload.Setting))
		if g.Workload.Kind == "io-bound" {
			c.Detail += "; it is more likely limited by what it waits for than by GOMAXPROCS"
		}
		return c
	}
	c.Detail = "CPU use could not be read"
	return c
}

// leftInCode and envAndCall rest on the same evidence: a call of
// runtime.GOMAXPROCS in the program would have overridden what the settings set.
func (g *group) leftInCode() document.Check {
	c := document.Check{Question: "A forgotten runtime.GOMAXPROCS call", State: document.Unknown, Answer: "unknown", Detail: "the value in use could not be read with every setting"}
	switch o := g.Override; {
	case o.Ran > 0:
		c.State, c.Answer = document.Attention, "made"
		c.Detail = fmt.Sprintf("requested %d, ran with %d: the program overrides GOMAXPROCS", o.Asked, o.Ran)
		return c
	case o.Changed:
		c.State, c.Answer, c.Detail = document.Attention, "made", "the value changed during a trial: the program overrides GOMAXPROCS"
		return c
	case !o.Known:
		return c
	}
	c.State, c.Answer, c.Detail = document.OK, "avoided", "every setting ran with the requested value"
	return c
}

func (g *group) envAndCall() document.Check {
	c := g.leftInCode()
	c.Question = "Mixing the variable and the call"
	if c.State == document.OK {
		c.Detail = "no call overrode the variable"
	}
	return c
}

func (g *group) notLogged() document.Check {
	c := document.Check{Question: "Not logging the value at startup", State: document.Unknown, Answer: "unknown"}
	const fix = "log runtime.GOMAXPROCS(0) at startup, and alert if it differs"
	switch {
	case g.ProcsLogged == nil:
		c.Detail = "procfit did not read its output: " + fix
	case *g.ProcsLogged:
		c.State, c.Answer, c.Detail = document.OK, "avoided", "its output in logs/ names GOMAXPROCS"
	default:
		c.State, c.Answer, c.Detail = document.Attention, "made", "the beginning of its output in logs/ does not name GOMAXPROCS: "+fix
	}
	return c
}

// settingText is a setting's name, given its label.
func (g *group) settingText(label string) string {
	if a := g.setting(label); a != nil {
		return settingName(a)
	}
	return phrase.Clip(phrase.Clean(label), nameRoom)
}
