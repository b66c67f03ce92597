package rule

func checkDivisor(s Subject) []Finding {
	if s.Written == nil || s.Written.Resource == "" || s.Written.Divisor != "" {
		return nil
	}
	return []Finding{{
		Message: s.Written.reference() + ` has no divisor: the API server stores "0", which tools that compare it with this file show as a difference forever`,
		Fix:     `write divisor: "1", which gives the same value`,
	}}
}
