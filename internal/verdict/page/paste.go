package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
)

// paste is what to put where, by the verdict.
func (g *group) paste() Paste {
	if g.gateAlone {
		return Paste{Lead: "Nothing to set: the gate compares two programs, not values of GOMAXPROCS."}
	}
	rec := g.Recommendation
	if rec.Confidence == verdict.Likely {
		return g.likelyPaste()
	}
	switch rec.Verdict {
	case verdict.Recommended, verdict.CarriesRate:
		if rec.Procs != nil {
			return Paste{Lead: g.onPart() + "Use one of the following:", Snippets: g.snippets(*rec.Procs)}
		}
		return Paste{Lead: "Nothing to set: leave GOMAXPROCS unset, and remove it where it is set."}
	case verdict.Measured:
		return Paste{Lead: "Nothing to set: procfit measured the server as it runs and compared nothing."}
	case verdict.KeepDefault:
		return Paste{Lead: "Nothing to set: keep the default. Where GOMAXPROCS is set, remove it."}
	case verdict.NotYourKnob:
		return Paste{Lead: "Nothing to set: GOMAXPROCS makes no difference here. Leave it unset and profile the program."}
	case verdict.TradeOff:
		p := Paste{Lead: "Choose one of two; each is proven best for its purpose:"}
		for _, side := range []struct{ title, label string }{{"For throughput", rec.BestThroughput}, {"For p99", rec.BestP99}} {
			a := g.setting(side.label)
			switch {
			case a == nil:
			case a.Procs == nil:
				p.Snippets = append(p.Snippets, document.Code{Title: side.title, Note: "leave GOMAXPROCS unset"})
			default:
				p.Snippets = append(p.Snippets, document.Code{Title: side.title, Text: "GOMAXPROCS=" + strconv.Itoa(*a.Procs)})
			}
		}
		return p
	}
	return Paste{Lead: "Nothing to set yet: no value is proven better than the default."}
}

// onPart is for advice that does not hold for all of the machine's CPUs.
func (g *group) onPart() string {
	if p := g.Part; p != nil {
		return fmt.Sprintf("For %d of %s only. ", p.CPUs, number.CPUs(float64(p.Of)))
	}
	return ""
}

// likelyPaste has nothing to copy: what is not proven is not to be deployed.
func (g *group) likelyPaste() Paste {
	if rec := g.Recommendation; rec.Verdict == verdict.Recommended && rec.Procs != nil {
		return Paste{Lead: fmt.Sprintf("Nothing to set yet: it is likely, but not proven, that GOMAXPROCS=%d performs as well as the best.", *rec.Procs)}
	}
	return Paste{Lead: "Nothing to set: leave GOMAXPROCS unset until more is known."}
}

func (g *group) snippets(n int) []document.Code {
	line := "GOMAXPROCS=" + strconv.Itoa(n)
	run := "export " + line
	if c := phrase.Shell(g.r.Target.Command); c != "" && !strings.Contains(c, "{") {
		run = line + " " + c
	}
	out := []document.Code{
		{Title: "Shell", Text: run},
		{Title: "Kubernetes container", Note: "keep the quotes: without them the API server rejects the value",
			Text: fmt.Sprintf("env:\n  - name: GOMAXPROCS\n    value: \"%d\"", n)},
	}
	// resourceFieldRef rounds a limit up to whole CPUs. An absent divisor is stored
	// as "0", an endless difference in GitOps tools, so "1" is written out.
	if q := g.QuotaCPUs; q != nil && int(math.Ceil(*q)) == n {
		out = append(out, document.Code{Title: "Kubernetes container, following the limit",
			Note: fmt.Sprintf("with limits.cpu of %s this is %d; it follows an edited manifest, not an in-place resize", milli(*q), n),
			Text: "env:\n  - name: GOMAXPROCS\n    valueFrom:\n      resourceFieldRef:\n        resource: limits.cpu\n        divisor: \"1\""})
	}
	return append(out,
		document.Code{Title: "Dockerfile", Text: "ENV " + line},
		document.Code{Title: "systemd unit", Text: "[Service]\nEnvironment=" + line},
	)
}

// milli is a quota as Kubernetes writes it: "2", "500m".
func milli(q float64) string {
	if q == float64(int(q)) {
		return strconv.Itoa(int(q))
	}
	return strconv.Itoa(int(q*1000+0.5)) + "m"
}
