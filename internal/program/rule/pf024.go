package rule

func constantInCode() Rule {
	return Rule{
		ID:       "PF024",
		Title:    "a number for GOMAXPROCS in the source",
		Severity: Warning,
		Since:    "0.1",
		By:       "source",
		Why: `A number in the source is right for one machine and one limit. It counts on all
others too, it overrides GOMAXPROCS in the environment, unless the code asks for that
first, and the call ends the updates of a runtime that follows its limit. Whoever runs
the program does not see it. As the default of a flag it is an info: then at least
it can be seen, and another be given.`,
		Fix: `Remove the call. Where the number is measured, set it in the environment, beside the
limit that it was measured under.`,
	}
}
