package rule

import "fmt"

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
