package page

import (
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// originWords say where figures come from. What a model says is never shown without
// them.
func originWords(o journal.Origin) string {
	switch o {
	case journal.OriginLocal:
		return "measured here"
	case journal.OriginKube:
		return "measured in Kubernetes"
	case journal.OriginSim:
		return "simulated, not measured"
	case verdict.OriginMixed:
		return "in part measured, in part not in the same way"
	case "":
		return ""
	}
	return "from " + string(o)
}

// made is how the group's figures came to be, for the middle of a sentence.
func (g *group) made() string {
	switch g.Origin {
	case journal.OriginKube:
		return "measured in Kubernetes"
	case journal.OriginSim:
		return "simulated"
	}
	return "measured"
}

// titled is a figure's title with where it comes from, unless that is this machine.
func titled(title string, o journal.Origin) string {
	switch o {
	case journal.OriginLocal, "":
		return title
	case journal.OriginSim:
		return title + ", simulated"
	}
	return title + ", " + originWords(o)
}

// noted is a figure's note with where it comes from.
func noted(note string, o journal.Origin) string {
	switch of := originWords(o); {
	case of == "" || o != journal.OriginLocal: // then the title says it
		return note
	case note == "":
		return of
	default:
		return of + ", " + note
	}
}
