package rule

func checkTwice(s Subject) []Finding {
	if s.Written == nil || !s.Written.Twice {
		return nil
	}
	return []Finding{{
		Message: "GOMAXPROCS stands twice in its variables, and the last one counts",
		Fix:     "remove all but the one that is meant",
	}}
}
