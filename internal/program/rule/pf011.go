package rule

func checkThrottledTooMany(s Subject) []Finding {
	t, severity, throttled := s.throttled()
	tooMany := checkTooMany(s)
	if !throttled || len(tooMany) == 0 {
		return nil
	}
	n, _ := s.Procs()
	return []Finding{{
		Severity: severity,
		Message:  s.throttledBy(t) + ", and " + s.runs(n),
		Fix:      tooMany[0].Fix,
	}}
}
