package rule

func noDivisor() Rule {
	return Rule{
		ID:       "PF015",
		Title:    "a resourceFieldRef without a divisor",
		Severity: Info,
		Since:    "0.1",
		Why: `The API server stores a divisor that is not written as "0". The value is the same
as with "1", but what is in the cluster then differs from what is in the file, and a
tool that compares the two, Argo CD for one, shows a difference that never goes away.`,
		Fix:   `Write divisor: "1".`,
		Check: checkDivisor,
	}
}

func checkDivisor(s Subject) []Finding {
	if s.Written == nil || s.Written.Resource == "" || s.Written.Divisor != "" {
		return nil
	}
	return []Finding{{
		Message: s.Written.reference() + ` has no divisor: the API server stores "0", which tools that compare it with this file show as a difference forever`,
		Fix:     `write divisor: "1", which gives the same value`,
	}}
}
