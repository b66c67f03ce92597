package ps

import (
	"fmt"
	"slices"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Unread says of how many processes nothing or not all is known, and why, in a
// line for each reason.
func Unread(snap observe.Snapshot) []string {
	why := map[string][]string{}
	for _, u := range snap.Unreadable {
		why[u.Summary()] = append(why[u.Summary()], fmt.Sprintf("%d (%s)", u.PID, phrase.Clean(u.Name)))
	}
	var lines []string
	for reason, who := range why {
		lines = append(lines, fmt.Sprintf("%d not readable, Go or not: %s: %s", len(who), phrase.Clean(reason), named(who)))
	}
	slices.Sort(lines)
	inferred, reason := 0, ""
	for _, p := range snap.Processes {
		if p.Live == nil {
			inferred++
			reason = p.LiveUnknown
		}
	}
	if inferred > 0 {
		lines = append(lines, fmt.Sprintf("%d not read but inferred; for one: %s", inferred, phrase.Clean(reason)))
	}
	return lines
}

// Denied tells that more permissions would let more be read.
func Denied(snap observe.Snapshot) bool {
	return slices.ContainsFunc(snap.Unreadable, func(u observe.Unreadable) bool { return u.Cause.Permission() }) ||
		slices.ContainsFunc(snap.Processes, func(p observe.Process) bool { return p.LiveCause.Permission() })
}
