package plan

import (
	"slices"
	"strings"
)

// Neighbour is a program that runs beside the target in every trial, as a sidecar or
// another tenant of its machine does.
type Neighbour struct {
	Command []string // argv; {port} is that of the target's first copy
	// Quota is the CPU limit of its own group; nil: that of the setting, 0: none.
	Quota *float64
}

// NeedsGroups tells whether something of the Spec is to run under a limit of ours.
func (s Spec) NeedsGroups() bool {
	limited := slices.ContainsFunc(s.Quotas, func(q *float64) bool { return q != nil })
	b := s.Target.Beside
	return limited || b != nil && b.Quota != nil && *b.Quota > 0
}

// checkBeside looks at the neighbour.
func (s Spec) checkBeside() *FieldError {
	t := s.Target
	b := t.Beside
	if b == nil {
		return nil
	}
	hasPort := slices.ContainsFunc(b.Command, func(w string) bool { return strings.Contains(w, PortPlaceholder) })
	switch {
	case len(b.Command) == 0 || b.Command[0] == "":
		return Wrong("beside", ": want a command, as in --beside './sidecar -upstream 127.0.0.1:{port}'")
	case hasPort && !s.commandHas(PortPlaceholder):
		return Wrong("beside", ": it has {port}, but neither the target's command nor --env has: there is no such port")
	}
	return nil
}
