package page

import (
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

func (g *group) latencyNote() string {
	switch {
	case g.LatencyMode == "open" && g.RatePerSecond != nil:
		u := g.throughput.Short()
		return "latency phase (open loop) at " + u.Value(*g.RatePerSecond) + " for every setting, " + g.counted()
	case g.LatencyMode == "open":
		return "latency phase (open loop), " + g.counted()
	case g.LatencyMode == "closed":
		return "throughput phase (closed loop): not judged, because it mirrors throughput"
	}
	return ""
}

func (g *group) throughputNote() string {
	l := g.r.Load
	switch {
	case g.r.Target.Kind != "server":
		return "whole runs"
	case l.Command != "":
		return "as the load command printed it"
	case g.r.Target.Attached != nil:
		return "the part of the rate that it answered, " + phrase.Count(l.Connections, "connection")
	case g.r.Plan.SLO != nil:
		return "the highest rate within it, of those that a trial tried at a fixed rate (open loop); " + phrase.Count(l.Connections, "connection")
	}
	return "throughput phase (closed loop), " + phrase.Count(l.Connections, "connection")
}

// counted is what the open loop's latency counts from, and how its requests came.
func (g *group) counted() string {
	switch {
	case g.r.Load.Command != "":
		return "as measured by the load command"
	case g.r.Load.Pace != "":
		return "randomly spaced (" + g.r.Load.Pace + "), from the intended send time"
	}
	return "evenly spaced, from the intended send time"
}

func (g *group) loadShape() string {
	l, t := g.r.Load, g.r.Target
	switch {
	case t.Kind != "server":
		return "the program's own run"
	case l.Command != "":
		return l.Command
	}
	s := phrase.Count(l.Connections, "connection") + ", " + method(l)
	if t.URL != "" {
		s += " " + t.URL
	}
	if l.BodyBytes > 0 {
		s += " with a body of " + strconv.Itoa(l.BodyBytes) + " bytes"
	}
	return s
}

// method is that of the requests. A journal of the first version has it only where the
// user named one: without, a body made it POST.
func method(l journal.Load) string {
	switch {
	case l.Method != "":
		return l.Method
	case l.BodyBytes > 0:
		return "POST"
	}
	return "GET"
}

// headerNames leaves the values out: they may be credentials, and a report is
// passed around.
func headerNames(headers []string) []string {
	out := make([]string, len(headers))
	for i, h := range headers {
		out[i], _, _ = strings.Cut(h, ":")
	}
	return out
}
