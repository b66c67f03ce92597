package rule

func ignoreWithoutReason() Rule {
	return Rule{
		ID:       "PF040",
		Title:    "an ignore without a reason",
		Severity: Warning,
		Since:    "0.1",
		By:       "check",
		Why: `A finding that is ignored has been decided by somebody: the value is measured, the
program is not ours. Without the reason nobody can tell later whether it still holds,
so an ignore counts only with one, and only for rules that it names.`,
		Fix: `Write the rule and the reason: procfit:ignore PF004 the value is measured.`,
	}
}
