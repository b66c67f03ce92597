package rule

func setTwice() Rule {
	return Rule{
		ID:       "PF019",
		Title:    "GOMAXPROCS is set twice",
		Severity: Warning,
		Since:    "0.1",
		Why: `The same list of variables names GOMAXPROCS twice, and the last one counts. Of
Kubernetes kubectl apply warns of it, and a server-side apply fails.`,
		Fix:   `Remove all but the one that is meant.`,
		Check: checkTwice,
	}
}

func checkTwice(s Subject) []Finding {
	if s.Written == nil || !s.Written.Twice {
		return nil
	}
	return []Finding{{
		Message: "GOMAXPROCS stands twice in its variables, and the last one counts",
		Fix:     "remove all but the one that is meant",
	}}
}
