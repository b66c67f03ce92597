package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

func (w words) title() string {
	t := "No CPU limit"
	if w.QuotaCPUs != nil {
		t = "Limit " + number.CPUs(*w.QuotaCPUs)
		if w.Replicas > 1 {
			t += " each"
		}
	}
	if w.Replicas > 1 {
		t += ", " + phrase.Count(w.Replicas, "replica")
	}
	if w.GoVersion != "" {
		t += ", Go " + goVersion(w.GoVersion)
	}
	if names := variablesOf(w.Group); names != "" && w.Compares == "" {
		t = strings.TrimSuffix("GOMAXPROCS with "+names+" · "+t, " · No CPU limit")
	}
	return t
}

func (w words) context(sure string) string {
	origin := phrase.If(w.Origin != journal.OriginLocal, originWords(w.Origin), "")
	return phrase.Join(" · ", append(append([]string{sure}, w.on()...), w.trialsUsed(), origin)...)
}

func (w words) on() (parts []string) {
	if p := w.Part; p != nil {
		parts = append(parts, fmt.Sprintf("%d of %s", p.CPUs, number.CPUs(float64(p.Of))))
	} else if w.QuotaCPUs == nil || *w.QuotaCPUs != w.EffectiveCPUs {
		parts = append(parts, number.CPUs(w.EffectiveCPUs))
	}
	if w.QuotaCPUs != nil {
		parts = append(parts, "limit "+number.CPUs(*w.QuotaCPUs))
	} else if l := w.LimitAround; l != nil {
		parts = append(parts, "limit of "+number.CPUs(l.CPUs)+" on the parent cgroup "+groupName(l.Group))
	} else if w.r.Host.LimitsUnknown {
		parts = append(parts, noKnownLimit)
	} else {
		parts = append(parts, "no CPU limit")
	}
	if w.Replicas > 1 {
		parts = append(parts, phrase.Count(w.Replicas, "replica"))
	}
	if v := w.goVersion(); v != "" {
		parts = append(parts, "Go "+v)
	}
	return parts
}

// noKnownLimit is what is known where a limit may not have been read.
const noKnownLimit = "no known CPU limit"

// trialsUsed leaves out those in which the machine was slow or other programs took its CPUs.
func (w words) trialsUsed() string {
	if w.Race == nil {
		n := 0
		for i := range w.Settings {
			n += w.Settings[i].Trials
		}
		return phrase.Count(n, "trial")
	}
	text := phrase.Count(w.Race.Trials, "trial")
	if out := w.Others.LeftOut + w.Others.Slow; out > 0 && out <= w.Race.Trials {
		text += fmt.Sprintf(", %d of them used", w.Race.Trials-out)
	}
	return text
}

func (w words) goVersion() string { return goVersion(cmp.Or(w.GoVersion, w.r.Target.GoVersion)) }

func goVersion(s string) string { return strings.TrimPrefix(s, "go") }

// How sure an answer is, next to notProven.
const (
	provenSure    = "Proven at 95%"
	nothingProven = "Nothing proven"
)

func groupName(group string) string { return phrase.Clip(group, 2*nameRoom) }

var origins = map[journal.Origin]string{
	"": "", journal.OriginLocal: "measured here", journal.OriginKube: "measured in Kubernetes",
	journal.OriginLive: "measured in the running process, by itself", verdict.OriginMixed: "not all measured in the same way",
}

func originWords(o journal.Origin) string {
	if text, known := origins[o]; known {
		return text
	}
	return "from " + string(o)
}

// titleFrom is a metric's title with where it comes from, unless that is this machine.
func titleFrom(title string, o journal.Origin) string {
	return phrase.Join(", ", title, phrase.If(o == journal.OriginLocal, "", originWords(o)))
}

// variablesOf are those of a group: "GOGC=100, GOMEMLIMIT=off"; empty: it has none.
func variablesOf(g *verdict.Group) string {
	return strings.Join(phrase.Each(g.Variables, journal.Variable.String), ", ")
}

type groupAxis struct {
	name string
	of   func(*verdict.Group) string
}

// apartBy is what a run's groups do differ in.
func apartBy(r *verdict.Result) []groupAxis {
	all := []groupAxis{
		{"the Go version", func(g *verdict.Group) string {
			if g.GoVersion == "" {
				return ""
			}
			return "Go " + goVersion(g.GoVersion)
		}},
		{"the CPU limit", func(g *verdict.Group) string {
			if g.QuotaCPUs == nil {
				return "no limit"
			}
			return number.CPUs(*g.QuotaCPUs)
		}},
		{"the number of replicas", func(g *verdict.Group) string { return phrase.Count(max(1, g.Replicas), "replica") }},
	}
	return slices.DeleteFunc(all, func(a groupAxis) bool {
		return !slices.ContainsFunc(r.Groups, func(g verdict.Group) bool { return a.of(&g) != a.of(&r.Groups[0]) })
	})
}

// groupKey is what distinguishes a group from the others, and no more: "0.5 CPUs".
func groupKey(r *verdict.Result, i int) string {
	parts := phrase.Each(apartBy(r), func(a groupAxis) string { return a.of(&r.Groups[i]) })
	return cmp.Or(phrase.Join(", ", parts...), "group "+strconv.Itoa(i+1))
}
