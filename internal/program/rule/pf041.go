package rule

func unusedIgnore() Rule {
	return Rule{
		ID:       "PF041",
		Title:    "an ignore that ignores nothing",
		Severity: Warning,
		Since:    "0.1",
		By:       "check",
		Why: `The rule that it names does not fire at its line or container any more, or is no
rule. It would hide the next finding of that rule, whose reason may be another.`,
		Fix: `Remove the ignore, or the rule from its list.`,
	}
}
