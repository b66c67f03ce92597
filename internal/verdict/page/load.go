package page

import "github.com/procfit/procfit/internal/show/phrase"

func (g *group) latencyNote() string {
	switch {
	case g.LatencyMode == "open" && g.RatePerSecond != nil:
		u := g.unit().Short()
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
