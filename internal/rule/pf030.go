package rule

func askedTooEarly() Rule {
	return Rule{
		ID:       "PF030",
		Title:    "GOMAXPROCS asked before main",
		Severity: Info,
		Since:    "0.1",
		By:       "source",
		Why: `A variable of a package that takes runtime.GOMAXPROCS(0) has its value before main
runs: before flags are read, before whatever main sets, and before or after a package
that sets GOMAXPROCS when it is imported, by the order of the imports. Nor does it
follow a limit that changes, as the runtime does from Go 1.25 on.`,
		Fix: `Ask where it is used, or when what it sizes is made.`,
	}
}
