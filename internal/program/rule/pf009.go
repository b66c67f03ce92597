package rule

import "fmt"

func unreadLimits() Rule {
	return Rule{
		ID:       "PF009",
		Title:    "limits that could not be read",
		Severity: Info,
		Since:    "0.1",
		Why: `A limit that is unreadable or malformed is not the same as none. What procfit says
of the program then holds only for what could be read, and its number may be too
high. The runtime itself takes such a limit for none.`,
		Fix:   `Look with more permissions (the same user, root, CAP_SYS_PTRACE), or at the file that the message names.`,
		Check: checkUnread,
	}
}

func checkUnread(s Subject) []Finding {
	unknown := s.Facts.Unknown()
	if !s.seesMachine() && s.Facts.Affinity.State == "" || len(unknown) == 0 {
		return nil // no machine was looked at, or all of it was read
	}
	fix := "look again as root, or at the file that is named"
	if s.Facts.EffectiveCPUs() > 0 {
		fix += fmt.Sprintf("; until then %d is an upper bound", s.Fit.Procs)
	}
	var all []Finding
	for _, what := range unknown {
		all = append(all, Finding{Message: what, Fix: fix})
	}
	return all
}
