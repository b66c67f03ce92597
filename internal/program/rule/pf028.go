package rule

func envAsNumber() Rule {
	return Rule{
		ID:       "PF028",
		Title:    "the variable read where the runtime should be asked",
		Severity: Info,
		Since:    "0.1",
		By:       "source",
		Why: `GOMAXPROCS in the environment is only one of several sources of the value: a limit, a
call and the machine's CPUs are others, and a value that the runtime does not understand
does not count. Code that sizes something by the variable may have another number than
the program runs with, and none where it is not set.`,
		Fix: `Ask runtime.GOMAXPROCS(0), which is the value in force.`,
	}
}
