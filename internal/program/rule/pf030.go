package rule

func askedTooEarly() Rule {
	return Rule{
		ID:       "PF030",
		Title:    "GOMAXPROCS read before main",
		Severity: Info,
		Since:    "0.1",
		By:       "source",
		Why: `A package variable initialised with runtime.GOMAXPROCS(0) gets its value before main
runs: before flags are read, before main sets anything, and, by the order of imports,
before or after a package that sets GOMAXPROCS when it is imported. Nor does it follow
a limit that changes, as the runtime does from Go 1.25 on.`,
		Fix: `Ask where the value is used.`,
	}
}
